package deployment

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8sevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// cluster is an API server with a cache before it that can be late.
type cluster struct {
	client.Client
	// late is what the cache shows of the fleet instead of what is stored; nil for what is.
	late *v1alpha1.SeiNodeDeployment
	// patches counts the status writes that were stored.
	patches int
	clock   *clocktesting.FakePassiveClock
}

var key = client.ObjectKey{Namespace: "ns", Name: "fleet"}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "fleet", UID: "uid", Generation: 1, Finalizers: []string{v1alpha1.FinalizerSeiNodeDeployment},
	}}
	fleet.Spec.Replicas = 1
	fleet.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "new-1", StakingAmount: "1000usei", AccountBalance: "2000usei"}
	fleet.Spec.Template.Spec = v1alpha1.SeiNodeSpec{ChainID: "new-1", Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}}
	c := &cluster{clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(fleet).WithStatusSubresource(fleet, &v1alpha1.SeiNode{}).
		WithIndex(&v1alpha1.SeiNode{}, indexFleet, controllingFleet).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, under client.Client, sub string, obj client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
			err := under.SubResource(sub).Patch(ctx, obj, p, o...)
			if err == nil {
				c.patches++
			}
			return err
		},
	}).Build()
	return c
}

// Get implements client.Reader.
func (c *cluster) Get(ctx context.Context, name client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	if into, ok := obj.(*v1alpha1.SeiNodeDeployment); ok && c.late != nil {
		c.late.DeepCopyInto(into)
		return nil
	}
	return c.Client.Get(ctx, name, obj, o...)
}

func (c *cluster) stored(t *testing.T) *v1alpha1.SeiNodeDeployment {
	t.Helper()
	fleet := &v1alpha1.SeiNodeDeployment{}
	if err := c.Client.Get(t.Context(), key, fleet); err != nil {
		t.Fatal(err)
	}
	return fleet
}

func (c *cluster) operator(t *testing.T) *Reconciler {
	t.Helper()
	m, err := metrics.New(prometheus.NewRegistry(), c.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	config := platform.Default()
	config.Images.Sidecar = "sidecar:1"
	r := &Reconciler{Client: c, Live: c.Client, Platform: config, Metrics: m, Clock: c.clock, Events: events.NewRecorder(k8sevents.NewFakeRecorder(100))}
	r.init()
	r.routes = &routeWatch{mapper: meta.NewDefaultRESTMapper(nil)} // no Gateway API is installed
	return r
}

// A6: of two reconciles of a fleet in close succession one makes the plan. The other, on a cache
// that does not show it yet, sees that by what it remembers or by the lock of its write; with blind
// server-side apply there would be two plans.
func TestA6_FleetsSecondReconcileOnALateCache_LeavesThePlanAlone(t *testing.T) {
	for name, another := range map[string]bool{"the same operator": false, "another operator": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r, before := c.operator(t), c.stored(t)
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			first, writes := c.stored(t), c.patches
			if first.Status.Plan == nil || writes == 0 {
				t.Fatalf("no plan was made: %+v", first.Status)
			}
			if another {
				r = c.operator(t)
			}
			c.late = before
			c.clock.SetTime(c.clock.Now().Add(time.Minute)) // another plan would have another time
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			if err != nil || result.RequeueAfter != loop.StaleInterval || c.patches != writes {
				t.Errorf("the second reconcile ends with %+v, %v and %d writes", result, err, c.patches-writes)
			}
			if got := c.stored(t); got.Status.Plan == nil || got.Status.Plan.ID != first.Status.Plan.ID || got.ResourceVersion != first.ResourceVersion {
				t.Errorf("plan %+v, want %s", got.Status.Plan, first.Status.Plan.ID)
			}
		})
	}
}

// N17: the API server's storage was restored from a backup, so that its versions go back. For two
// seconds that may be a late cache; then the API server is asked, and what it has is right.
func TestN17_RestoredStorage_IsBelievedInTheEnd(t *testing.T) {
	c := newCluster(t)
	r := c.operator(t)
	began := c.clock.Now()
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	if c.patches == 0 {
		t.Fatal("nothing was written")
	}
	// Restored, the API server has the object as it was before our write, and so has the cache.
	c.Client = newCluster(t).Client
	r.cache.Live = c.Client
	for _, passed := range []struct {
		after time.Duration
		late  bool
	}{{0, true}, {2*time.Second - 1, true}, {2 * time.Second, false}} {
		c.clock.SetTime(began.Add(passed.after))
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if late := result.RequeueAfter == loop.StaleInterval; err != nil || late != passed.late {
			t.Fatalf("after %s the cache counts as late: %t, %v", passed.after, late, err)
		}
	}
	if restored := c.stored(t); restored.Status.ObservedGeneration != restored.Generation {
		t.Errorf("the restored object was not taken up: %+v", restored.Status)
	}
}
