package world

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// FullNode is the smallest valid SeiNode.
func FullNode(name string) *v1alpha1.SeiNode {
	return &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
	}
}

// Node reads a SeiNode.
func (w *World) Node(name string) *v1alpha1.SeiNode {
	w.T.Helper()
	node := &v1alpha1.SeiNode{}
	w.Get(name, node)
	return node
}

// EditNode changes a SeiNode's spec or metadata, as a user would.
func (w *World) EditNode(name string, change func(*v1alpha1.SeiNode)) *v1alpha1.SeiNode {
	w.T.Helper()
	return Edit(w, name, &v1alpha1.SeiNode{}, change)
}

// AwaitNode waits until a SeiNode is as described.
func (w *World) AwaitNode(name string, condition func(*v1alpha1.SeiNode) bool) *v1alpha1.SeiNode {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(n *v1alpha1.SeiNode) bool { return n != nil && condition(n) })
}
