package fleet

import (
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m, envtest.WithKeptNamespaces())) }

// fleets is a world in which tests make fleets.
type fleets struct{ *world.World }

func newWorld(t *testing.T) fleets {
	t.Helper()
	t.Parallel() // a world is a namespace of its own
	return fleets{world.New(t)}
}

// newWorldBeforeOthers makes a world for a test that changes what the API server serves. Such tests do not run beside
// others, which wait until all of them are over.
func newWorldBeforeOthers(t *testing.T) fleets {
	t.Helper()
	return fleets{world.New(t)}
}

// newOperatedWorld makes a world whose operator runs.
func newOperatedWorld(t *testing.T) fleets {
	t.Helper()
	t.Parallel() // a world is a namespace of its own
	return fleets{world.Operated(t)}
}

// rpc is a fleet of full nodes that count as soon as they are Ready.
func rpc(name string, replicas int32) *v1alpha1.SeiNodeDeployment {
	return &v1alpha1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.SeiNodeDeploymentSpec{
			Replicas:       replicas,
			UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32)}},
			Template: v1alpha1.SeiNodeTemplate{
				Spec: v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
			},
		},
	}
}

// unavailable sets how many nodes of a fleet a rollout may take down, and how long it may make no progress.
func unavailable(snd *v1alpha1.SeiNodeDeployment, nodes int32, deadline int32) *v1alpha1.SeiNodeDeployment {
	snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{
		MaxUnavailable: new(intstr.FromInt32(nodes)), ProgressDeadlineSeconds: deadline, MinReadySeconds: new(int32),
	}}
	return snd
}

// edit changes a fleet's spec or metadata, as a user would.
func (w fleets) edit(name string, change func(*v1alpha1.SeiNodeDeployment)) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	return world.Edit(w.World, name, &v1alpha1.SeiNodeDeployment{}, change)
}

func (w fleets) fleet(name string) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	snd := &v1alpha1.SeiNodeDeployment{}
	w.Get(name, snd)
	return snd
}

// await waits until a fleet is as described.
func (w fleets) await(name string, condition func(*v1alpha1.SeiNodeDeployment) bool) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(s *v1alpha1.SeiNodeDeployment) bool { return s != nil && condition(s) })
}

// settled is a fleet whose nodes all run the template and are in sync.
func settled(s *v1alpha1.SeiNodeDeployment) bool {
	return s.Status.ObservedGeneration == s.Generation && s.Status.Phase == v1alpha1.DeploymentReady && s.Status.Rollout == nil &&
		s.Status.Replicas == s.Spec.Replicas && s.Status.ReadyReplicas == s.Spec.Replicas && s.Status.UpdatedReplicas == s.Spec.Replicas
}

func is(s *v1alpha1.SeiNodeDeployment, conditionType string, status metav1.ConditionStatus, reason string) bool {
	return conditions.Is(s.Status.Conditions, conditionType, status, reason)
}

// wantCondition fails the test unless a condition has a status and a reason; any reason will do for "".
func wantCondition(t *testing.T, s *v1alpha1.SeiNodeDeployment, conditionType string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	if !is(s, conditionType, status, reason) {
		t.Errorf("condition %s is %+v, want %s %q", conditionType, conditions.Get(s.Status.Conditions, conditionType), status, reason)
	}
}

func message(s *v1alpha1.SeiNodeDeployment, conditionType string) string {
	if c := conditions.Get(s.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}

// bringUp creates a fleet and waits until it is settled.
func (w fleets) bringUp(snd *v1alpha1.SeiNodeDeployment) *v1alpha1.SeiNodeDeployment {
	w.T.Helper()
	w.Create(snd)
	return w.await(snd.Name, settled)
}

func child(fleet string, ordinal int) string { return fmt.Sprintf("%s-%d", fleet, ordinal) }
