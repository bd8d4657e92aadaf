package deployment

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

var key = client.ObjectKey{Namespace: "ns", Name: "fleet"}

// newCluster is one with a fleet in it that founds a chain.
func newCluster(t *testing.T) *controllertest.Cluster {
	t.Helper()
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "fleet", UID: "uid", Generation: 1, Finalizers: []string{v1alpha1.FinalizerSeiNodeDeployment},
	}}
	fleet.Spec.Replicas = 1
	fleet.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "new-1", StakingAmount: "1000usei", AccountBalance: "2000usei"}
	fleet.Spec.Template.Spec = v1alpha1.SeiNodeSpec{ChainID: "new-1", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	return controllertest.New(t, fleet, func(b *fake.ClientBuilder) {
		b.WithIndex(&v1alpha1.SeiNode{}, indexFleet, fleetNameOf).
			WithIndex(&v1alpha1.SeiNodeTask{}, operation.TargetIndex, func(o client.Object) []string {
				return []string{operation.TargetKey(&o.(*v1alpha1.SeiNodeTask).Spec)}
			})
	})
}

func stored(t *testing.T, c *controllertest.Cluster) *v1alpha1.SeiNodeDeployment {
	t.Helper()
	return controllertest.Stored(t, c, key, &v1alpha1.SeiNodeDeployment{})
}

// operator is an operator that has just started, without the Gateway API.
func operator(t *testing.T, c *controllertest.Cluster) *Reconciler {
	t.Helper()
	r := &Reconciler{Base: loop.Base{
		Client: c, Live: c.Client, Platform: controllertest.Platform(), Metrics: c.Metrics(t), Clock: c.Clock, Events: controllertest.Events(),
	}}
	r.init()
	r.routes = &routeWatch{mapper: meta.NewDefaultRESTMapper(nil)}
	return r
}

// A6: of two reconciles of a fleet in close succession one makes the plan. The other, on a cache
// that does not show it yet, sees that by what it remembers or by the lock of its write; with blind
// server-side apply there would be two plans.
func TestA6_FleetsSecondReconcileOnALateCache_LeavesThePlanAlone(t *testing.T) {
	for name, another := range map[string]bool{"the same operator": false, "another operator": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r, before := operator(t, c), stored(t, c)
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			first, writes := stored(t, c), c.StatusWrites
			if first.Status.Plan == nil || writes == 0 {
				t.Fatalf("no plan was made: %+v", first.Status)
			}
			if another {
				r = operator(t, c)
			}
			c.Late = before
			c.Clock.SetTime(c.Clock.Now().Add(time.Minute)) // another plan would have another time
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			if err != nil || result.RequeueAfter != loop.StaleInterval || c.StatusWrites != writes {
				t.Errorf("the second reconcile ends with %+v, %v and %d writes", result, err, c.StatusWrites-writes)
			}
			if got := stored(t, c); got.Status.Plan == nil || got.Status.Plan.ID != first.Status.Plan.ID || got.ResourceVersion != first.ResourceVersion {
				t.Errorf("plan %+v, want %s", got.Status.Plan, first.Status.Plan.ID)
			}
		})
	}
}

// N17: the API server's storage was restored from a backup, so that its versions go back. For two
// seconds that may be a late cache; then the API server is asked, and what it has is right.
func TestN17_RestoredStorage_IsBelievedInTheEnd(t *testing.T) {
	c := newCluster(t)
	r := operator(t, c)
	began := c.Clock.Now()
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	if c.StatusWrites == 0 {
		t.Fatal("nothing was written")
	}
	// Restored, the API server has the object as it was before our write, and so has the cache.
	c.Client = newCluster(t).Client
	r.Cache.Live = c.Client
	for _, passed := range []struct {
		after time.Duration
		late  bool
	}{{0, true}, {10*time.Second - 1, true}, {10 * time.Second, false}} {
		c.Clock.SetTime(began.Add(passed.after))
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if late := result.RequeueAfter == loop.StaleInterval; err != nil || late != passed.late {
			t.Fatalf("after %s the cache counts as late: %t, %v", passed.after, late, err)
		}
	}
	if restored := stored(t, c); restored.Status.ObservedGeneration != restored.Generation {
		t.Errorf("the restored object was not taken up: %+v", restored.Status)
	}
}

// N15: a watch that is late by a minute does not make a fleet act on a node as it was before the
// fleet's own write; once the API server has lost that write too, it does.
func TestN15_NodeOnACacheThatIsLateForLong_IsNotActedOn(t *testing.T) {
	c := newCluster(t)
	r, began := operator(t, c), c.Clock.Now()
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	before := controllertest.Stored(t, c, client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-0"}, &v1alpha1.SeiNode{})
	after := before.DeepCopy()
	after.Labels["written"] = "later"
	if err := c.Update(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	r.Writes.Wrote(after)
	c.Late = before
	for _, seconds := range []int{0, 9, 11, 60} {
		c.Clock.SetTime(began.Add(time.Duration(seconds) * time.Second))
		if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter != loop.StaleInterval {
			t.Errorf("after %d s the reconcile ends with %+v, %v, want a later look", seconds, result, err)
		}
	}
	restored := newCluster(t).Client
	r.Writes.Live = restored
	c.Clock.SetTime(began.Add(2 * time.Minute))
	if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter == loop.StaleInterval {
		t.Errorf("after the write was lost the reconcile ends with %+v, %v", result, err)
	}
}
