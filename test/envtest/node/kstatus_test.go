package node

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// kstatus is what Argo CD, Flux and kpt make of a node as the API server shows it.
func (w nodes) kstatus(name string) status.Status {
	w.T.Helper()
	node := &unstructured.Unstructured{}
	node.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("SeiNode"))
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, node); err != nil {
		w.T.Fatal(err)
	}
	result, err := status.Compute(node)
	if err != nil {
		w.T.Fatal(err)
	}
	return result.Status
}

// Tools that wait for a node must not take one for current that no operator has looked at: before
// its first pass, or right after an edit.
func TestKstatus_NodeThatNobodyHasLookedAt_IsInProgress(t *testing.T) {
	w := newWorld(t)
	w.Create(fullNode("n"))
	if got := w.kstatus("n"); got != status.InProgressStatus {
		t.Errorf("%s before an operator has seen it", got)
	}
	w.StartOperator()
	w.await("n", settled)
	if got := w.kstatus("n"); got != status.CurrentStatus {
		t.Errorf("%s when it is settled", got)
	}
	w.Stop()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	if got := w.kstatus("n"); got != status.InProgressStatus {
		t.Errorf("%s right after an edit", got)
	}
}
