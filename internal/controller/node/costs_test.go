package node

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// settle makes reconciles until the node is in sync on its spec. Whatever Kubernetes and the sidecar
// do takes them half a second, so every step that waits for one of them outlives a pass.
func (c *slowCluster) settle(t *testing.T) {
	t.Helper()
	clear(c.writes)
	c.StatusWrites = 0
	for range 50 {
		if _, err := c.reconcile(t, c.r); err != nil {
			t.Fatal(err)
		}
		node := c.stored(t)
		if conditions.Is(node.Status.Conditions, v1alpha1.ConditionReady, "True", v1alpha1.ReasonInSync) && node.Status.Plan == nil {
			c.countRest()
			return
		}
		c.Clock.SetTime(c.Clock.Now().Add(500 * time.Millisecond))
		c.moveOn(t)
	}
	t.Fatalf("the node does not come up: %+v", c.stored(t).Status)
}

func total(writes map[string]int) (all int) {
	for n := range maps.Values(writes) {
		all += n
	}
	return all
}

// A new node costs nine writes and an image change seven, also when no step ends in the pass that
// began it.
func TestWrites_StepsThatOutliveAPass_CostNineAndSeven(t *testing.T) {
	c := newSlowCluster(t)
	c.settle(t)
	if diff := cmp.Diff(map[string]int{
		"patch SeiNode": 1, "apply NetworkPolicy": 1, "apply PersistentVolumeClaim": 1, "apply StatefulSet": 1, "apply Service": 1, "create Secret": 1,
		"patch status": 2, "create event": 1,
	}, c.writes); diff != "" || total(c.writes) != 9 {
		t.Errorf("a new node costs %d writes (-want +got):\n%s", total(c.writes), diff)
	}
	c.setImage(t, "seid:b")
	c.settle(t)
	if diff := cmp.Diff(map[string]int{"apply StatefulSet": 1, "delete Pod": 1, "patch status": 3, "create event": 2}, c.writes); diff != "" || total(c.writes) != 7 {
		t.Errorf("an image change costs %d writes (-want +got):\n%s", total(c.writes), diff)
	}
	if image := c.stored(t).Status.CurrentImage; image != "seid:b" {
		t.Errorf("the node runs %s", image)
	}
}

// runTo makes reconciles, half a second apart, until the sidecar has the task of a step.
func (c *slowCluster) runTo(t *testing.T, step string) {
	t.Helper()
	for range 50 {
		if _, err := c.reconcile(t, c.r); err != nil {
			t.Fatal(err)
		}
		if c.sidecar.submitted(step) > 0 {
			return
		}
		c.Clock.SetTime(c.Clock.Now().Add(500 * time.Millisecond))
		c.moveOn(t)
	}
	t.Fatalf("the plan does not come to %s: %+v", step, c.stored(t).Status.Plan)
}

// What was put off dies with the process. The next operator finds what the steps have done, and
// hands no task over twice.
func TestUnwritten_OperatorDies_ItsStepsAreFoundDone(t *testing.T) {
	c := newSlowCluster(t)
	c.runTo(t, domain.StepConfigValidate)
	if at, _ := plan.Current(c.stored(t).Status.Plan); at.Type != domain.StepEnsureDataPVC {
		t.Fatalf("stored is %s: nothing was put off", at.Type)
	}
	c.startOperator(t)
	c.settle(t)
	for _, step := range []string{domain.StepConfigureGenesis, domain.StepConfigApply, domain.StepConfigValidate, domain.StepMarkReady} {
		if n := c.sidecar.submitted(step); n != 1 {
			t.Errorf("%s was handed over %d times", step, n)
		}
	}
}

// An edit of the spec leaves the status as it is, and with it what was put off.
func TestUnwritten_SpecIsEdited_ThePlanStaysWhereItIs(t *testing.T) {
	c := newSlowCluster(t)
	c.runTo(t, domain.StepConfigValidate)
	asked := c.sidecar.asked(domain.StepConfigApply)
	node := c.stored(t)
	node.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenDeleted: v1alpha1.VolumeRetain}}
	node.Generation++
	if err := c.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if _, err := c.reconcile(t, c.r); err != nil {
		t.Fatal(err)
	}
	if again := c.sidecar.asked(domain.StepConfigApply); again != asked {
		t.Error("a step that was done is looked up again")
	}
	after := c.stored(t)
	if after.Status.ObservedGeneration != after.Generation || after.Status.Plan == nil || after.Status.Plan.ID != node.Status.Plan.ID {
		t.Errorf("generation %d was observed, with plan %+v", after.Status.ObservedGeneration, after.Status.Plan)
	}
}

