package operation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// Facts are what tasks read of a node's status.
type Facts struct {
	Phase              v1alpha1.SeiNodePhase
	ObservedGeneration int64
	CurrentImage       string
	Ready, Sidecar     metav1.Condition
}

// FactsOf reads them.
func FactsOf(node *v1alpha1.SeiNode) Facts {
	f := Facts{Phase: node.Status.Phase, ObservedGeneration: node.Status.ObservedGeneration, CurrentImage: node.Status.CurrentImage}
	for conditionType, into := range map[string]*metav1.Condition{v1alpha1.ConditionReady: &f.Ready, v1alpha1.ConditionSidecarReady: &f.Sidecar} {
		if c := conditions.Get(node.Status.Conditions, conditionType); c != nil {
			*into = *c
		}
	}
	return f
}
