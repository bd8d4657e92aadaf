package metrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// DeploymentObserved derives everything that a fleet's status tells. Call it once per
// reconcile, after the status was stored.
func (m *Metrics) DeploymentObserved(snd *seiv1.SeiNodeDeployment) {
	for state, count := range map[string]int32{
		"desired": snd.Spec.Replicas, "present": snd.Status.Replicas,
		"ready": snd.Status.ReadyReplicas, "updated": snd.Status.UpdatedReplicas,
	} {
		m.gauges[NameFleetNodes].WithLabelValues(snd.Namespace, snd.Name, state).Set(float64(count))
	}
	stalled := 0.0
	if conditions.Is(snd.Status.Conditions, seiv1.ConditionRolloutStalled, metav1.ConditionTrue, "") {
		stalled = 1
	}
	m.gauges[NameFleetStalled].WithLabelValues(snd.Namespace, snd.Name).Set(stalled)
	m.PlanActive(seiv1.KindSeiNodeDeployment, snd.Namespace, snd.Name, snd.Status.Plan)
}
