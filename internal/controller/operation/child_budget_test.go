package operation

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/test/controllertest"
)

// calmFleets is a cache that does not show that a fleet rolls out.
type calmFleets struct{ client.Client }

func (c calmFleets) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, o...)
	if snd, ok := obj.(*v1alpha1.SeiNodeDeployment); ok {
		snd.Status.Rollout = nil
	}
	return err
}

// S9: a child of a fleet's restart that queued for its node does not begin beside a rollout that has
// begun meanwhile, also if the cache does not show the rollout yet. It begins when that has ended.
func TestChild_QueuedUntilARolloutHasBegun_Waits(t *testing.T) {
	for name, late := range map[string]bool{"the cache shows the rollout": false, "the cache is late": true} {
		t.Run(name, func(t *testing.T) {
			r := newGroupRig(t, specs["restart"])
			operator := r.start(t)
			fleet := client.ObjectKey{Namespace: "ns", Name: "f"}
			pass := func(key client.ObjectKey) {
				t.Helper()
				if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
					t.Fatal(err)
				}
			}
			pass(r.parent)
			child := client.ObjectKey{Namespace: "ns", Name: domain.ChildName(controllertest.Stored(t, r.Cluster, r.parent, &v1alpha1.SeiNodeTask{}), "f-0")}
			rolls := func(rollout *v1alpha1.RolloutStatus) {
				t.Helper()
				snd := controllertest.Stored(t, r.Cluster, fleet, &v1alpha1.SeiNodeDeployment{})
				snd.Status.Rollout = rollout
				if err := r.Client.Status().Update(t.Context(), snd); err != nil {
					t.Fatal(err)
				}
			}
			rolls(&v1alpha1.RolloutStatus{TargetHash: "b", StartedAt: metav1.NewTime(controllertest.At)})
			if late {
				operator.Client = calmFleets{operator.Client}
			}
			pass(child)
			if is := controllertest.Stored(t, r.Cluster, child, &v1alpha1.SeiNodeTask{}); domain.Begun(&is.Status) || len(r.sidecars["f-0"].runs) > 0 {
				t.Errorf("the child has begun beside a rollout: %+v", is.Status)
			}
			if late {
				return
			}
			rolls(nil)
			asked := operator.groupsOfFleet(t.Context(), controllertest.Stored(t, r.Cluster, fleet, &v1alpha1.SeiNodeDeployment{}))
			if !slices.Contains(asked, reconcile.Request{NamespacedName: child}) {
				t.Errorf("the end of the rollout wakes %v, want the child among them", asked)
			}
			pass(child)
			if is := controllertest.Stored(t, r.Cluster, child, &v1alpha1.SeiNodeTask{}); !domain.Begun(&is.Status) {
				t.Errorf("the child has not begun: %+v", is.Status)
			}
		})
	}
}
