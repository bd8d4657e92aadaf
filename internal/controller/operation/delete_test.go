package operation

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// deleting is a reconciler over a cluster with one task in it.
func deleting(t *testing.T) (*Reconciler, *controllertest.Cluster, *v1alpha1.SeiNodeTask) {
	t.Helper()
	task := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t", UID: "uid"}}
	c := controllertest.New(t, task)
	r := &Reconciler{Base: loop.Base{
		Client: c, Live: c.Client, Platform: controllertest.Platform(), Metrics: c.Metrics(t), Clock: c.Clock, Events: controllertest.Events(),
	}}
	r.init()
	return r, c, controllertest.Stored(t, c, client.ObjectKeyFromObject(task), &v1alpha1.SeiNodeTask{})
}

// A child that has not begun is withdrawn as it was seen: one that has begun since, or another one of
// its name, stays.
func TestWithdraw_ChildThatHasMovedOn_Stays(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.SeiNodeTask){
		"as it was seen":      nil,
		"it has begun since":  func(seen *v1alpha1.SeiNodeTask) { seen.ResourceVersion = "1" },
		"another of its name": func(seen *v1alpha1.SeiNodeTask) { seen.UID = "earlier" },
	} {
		r, c, child := deleting(t)
		seen := child.DeepCopy()
		if change != nil {
			change(seen)
		}
		s := &scope{}
		s.Observed.Group = &domain.Group{Children: map[string]*v1alpha1.SeiNodeTask{"n": seen}}
		s.Decision.Nodes = []string{"n"}
		err := r.withdraw(t.Context(), s)
		if (err == nil) != (change == nil) {
			t.Errorf("%s: %v, want no error: %t", name, err, change == nil)
		}
		err = c.Client.Get(t.Context(), client.ObjectKeyFromObject(child), &v1alpha1.SeiNodeTask{})
		if apierrors.IsNotFound(err) != (change == nil) {
			t.Errorf("%s: the child: %v", name, err)
		}
	}
}

// A task whose time has come is removed, and none that took its name since.
func TestAfterEnd_TaskIsRemovedByItsUID(t *testing.T) {
	for name, replaced := range map[string]bool{"as it was seen": false, "another of its name": true} {
		r, c, task := deleting(t)
		if replaced {
			task.UID = "earlier"
		}
		ended := metav1.NewTime(c.Clock.Now().Add(-time.Hour))
		task.Spec.TTLSecondsAfterFinished = new(int32(60))
		task.Status.Phase, task.Status.CompletedAt = v1alpha1.NodeTaskComplete, &ended
		s := r.newScope(task)
		if err := r.afterEnd(t.Context(), s); (err == nil) == replaced {
			t.Errorf("%s: %v, want an error: %t", name, err, replaced)
		}
		err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(task), &v1alpha1.SeiNodeTask{})
		if apierrors.IsNotFound(err) == replaced {
			t.Errorf("%s: the task: %v", name, err)
		}
	}
}

// cancelled notes which tasks a sidecar is to forget.
type cancelled struct {
	sidecar.Sidecar
	ids []string
}

func (c *cancelled) Delete(_ context.Context, id string) error {
	c.ids = append(c.ids, id)
	return sidecar.ErrNotFound
}

// What is complete is left alone, and a deletion of data is not stopped half-way.
func TestCancelSteps_NotTheDeletionOfData(t *testing.T) {
	to := &cancelled{}
	err := cancelSteps(t.Context(), to, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{
		{Type: domain.StepHoldGate, ID: "hold", Status: v1alpha1.TaskComplete}, {Type: domain.StepStopSeid, ID: "stop", Status: v1alpha1.TaskRunning},
		{Type: domain.StepResetData, ID: "reset", Status: v1alpha1.TaskRunning}, {Type: domain.StepMarkReady, ID: "open", Status: v1alpha1.TaskPending},
	}})
	if err != nil || !slices.Equal(to.ids, []string{"stop", "open"}) {
		t.Errorf("cancelled %q, %v", to.ids, err)
	}
}
