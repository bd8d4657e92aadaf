package node

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

var key = client.ObjectKey{Namespace: "ns", Name: "n"}

// cluster is one with a node in it.
type cluster struct{ *controllertest.Cluster }

func newCluster(t *testing.T, node *v1alpha1.SeiNode) cluster {
	t.Helper()
	return cluster{controllertest.New(t, node, tasksByTarget)}
}

// tasksByTarget is the index of the SeiNodeTask controller.
func tasksByTarget(b *fake.ClientBuilder) {
	b.WithIndex(&v1alpha1.SeiNodeTask{}, operation.TargetIndex, func(o client.Object) []string {
		return []string{operation.TargetKey(&o.(*v1alpha1.SeiNodeTask).Spec)}
	})
}

// stored is the node as the API server has it.
func (c cluster) stored(t *testing.T) *v1alpha1.SeiNode {
	t.Helper()
	return controllertest.Stored(t, c.Cluster, key, &v1alpha1.SeiNode{})
}

// operator is an operator that has just started.
func (c cluster) operator(t *testing.T) *Reconciler {
	t.Helper()
	authority := &certificates.Authority{Secrets: c.Client, Namespace: "sei-operator", Clock: c.Clock}
	r := &Reconciler{Peers: &peers.Resolver{Nodes: c.Client}, Secrets: c, Certificates: authority, Base: loop.Base{
		Client: c, Live: c.Client, Platform: controllertest.Platform(), Metrics: c.Metrics(t), Clock: c.Clock, Events: controllertest.Events(),
	}}
	r.init()
	return r
}

func (c cluster) reconcile(t *testing.T, r *Reconciler) (ctrl.Result, error) {
	t.Helper()
	return r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
}

func newFullNode() *v1alpha1.SeiNode {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "n", UID: "uid", Generation: 1, Finalizers: []string{v1alpha1.FinalizerSeiNode},
	}}
	node.Spec = v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}, Paused: true}
	return node
}

// unpaused makes the node's first plan due. Paused before, it has a status already.
func (c cluster) unpaused(t *testing.T) *v1alpha1.SeiNode {
	t.Helper()
	node := c.stored(t)
	node.Spec.Paused, node.Generation = false, 2
	if err := c.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return c.stored(t)
}

// A6: of two reconciles in close succession, the second on a cache that does not show the first
// one's write, one makes the plan and the other sees that and does nothing.
func TestA6_SecondReconcileOnALateCache_LeavesThePlanAlone(t *testing.T) {
	c := newCluster(t, newFullNode())
	r := c.operator(t)
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	before := c.unpaused(t)
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	first, writes := c.stored(t), c.StatusWrites
	if first.Status.Plan == nil {
		t.Fatalf("no plan was made: %+v", first.Status)
	}
	c.Late = before
	result, err := c.reconcile(t, r)
	if err != nil || result.RequeueAfter != loop.StaleInterval || c.StatusWrites != writes {
		t.Errorf("the second reconcile ends with %+v, %v and %d writes, want a later look", result, err, c.StatusWrites-writes)
	}
	if got := c.stored(t).Status.Plan; got == nil || got.ID != first.Status.Plan.ID {
		t.Errorf("plan %+v, want the first one, %s", got, first.Status.Plan.ID)
	}
}

// A6: the same with an operator that has forgotten what was written, as after a change of leader.
// The lock of the write protects the plan; with blind server-side apply there would be another.
func TestA6_AnotherOperatorOnALateCache_LosesTheRaceQuietly(t *testing.T) {
	c := newCluster(t, newFullNode())
	r := c.operator(t)
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	before := c.unpaused(t)
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	first, writes := c.stored(t), c.StatusWrites
	c.Late = before
	c.Clock.SetTime(controllertest.At.Add(time.Minute)) // another plan would have another time
	result, err := c.reconcile(t, c.operator(t))
	if err != nil || result.RequeueAfter != loop.StaleInterval || c.StatusWrites != writes {
		t.Errorf("the loser ends with %+v, %v and %d writes", result, err, c.StatusWrites-writes)
	}
	if got := c.stored(t); got.ResourceVersion != first.ResourceVersion || got.Status.Plan == nil || got.Status.Plan.ID != first.Status.Plan.ID {
		t.Errorf("plan %+v, want the first one, %s", got.Status.Plan, first.Status.Plan.ID)
	}
}

// N14: a read that fails in the moment of an edit does not count the edit as seen.
func TestN14_ReadFailsWhileAFailedNodeIsEdited_TheEditIsTakenUpLater(t *testing.T) {
	node := newFullNode()
	node.Spec.Paused, node.Generation = false, 2
	node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeFailed, ObservedGeneration: 1, LastPlan: &v1alpha1.PlanSummary{
		ID: "old", Reason: "NewNode", Outcome: v1alpha1.OutcomeFailed, FailedTask: "config-apply", Target: &v1alpha1.PlanTarget{Generation: 1},
	}}
	c := newCluster(t, node)
	if err := c.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	r := c.operator(t)
	reset := errors.New("the connection was reset")
	c.OnGet = func(obj client.Object) error {
		if _, ok := obj.(*appsv1.StatefulSet); ok {
			return reset
		}
		return nil
	}
	if _, err := c.reconcile(t, r); !errors.Is(err, reset) {
		t.Fatalf("the failure is not retried: %v", err)
	}
	if got := c.stored(t).Status; got.ObservedGeneration != 1 || got.Phase != v1alpha1.NodeFailed {
		t.Errorf("generation %d was observed, phase %s", got.ObservedGeneration, got.Phase)
	}
	c.OnGet = nil
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if got := c.stored(t).Status; got.ObservedGeneration != 2 || got.Plan == nil || got.Plan.Reason != "RetryAfterFailure" {
		t.Errorf("generation %d, plan %+v", got.ObservedGeneration, got.Plan)
	}
}

// N17: the API server's storage was restored from a backup, so that its versions go back. For two
// seconds that may be a late cache; then the API server is asked, and what it has is right.
func TestN17_RestoredStorage_IsBelievedInTheEnd(t *testing.T) {
	c := newCluster(t, newFullNode())
	r := c.operator(t)
	began := c.Clock.Now()
	if _, err := c.reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if c.StatusWrites == 0 {
		t.Fatal("nothing was written")
	}
	// Restored, the API server has the object as it was before our write, and so has the cache.
	c.Client = newCluster(t, newFullNode()).Client
	r.Cache.Live = c.Client
	for _, passed := range []struct {
		after time.Duration
		late  bool
	}{{0, true}, {10*time.Second - 1, true}, {10 * time.Second, false}} {
		c.Clock.SetTime(began.Add(passed.after))
		result, err := c.reconcile(t, r)
		if late := result.RequeueAfter == loop.StaleInterval; err != nil || late != passed.late {
			t.Fatalf("after %s the cache counts as late: %t, %v", passed.after, late, err)
		}
	}
	if restored := c.stored(t); restored.Status.ObservedGeneration != restored.Generation {
		t.Errorf("the restored object was not taken up: %+v", restored.Status)
	}
}