// A step that takes long is shown: a plan that got further is written after ten seconds.
func TestUnwritten_StepThatLasts_IsWritten(t *testing.T) {
	c := newSlowCluster(t)
	began := c.Clock.Now() // since then all that follows the plan is put off
	c.runTo(t, domain.StepConfigureGenesis)
	c.sidecar.stuck = true
	for _, passed := range []struct {
		after time.Duration
		at    string
	}{
		{writtenAfter - time.Second, domain.StepEnsureDataPVC},
		{writtenAfter, domain.StepConfigureGenesis},
	} {
		c.Clock.SetTime(began.Add(passed.after))
		result, err := c.reconcile(t, c.r)
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := plan.Current(c.stored(t).Status.Plan); at.Type != passed.at {
			t.Errorf("after %s the plan is at %s, want %s", passed.after, at.Type, passed.at)
		}
		if passed.after < writtenAfter && result.RequeueAfter > writtenAfter-passed.after {
			t.Errorf("after %s it comes back in %s", passed.after, result.RequeueAfter)
		}
	}
}

// How to reach a node is written at once if other nodes find it by its labels.
func TestUnwritten_NodeThatOthersPeerWith_TellsItsIDAtOnce(t *testing.T) {
	for _, peered := range []bool{false, true} {
		c := newSlowCluster(t)
		other := newFullNode()
		other.Name, other.UID = "other", "other"
		if peered {
			other.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"chain": "x"}}}}
		}
		if err := c.Create(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		c.runTo(t, domain.StepConfigValidate)
		if told := c.stored(t).Status.NodeID != ""; told != peered {
			t.Errorf("peered %t: the id is told: %t", peered, told)
		}
	}
}

// A node that is orphaned before anything was written of its StatefulSet is released all the same: the
// garbage collector has taken the owner off already, and only the identity tells that it was ours.
func TestUnwritten_NodeIsOrphaned_ItsStatefulSetIsKnown(t *testing.T) {
	c := newSlowCluster(t)
	c.runTo(t, domain.StepConfigureGenesis)
	node, sts := c.stored(t), &appsv1.StatefulSet{}
	if node.Status.StatefulSet != nil {
		t.Fatal("the StatefulSet was written: nothing was put off")
	}
	if err := c.Client.Get(t.Context(), key, sts); err != nil {
		t.Fatal(err)
	}
	sts.UID, sts.OwnerReferences = c.r.unwritten.byNode[key].status.StatefulSet.UID, nil
	if err := c.Update(t.Context(), sts); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if _, err := c.reconcile(t, c.r); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Get(t.Context(), key, node); !apierrors.IsNotFound(err) {
		t.Errorf("the node is still there: %v, %v", node.Finalizers, err)
	}
	if err := c.Client.Get(t.Context(), key, sts); err != nil {
		t.Errorf("its StatefulSet: %v", err)
	}
}

// An operator that renders another template takes over in the middle of an update, before it was
// written down how far that got: the template that the plan has applied stays, and the pod is replaced
// once.
func TestUnwritten_AnotherOperatorInAnUpdate_KeepsTheTemplateOfThePlan(t *testing.T) {
	c := newSlowCluster(t)
	c.settle(t)
	c.setImage(t, "seid:b")
	clear(c.writes)
	for c.writes["apply StatefulSet"] == 0 {
		if _, err := c.reconcile(t, c.r); err != nil {
			t.Fatal(err)
		}
	}
	if at, _ := plan.Current(c.stored(t).Status.Plan); at.Type != domain.StepApplyStatefulSet {
		t.Fatalf("stored is %s: nothing was put off", at.Type)
	}
	applied := c.templateHash(t)
	c.startOperator(t)
	c.r.Platform.Images.Sidecar = "sidecar:other"
	c.settle(t)
	if now := c.templateHash(t); now != applied {
		t.Errorf("the template is %s, want %s, which the plan has applied", now, applied)
	}
	if n := c.writes["delete Pod"]; n != 1 {
		t.Errorf("the pod was replaced %d times", n)
	}
}

func (c *slowCluster) templateHash(t *testing.T) string {
	t.Helper()
	sts := &appsv1.StatefulSet{}
	if err := c.Client.Get(t.Context(), key, sts); err != nil {
		t.Fatal(err)
	}
	return render.TemplateHash(sts.Spec.Template.Annotations)
}

// A node that does not get in sync shows that its plan has completed after a while.
func TestUnwritten_NodeThatIsNotInSync_TheEndOfItsPlanIsWritten(t *testing.T) {
	c := newSlowCluster(t)
	c.runTo(t, domain.StepMarkReady)
	c.Clock.SetTime(c.Clock.Now().Add(500 * time.Millisecond)) // mark-ready is done, and the pod does not get ready
	for range 3 {
		if _, err := c.reconcile(t, c.r); err != nil {
			t.Fatal(err)
		}
	}
	if node := c.stored(t); node.Status.Plan == nil {
		t.Fatal("the end of the plan was not put off")
	}
	c.Clock.SetTime(c.Clock.Now().Add(endWrittenAfter))
	if _, err := c.reconcile(t, c.r); err != nil {
		t.Fatal(err)
	}
	if node := c.stored(t); node.Status.Plan != nil || node.Status.Phase != v1alpha1.NodeRunning || node.Status.InitializedAt == nil {
		t.Errorf("phase %s, plan %+v, want Running without a plan", node.Status.Phase, node.Status.Plan)
	}
}
