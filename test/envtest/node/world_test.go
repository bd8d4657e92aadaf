package node

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m, envtest.WithKeptNamespaces())) }

// nodes is a world in which tests make nodes.
type nodes struct{ *world.World }

func newWorld(t *testing.T) nodes {
	t.Helper()
	t.Parallel() // a world is a namespace of its own
	return nodes{world.New(t)}
}

// newOperatedWorld makes a world whose operator runs.
func newOperatedWorld(t *testing.T) nodes {
	t.Helper()
	t.Parallel() // a world is a namespace of its own
	return nodes{world.Operated(t)}
}

// newWorldBeforeOthers makes a world for a test that changes what the API server serves. Such tests do not run beside
// others, which wait until all of them are over.
func newWorldBeforeOthers(t *testing.T) nodes {
	t.Helper()
	return nodes{world.New(t)}
}

// newOlderWorld makes an operated world whose sidecars may be older ones: their pods give them no
// certificate.
func newOlderWorld(t *testing.T) nodes {
	t.Helper()
	w := newWorld(t)
	w.WithoutTLS()
	w.StartOperator()
	return w
}

// fullNode is the smallest valid SeiNode.
func fullNode(name string) *v1alpha1.SeiNode { return world.FullNode(name) }

// edit changes a node's spec or metadata, as a user would.
func (w nodes) edit(name string, change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	w.T.Helper()
	return w.EditNode(name, change)
}

func (w nodes) node(name string) *v1alpha1.SeiNode {
	w.T.Helper()
	return w.Node(name)
}

// await waits until a node is as described.
func (w nodes) await(name string, condition func(*v1alpha1.SeiNode) bool) *v1alpha1.SeiNode {
	w.T.Helper()
	return w.AwaitNode(name, condition)
}

func (w nodes) awaitPod(name string, condition func(*corev1.Pod) bool) *corev1.Pod {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(p *corev1.Pod) bool { return p != nil && condition(p) })
}

// settled is a node that runs its spec, is in sync, and has nothing left to do.
func settled(n *v1alpha1.SeiNode) bool {
	return n.Status.Phase == v1alpha1.NodeRunning && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation &&
		n.Status.CurrentImage == inForce(n) && is(n, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync) &&
		is(n, v1alpha1.ConditionSidecarReady, metav1.ConditionTrue, "")
}

// inForce is the image that a node should run.
func inForce(n *v1alpha1.SeiNode) string {
	if n.Status.Upgrade == nil {
		return n.Spec.Image
	}
	return n.Status.Upgrade.Image
}

func is(n *v1alpha1.SeiNode, conditionType string, status metav1.ConditionStatus, reason string) bool {
	return conditions.Is(n.Status.Conditions, conditionType, status, reason)
}

// wantCondition fails the test unless a condition has a status and a reason; any reason will do for "".
func wantCondition(t *testing.T, n *v1alpha1.SeiNode, conditionType string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	if !is(n, conditionType, status, reason) {
		t.Errorf("condition %s is %+v, want %s %q", conditionType, conditions.Get(n.Status.Conditions, conditionType), status, reason)
	}
}

// bringUp creates a node and waits until it is settled.
func (w nodes) bringUp(node *v1alpha1.SeiNode) *v1alpha1.SeiNode {
	w.T.Helper()
	w.Create(node)
	return w.await(node.Name, settled)
}
