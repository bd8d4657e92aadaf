package metrics

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

var ofNode = phaseMetrics{gauge: NameNodePhase, transitions: NamePhaseTransitions, durations: NamePhaseDuration, phases: nodePhases}

// NodeObserved derives everything that a node's status tells: gauges from how it
// is, transitions and durations from how it changed since before. Call it once
// per reconcile, after the status was stored; a node that did not change may be
// given twice.
func (m *Metrics) NodeObserved(before, after *seiv1.SeiNode) {
	key := objectKey{seiv1.KindSeiNode, after.Namespace, after.Name}
	m.meet(key)
	m.phaseOf(ofNode, key, phaseChange{
		from: string(before.Status.Phase), to: string(after.Status.Phase),
		since: before.Status.PhaseTransitionTime, until: after.Status.PhaseTransitionTime,
	})
	m.nodeConditions(key, after)
	m.nodePublished(key, after)
	m.nodeKey(after)
	m.nodeResults(after)
	m.nodeUpgrade(after)
	m.nodePlan(key, after)
	m.planOutcome(seiv1.KindSeiNode, before.Status.Plan, before.Status.LastPlan, after.Status.LastPlan)
}

// nodeConditions sets what means something only while the node is meant to run.
func (m *Metrics) nodeConditions(key objectKey, node *seiv1.SeiNode) {
	expected := node.Status.Phase == seiv1.NodeRunning && !node.Spec.Paused
	for name, conditionType := range map[string]string{
		NameSidecarReady: seiv1.ConditionSidecarReady, NameNodeReady: seiv1.ConditionInSync, NameSnapshotsPublished: seiv1.ConditionSnapshotsPublished,
	} {
		condition := conditions.Get(node.Status.Conditions, conditionType)
		if !expected || condition == nil || condition.Reason == seiv1.ReasonNotApplicable {
			m.gauges[name].DeleteLabelValues(node.Namespace, node.Name)
			continue
		}
		m.gauges[name].WithLabelValues(node.Namespace, node.Name).Set(flag(condition.Status == metav1.ConditionTrue))
	}
	if expected && neverInSync(node) {
		m.ages[NameFirstSyncAge].since(key, node.Status.PhaseTransitionTime, node.Namespace, node.Name)
	} else {
		m.ages[NameFirstSyncAge].unset(key)
	}
}

// neverInSync reports whether a running node has not been in sync since it was brought
// up: a condition that was never True keeps the time from before.
func neverInSync(node *seiv1.SeiNode) bool {
	ready, running := conditions.Get(node.Status.Conditions, seiv1.ConditionInSync), node.Status.PhaseTransitionTime
	return ready != nil && running != nil && ready.Status != metav1.ConditionTrue && !ready.LastTransitionTime.After(running.Time)
}

// nodePublished tells how old the newest published snapshot of a node is that is meant to publish.
func (m *Metrics) nodePublished(key objectKey, node *seiv1.SeiNode) {
	condition := conditions.Get(node.Status.Conditions, seiv1.ConditionSnapshotsPublished)
	if node.Status.Phase != seiv1.NodeRunning || node.Spec.Paused || condition == nil || condition.Reason == seiv1.ReasonNotApplicable {
		m.ages[NamePublishedAge].unset(key)
		return
	}
	since := &condition.LastTransitionTime
	if last := node.Status.LastPublished; last != nil {
		since = &last.Time
	}
	m.ages[NamePublishedAge].since(key, since, node.Namespace, node.Name)
}

func (m *Metrics) nodeKey(node *seiv1.SeiNode) {
	gauge := m.gauges[NameKeyReserved]
	if node.Status.ConsensusAddress == "" {
		gauge.DeleteLabelValues(node.Namespace, node.Name)
		return
	}
	gauge.WithLabelValues(node.Namespace, node.Name).Set(1)
}

func (m *Metrics) nodeResults(node *seiv1.SeiNode) {
	gauge, match := m.gauges[NameResultsDiverged], conditions.Get(node.Status.Conditions, seiv1.ConditionResultsMatch)
	if node.Spec.Paused || match == nil || match.Status == metav1.ConditionUnknown || match.Reason == seiv1.ReasonNotApplicable {
		gauge.DeleteLabelValues(node.Namespace, node.Name)
		return
	}
	gauge.WithLabelValues(node.Namespace, node.Name).Set(flag(match.Status == metav1.ConditionFalse))
}

// nodeUpgrade exports the state of a node with regard to upgrades of its chain.
func (m *Metrics) nodeUpgrade(node *seiv1.SeiNode) {
	upgrade := node.Status.Upgrade
	if upgrade == nil || upgrade.Scheduled == nil {
		m.gauges[NameUpgradeHeight].DeleteLabelValues(node.Namespace, node.Name)
	} else {
		m.gauges[NameUpgradeHeight].WithLabelValues(node.Namespace, node.Name).Set(float64(upgrade.Scheduled.Height))
	}
	for name, on := range map[string]func() bool{
		NameUpgradeHalted: func() bool {
			return upgrade.State == seiv1.UpgradeHalted || upgrade.State == seiv1.UpgradeMoved || upgrade.State == seiv1.UpgradeFailed
		},
		NameUpgradeImageMissing: func() bool {
			return conditions.Is(node.Status.Conditions, seiv1.ConditionUpgradeImageMissing, metav1.ConditionTrue, "")
		},
		NameUpgradeFailed: func() bool {
			return conditions.Is(node.Status.Conditions, seiv1.ConditionUpgradeFailed, metav1.ConditionTrue, "")
		},
	} {
		if upgrade == nil || node.Spec.Paused {
			m.gauges[name].DeleteLabelValues(node.Namespace, node.Name)
			continue
		}
		m.gauges[name].WithLabelValues(node.Namespace, node.Name).Set(flag(on()))
	}
}

// UpgradeEstimated tells about when a node's chain gets to its next upgrade. The time is no part of
// the status: it moves with every block. nil: there is no new report.
func (m *Metrics) UpgradeEstimated(node *seiv1.SeiNode, at *time.Time) {
	gauge, upgrade := m.gauges[NameUpgradeEstimated], node.Status.Upgrade
	ahead := upgrade != nil && upgrade.Scheduled != nil && (upgrade.State == seiv1.UpgradeScheduled || upgrade.State == seiv1.UpgradeMovedEarly)
	switch {
	case !ahead || node.Spec.Paused:
		gauge.DeleteLabelValues(node.Namespace, node.Name)
	case at != nil:
		gauge.WithLabelValues(node.Namespace, node.Name).Set(float64(at.Unix()))
	}
}

// nodePlan reports the node's plans, unless they are suspended on purpose.
func (m *Metrics) nodePlan(key objectKey, node *seiv1.SeiNode) {
	p, last := node.Status.Plan, node.Status.LastPlan
	if node.Spec.Paused || node.Status.Phase == seiv1.NodeTerminating {
		p, last = nil, nil
	}
	m.planActive(key, p)
	if last != nil && last.Outcome == seiv1.OutcomeFailed {
		m.planFailed(key, last.Reason)
	} else {
		m.planFailed(key, "")
	}
}
