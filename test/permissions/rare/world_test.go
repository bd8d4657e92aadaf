package rare

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m)) }

// The objects of each world.
const (
	theNode  = "n"
	theFleet = "f"
	theTask  = "t"
)

// operated makes a world whose operator runs. Only the stage of the tests below test/envtest has a control
// plane.
func operated(t *testing.T) *world.World {
	t.Helper()
	if os.Getenv(envtest.UsesVariable) == "" {
		t.Skip("skipped: make test-envtest runs it, with a control plane")
	}
	t.Parallel() // a world is a namespace of its own
	return world.Operated(t)
}

func createNode(w *world.World) { w.Create(world.FullNode(theNode)) }

func awaitNode(w *world.World) {
	w.AwaitNode(theNode, func(n *v1alpha1.SeiNode) bool {
		return n.Status.Plan == nil && conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// createBootstrapped makes a node whose first state is fetched by a Job.
func createBootstrapped(w *world.World) {
	n := world.FullNode(theNode)
	n.Spec.FullNode.Snapshot = &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 100}, BootstrapImage: "seid:old"}
	w.Create(n)
}

// awaitBootstrap waits until the operator has seen the Job, which does not end in these worlds.
func awaitBootstrap(w *world.World) {
	w.AwaitNode(theNode, func(n *v1alpha1.SeiNode) bool {
		t := plan.Find(n.Status.Plan, node.StepAwaitBootstrap)
		return t != nil && t.Status == v1alpha1.TaskRunning
	})
}

func createFleet(w *world.World) { w.Create(newFleet(theFleet)) }

func awaitFleet(w *world.World) { awaitReady(w, theFleet) }

func newFleet(name string) *v1alpha1.SeiNodeDeployment {
	return &v1alpha1.SeiNodeDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.SeiNodeDeploymentSpec{
			Replicas:       1,
			UpdateStrategy: &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MinReadySeconds: new(int32)}},
			Template:       v1alpha1.SeiNodeTemplate{Spec: world.FullNode("").Spec},
		},
	}
}

func awaitReady(w *world.World, fleet string) {
	envtest.WaitFor(w.T, w.Env, w.NS, fleet, func(f *v1alpha1.SeiNodeDeployment) bool {
		return f != nil && f.Status.ObservedGeneration == f.Generation && f.Status.Phase == v1alpha1.DeploymentReady
	})
}

// createEarlyTask makes a task whose node does not exist yet.
func createEarlyTask(w *world.World) {
	t := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: theTask}}
	t.Spec.Kind, t.Spec.Target.NodeRef.Name, t.Spec.RestartSeid = v1alpha1.TaskKindRestartSeid, theNode, &v1alpha1.RestartSeid{}
	w.Create(t)
	envtest.WaitFor(w.T, w.Env, w.NS, theTask, func(t *v1alpha1.SeiNodeTask) bool {
		return t != nil && conditions.Is(t.Status.Conditions, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound)
	})
}

func awaitTask(w *world.World) {
	envtest.WaitFor(w.T, w.Env, w.NS, theTask, func(t *v1alpha1.SeiNodeTask) bool {
		return t != nil && t.Status.Phase == v1alpha1.NodeTaskComplete
	})
}
