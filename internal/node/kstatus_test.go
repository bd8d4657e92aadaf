package node_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// kstatusOf is what Argo CD, Flux and kpt see, computed by the library that they use.
func kstatusOf(t *testing.T, node *v1alpha1.SeiNode) *status.Result {
	t.Helper()
	node.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("SeiNode"))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: fields})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestKstatus_EveryState(t *testing.T) {
	for _, c := range states {
		t.Run(c.name, func(t *testing.T) {
			p := c.reported()
			got := kstatusOf(t, p.Node)
			if got.Status.String() != c.kstatus {
				t.Errorf("%s (%s), want %s", got.Status, got.Message, c.kstatus)
			}
			ready := conditions.Is(p.Node.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
			if got.Status == status.CurrentStatus && (!ready || p.Node.Status.ObservedGeneration != p.Node.Generation) {
				t.Errorf("current although Ready is %t at generation %d of %d", ready, p.Node.Status.ObservedGeneration, p.Node.Generation)
			}
			// An edit that nobody has looked at is never current, whatever was true before it.
			p.Node.Generation++
			if got := kstatusOf(t, p.Node); got.Status == status.CurrentStatus {
				t.Error("current right after an edit")
			}
		})
	}
}

// A SeiNode that no operator has seen has no status at all. Conditions appear with the first pass.
func TestKstatus_FirstPass_IsInProgressAtOnce(t *testing.T) {
	p := settledPass()
	newNode(p)
	p.Node.Status = v1alpha1.SeiNodeStatus{}
	planFor(p, node.ReasonNewNode)
	report(p)
	if got := kstatusOf(t, p.Node); got.Status != status.InProgressStatus {
		t.Errorf("%s: %s, want %v", got.Status, got.Message, status.InProgressStatus)
	}
}

func TestKstatus_EveryStateOfTools_IsReached(t *testing.T) {
	want := map[string]bool{"Current": true, "InProgress": true, "Failed": true, "Terminating": true}
	for _, c := range states {
		delete(want, c.kstatus)
	}
	if len(want) > 0 {
		t.Errorf("no state of the table is %v", want)
	}
}
