package metrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// phases are the values of the label phase.
var phases = []seiv1.SeiNodePhase{
	seiv1.NodePending, seiv1.NodeInitializing, seiv1.NodeRunning, seiv1.NodeFailed, seiv1.NodeTerminating,
}

// NodeObserved derives everything that a node's status tells: gauges from how it
// is, transitions and durations from how it changed since before. Call it once
// per reconcile, after the status was stored; a node that did not change may be
// given twice.
func (m *Metrics) NodeObserved(before, after *seiv1.SeiNode) {
	m.nodePhase(before, after)
	m.nodeSidecar(after)
	m.nodeKey(after)
	m.PlanActive(seiv1.KindSeiNode, after.Namespace, after.Name, after.Status.Plan)
	m.planOutcome(seiv1.KindSeiNode, before.Status.Plan, before.Status.LastPlan, after.Status.LastPlan)
}

func (m *Metrics) nodePhase(before, after *seiv1.SeiNode) {
	to := after.Status.Phase
	for _, phase := range phases {
		value := 0.0
		if phase == to {
			value = 1
		}
		m.gauges[NameNodePhase].WithLabelValues(after.Namespace, after.Name, string(phase)).Set(value)
	}
	from := before.Status.Phase
	if from == to || to == "" {
		return
	}
	m.counters[NamePhaseTransitions].WithLabelValues(after.Namespace, orNone(from), string(to)).Inc()
	if from != "" && before.Status.PhaseTransitionTime != nil && after.Status.PhaseTransitionTime != nil {
		stayed := after.Status.PhaseTransitionTime.Sub(before.Status.PhaseTransitionTime.Time)
		m.histograms[NamePhaseDuration].WithLabelValues(after.Namespace, string(from)).Observe(max(stayed, 0).Seconds())
	}
}

func orNone(phase seiv1.SeiNodePhase) string {
	if phase == "" {
		return "None"
	}
	return string(phase)
}

func (m *Metrics) nodeSidecar(node *seiv1.SeiNode) {
	gauge := m.gauges[NameSidecarReady]
	condition := conditions.Get(node.Status.Conditions, seiv1.ConditionSidecarReady)
	switch {
	case condition == nil || condition.Reason == seiv1.ReasonNotApplicable || node.Status.Phase != seiv1.NodeRunning || node.Spec.Paused:
		gauge.DeleteLabelValues(node.Namespace, node.Name)
	case condition.Status == metav1.ConditionTrue:
		gauge.WithLabelValues(node.Namespace, node.Name).Set(1)
	default:
		gauge.WithLabelValues(node.Namespace, node.Name).Set(0)
	}
}

func (m *Metrics) nodeKey(node *seiv1.SeiNode) {
	gauge := m.gauges[NameKeyReserved]
	if node.Status.ConsensusAddress == "" {
		gauge.DeleteLabelValues(node.Namespace, node.Name)
		return
	}
	gauge.WithLabelValues(node.Namespace, node.Name).Set(1)
}

// planOutcome records the plan that ended between two states of an object: it
// was active before, and is the last plan after.
func (m *Metrics) planOutcome(kind string, active *seiv1.TaskPlan, lastBefore, lastAfter *seiv1.PlanSummary) {
	if lastAfter == nil || (lastBefore != nil && lastBefore.ID == lastAfter.ID) {
		return
	}
	if active == nil || active.ID != lastAfter.ID || active.StartedAt == nil {
		return // its start is not known, and a made-up duration would lie
	}
	m.PlanEnded(kind, lastAfter.Reason, lastAfter.Outcome, lastAfter.FinishedAt.Sub(active.StartedAt.Time))
}
