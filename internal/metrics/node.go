package metrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

var nodePhases = phaseMetrics{
	gauge: NameNodePhase, transitions: NamePhaseTransitions, durations: NamePhaseDuration,
	phases: words(seiv1.NodePending, seiv1.NodeInitializing, seiv1.NodeRunning, seiv1.NodeFailed, seiv1.NodeTerminating),
}

// NodeObserved derives everything that a node's status tells: gauges from how it
// is, transitions and durations from how it changed since before. Call it once
// per reconcile, after the status was stored; a node that did not change may be
// given twice.
func (m *Metrics) NodeObserved(before, after *seiv1.SeiNode) {
	key := objectKey{seiv1.KindSeiNode, after.Namespace, after.Name}
	m.census.add(key)
	m.phaseOf(nodePhases, key, phaseChange{
		from: string(before.Status.Phase), to: string(after.Status.Phase),
		since: before.Status.PhaseTransitionTime, until: after.Status.PhaseTransitionTime,
	})
	m.nodeConditions(after)
	m.nodeKey(after)
	m.planActive(key, after.Status.Plan)
	m.planOutcome(seiv1.KindSeiNode, before.Status.Plan, before.Status.LastPlan, after.Status.LastPlan)
}

// nodeGauges are the conditions that have a gauge, and when it is 1.
var nodeGauges = []struct {
	condition, gauge string
	on               func(*metav1.Condition) bool
}{
	{seiv1.ConditionSidecarReady, NameSidecarReady, isTrue},
	{seiv1.ConditionReady, NameNodeReady, isTrue},
	{seiv1.ConditionNodeUpdateInProgress, NameNodeUpdate, func(c *metav1.Condition) bool {
		return isTrue(c) || c.Reason == seiv1.ReasonUpdateFailed
	}},
}

// nodeConditions sets the gauges that mean something only while the node is meant
// to run.
func (m *Metrics) nodeConditions(node *seiv1.SeiNode) {
	expected := node.Status.Phase == seiv1.NodeRunning && !node.Spec.Paused
	for _, g := range nodeGauges {
		condition := conditions.Get(node.Status.Conditions, g.condition)
		if !expected || condition == nil || condition.Reason == seiv1.ReasonNotApplicable {
			m.gauges[g.gauge].DeleteLabelValues(node.Namespace, node.Name)
			continue
		}
		m.gauges[g.gauge].WithLabelValues(node.Namespace, node.Name).Set(flag(g.on(condition)))
	}
}

func isTrue(c *metav1.Condition) bool { return c.Status == metav1.ConditionTrue }

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
