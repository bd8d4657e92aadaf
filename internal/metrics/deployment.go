package metrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

var ofFleet = phaseMetrics{gauge: NameFleetPhase, transitions: NameFleetTransitions, durations: NameFleetPhaseDuration, phases: fleetPhases}

// DeploymentObserved derives everything that a fleet's status tells: gauges from how
// it is, transitions and durations from how it changed since before. Call it once per
// reconcile, after the status was stored; a fleet that did not change may be given
// twice.
func (m *Metrics) DeploymentObserved(before, after *seiv1.SeiNodeDeployment) {
	key := objectKey{seiv1.KindSeiNodeDeployment, after.Namespace, after.Name}
	m.meet(key)
	m.phaseOf(ofFleet, key, phaseChange{
		from: string(before.Status.Phase), to: string(after.Status.Phase),
		since: before.Status.PhaseTransitionTime, until: after.Status.PhaseTransitionTime,
	})
	for state, count := range map[string]int32{
		"desired": after.Spec.Replicas, "present": after.Status.Replicas,
		"ready": after.Status.ReadyReplicas, "updated": after.Status.UpdatedReplicas,
	} {
		m.gauges[NameFleetNodes].WithLabelValues(after.Namespace, after.Name, state).Set(float64(count))
	}
	stalled := conditions.Is(after.Status.Conditions, seiv1.ConditionRolloutStalled, metav1.ConditionTrue, "")
	m.gauges[NameFleetStalled].WithLabelValues(after.Namespace, after.Name).Set(flag(stalled))
	failed := conditions.Is(after.Status.Conditions, seiv1.ConditionRolloutFailed, metav1.ConditionTrue, "") &&
		!after.Spec.Paused && after.Status.Phase != seiv1.DeploymentTerminating
	m.gauges[NameFleetRolloutFailed].WithLabelValues(after.Namespace, after.Name).Set(flag(failed))
	m.fleetUpgrade(after)
	m.rollout(key, before.Status.Rollout, &after.Status)
	m.planOutcome(seiv1.KindSeiNodeDeployment, before.Status.Plan, before.Status.LastPlan, after.Status.LastPlan)
	m.fleetPlan(key, after)
}

// fleetPlan reports the fleet's own plan, and of the last one if it failed.
func (m *Metrics) fleetPlan(key objectKey, snd *seiv1.SeiNodeDeployment) {
	p, last := snd.Status.Plan, snd.Status.LastPlan
	if snd.Spec.Paused || snd.Status.Phase == seiv1.DeploymentTerminating {
		p, last = nil, nil
	}
	m.planActive(key, p)
	if p == nil && last != nil && last.Outcome == seiv1.OutcomeFailed {
		m.planFailed(key, last.Reason)
	} else {
		m.planFailed(key, "")
	}
}

// rollout reports the rollout that is under way, and of the one that ended since
// before.
func (m *Metrics) rollout(key objectKey, before *seiv1.RolloutStatus, after *seiv1.SeiNodeDeploymentStatus) {
	if after.Rollout == nil || after.Phase == seiv1.DeploymentTerminating {
		m.ages[NameRolloutAge].unset(key)
	} else {
		m.ages[NameRolloutAge].since(key, &after.Rollout.StartedAt, key.namespace, key.name)
	}
	if before == nil {
		return
	}
	ended := func(outcome seiv1.PlanOutcome, at metav1.Time) {
		took := max(at.Sub(before.StartedAt.Time), 0)
		m.histograms[NameRolloutDuration].WithLabelValues(key.namespace, string(outcome)).Observe(took.Seconds())
	}
	if after.Rollout == nil {
		if c := conditions.Get(after.Conditions, seiv1.ConditionRolloutInProgress); c != nil && c.Status == metav1.ConditionFalse {
			ended(seiv1.OutcomeComplete, c.LastTransitionTime)
		}
	} else if after.Rollout.TargetHash != before.TargetHash {
		ended(seiv1.OutcomeSuperseded, after.Rollout.StartedAt)
	}
}
