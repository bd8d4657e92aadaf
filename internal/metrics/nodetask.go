package metrics

import (
	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// TaskObserved derives everything that a SeiNodeTask's status tells. Call it once per pass, after
// the status was stored; a task that did not change may be given twice. A task for several nodes is
// timed by its children: how long it takes itself says how large a fleet is.
func (m *Metrics) TaskObserved(before, after *seiv1.SeiNodeTask) {
	key := objectKey{seiv1.KindSeiNodeTask, after.Namespace, after.Name}
	m.meet(key)
	for _, phase := range nodeTaskPhases {
		m.gauges[NameNodeTaskPhase].WithLabelValues(key.namespace, key.name, phase).Set(flag(phase == string(after.Status.Phase)))
	}
	if before.Status.CompletedAt != nil || after.Status.CompletedAt == nil || after.Status.StartedAt == nil || after.Status.Nodes != nil {
		return
	}
	took := max(after.Status.CompletedAt.Sub(after.Status.StartedAt.Time), 0)
	kind := among(nodeTaskKinds, string(after.Spec.Kind))
	m.histograms[NameNodeTaskDuration].WithLabelValues(key.namespace, kind, string(after.Status.Phase)).Observe(took.Seconds())
}
