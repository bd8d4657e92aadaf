package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// fleetUpgrade tells how far a fleet is with an upgrade of its chain.
func (m *Metrics) fleetUpgrade(snd *seiv1.SeiNodeDeployment) {
	gauge, rollout := m.gauges[NameFleetUpgradeNodes], snd.Status.Rollout
	if rollout == nil || rollout.Upgrade == nil {
		gauge.DeletePartialMatch(prometheus.Labels{labelNamespace: snd.Namespace, labelName: snd.Name})
		return
	}
	for state, count := range map[string]int32{"halted": rollout.Upgrade.Halted, "moved": rollout.Upgrade.Moved, "producing": rollout.Upgrade.Producing} {
		gauge.WithLabelValues(snd.Namespace, snd.Name, state).Set(float64(count))
	}
}
