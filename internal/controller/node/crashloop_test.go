package node

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
)

// crashed is a seid that runs, and has crashed twice before, each time after a second.
func (c *slowCluster) crashed(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-0"}, pod); err != nil {
		t.Fatal(err)
	}
	now := c.Clock.Now().Truncate(time.Second)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: render.ContainerSeid, RestartCount: 2,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, StartedAt: metav1.NewTime(now.Add(-2 * time.Second)), FinishedAt: metav1.NewTime(now.Add(-time.Second)),
		}},
	}}
	if err := c.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// A crash loop ends by time alone: the node is looked at again in that moment, and is written when
// it begins and when it ends.
func TestCrashLoop_ContainerRunsOn_EndsByTimeAlone(t *testing.T) {
	c := newSlowCluster(t)
	c.settle(t)
	c.crashed(t)
	began := c.Clock.Now().Truncate(time.Second)
	c.StatusWrites = 0
	for _, passed := range []struct {
		after  time.Duration
		ready  metav1.ConditionStatus
		reason string
		writes int
	}{
		{time.Second, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping, 1},
		{5 * time.Second, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping, 1},
		{10*time.Second - 1, metav1.ConditionFalse, v1alpha1.ReasonPodCrashLooping, 1},
		{10 * time.Second, metav1.ConditionTrue, v1alpha1.ReasonInSync, 2},
		{11 * time.Second, metav1.ConditionTrue, v1alpha1.ReasonInSync, 2},
	} {
		c.Clock.SetTime(began.Add(passed.after))
		result, err := c.reconcile(t, c.r)
		if err != nil {
			t.Fatal(err)
		}
		if passed.ready == metav1.ConditionFalse && result.RequeueAfter > 10*time.Second-passed.after {
			t.Errorf("after %s the node is looked at again in %s", passed.after, result.RequeueAfter)
		}
		status := c.stored(t).Status
		if !conditions.Is(status.Conditions, v1alpha1.ConditionReady, passed.ready, passed.reason) ||
			!conditions.Is(status.Conditions, v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync) || c.StatusWrites != passed.writes {
			t.Errorf("after %s and %d writes: %+v", passed.after, c.StatusWrites, status.Conditions)
		}
	}
}
