package deployment

import (
	"context"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// lateBudget is a client whose cache shows an earlier PodDisruptionBudget, and that counts what is applied.
type lateBudget struct {
	client.Client
	shown   *policyv1.PodDisruptionBudget
	applied int
}

// Get implements client.Reader.
func (l *lateBudget) Get(ctx context.Context, name client.ObjectKey, into client.Object, o ...client.GetOption) error {
	if budget, ok := into.(*policyv1.PodDisruptionBudget); ok && l.shown != nil {
		l.shown.DeepCopyInto(budget)
		return nil
	}
	return l.Client.Get(ctx, name, into, o...)
}

// Apply implements client.Writer.
func (l *lateBudget) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	l.applied++
	return l.Client.Apply(ctx, obj, o...)
}

// N35: a PodDisruptionBudget that the cache shows as it was before our own write is not written again.
func TestN35_BudgetOnALateCache_IsWrittenOnce(t *testing.T) {
	c := newCluster(t)
	r, cache := operator(t, c), &lateBudget{Client: c}
	r.Client = cache
	sync := func(replicas int32) {
		t.Helper()
		snd := stored(t, c)
		snd.Spec.Replicas = replicas
		if err := r.syncBudget(t.Context(), &scope{snd: snd}); err != nil {
			t.Fatal(err)
		}
	}
	budget := func() *policyv1.PodDisruptionBudget {
		t.Helper()
		return controllertest.Stored(t, c, key, &policyv1.PodDisruptionBudget{})
	}
	sync(3)
	before := budget()
	sync(5)
	if cache.applied != 2 {
		t.Fatalf("applied %d times, want once for each number of replicas", cache.applied)
	}

	cache.shown = before
	sync(5)
	if cache.applied != 2 {
		t.Errorf("applied %d times, want 2: the cache is behind the second write", cache.applied)
	}

	cache.shown = budget()
	sync(4)
	want := fleet.DisruptionBudget(&v1alpha1.SeiNodeDeployment{Spec: v1alpha1.SeiNodeDeploymentSpec{Replicas: 4}}).Spec.MinAvailable
	if got := budget().Spec.MinAvailable; cache.applied != 3 || got.String() != want.String() {
		t.Errorf("applied %d times with minAvailable %s, want 3 and %s: the cache has caught up", cache.applied, got, want)
	}
}
