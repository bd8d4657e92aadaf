package metrics_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestDeploymentObserved_CountsNodesByStateAndForgets(t *testing.T) {
	m, registry := newMetrics(t)
	snd := fleet("rpc")
	snd.Spec.Replicas = 5
	snd.Status = seiv1.SeiNodeDeploymentStatus{
		Replicas: 4, ReadyReplicas: 3, UpdatedReplicas: 2,
		Conditions: []metav1.Condition{{Type: seiv1.ConditionRolloutStalled, Status: metav1.ConditionTrue}},
	}
	m.DeploymentObserved(snd, snd)
	expect(t, registry, metrics.NameFleetNodes,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="desired"} 5`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="present"} 4`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="ready"} 3`,
		`seinodedeployment_nodes{name="rpc",namespace="sei",state="updated"} 2`)
	expect(t, registry, metrics.NameFleetStalled, `seinodedeployment_rollout_stalled{name="rpc",namespace="sei"} 1`)
	m.Forget(seiv1.KindSeiNodeDeployment, "sei", "rpc")
	expect(t, registry, metrics.NameFleetNodes)
	expect(t, registry, metrics.NameFleetStalled)
}

// A rollout that was halted calls for a person, unless one has paused the fleet or is deleting it.
func TestDeploymentObserved_RolloutFailed_UnlessPausedOrTerminating(t *testing.T) {
	for name, c := range map[string]struct {
		condition metav1.ConditionStatus
		change    func(*seiv1.SeiNodeDeployment)
		want      string
	}{
		"failed":      {metav1.ConditionTrue, func(*seiv1.SeiNodeDeployment) {}, "1"},
		"goes on":     {metav1.ConditionFalse, func(*seiv1.SeiNodeDeployment) {}, "0"},
		"paused":      {metav1.ConditionTrue, func(s *seiv1.SeiNodeDeployment) { s.Spec.Paused = true }, "0"},
		"terminating": {metav1.ConditionTrue, func(s *seiv1.SeiNodeDeployment) { s.Status.Phase = seiv1.DeploymentTerminating }, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t)
			snd := fleet("rpc")
			snd.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionRolloutFailed, Status: c.condition}}
			c.change(snd)
			m.DeploymentObserved(snd, snd)
			expect(t, registry, metrics.NameFleetRolloutFailed, `seinodedeployment_rollout_failed{name="rpc",namespace="sei"} `+c.want)
			m.Forget(seiv1.KindSeiNodeDeployment, "sei", "rpc")
			expect(t, registry, metrics.NameFleetRolloutFailed)
		})
	}
}

func TestDeploymentObserved_PhaseChange_CountsOnceAndRecordsTheTrueDuration(t *testing.T) {
	m, registry := newMetrics(t)
	before, after := fleet("rpc"), fleet("rpc")
	before.Status.Phase, before.Status.PhaseTransitionTime = seiv1.DeploymentUpgrading, at(0)
	after.Status.Phase, after.Status.PhaseTransitionTime = seiv1.DeploymentReady, at(75)

	// An operator that was restarted sees the fleet as it is, which is no transition.
	m.DeploymentObserved(before, before)
	expect(t, registry, metrics.NameFleetTransitions)
	m.DeploymentObserved(before, after)
	m.DeploymentObserved(after, after)

	expect(t, registry, metrics.NameFleetPhase,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Degraded"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Failed"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Initializing"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Paused"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Pending"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Ready"} 1`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Terminating"} 0`,
		`seinodedeployment_phase{name="rpc",namespace="sei",phase="Upgrading"} 0`)
	expect(t, registry, metrics.NameFleetTransitions,
		`seinodedeployment_phase_transitions_total{from="Upgrading",namespace="sei",to="Ready"} 1`)
	expect(t, registry, metrics.NameFleetPhaseDuration,
		`seinodedeployment_phase_duration_seconds_sum{namespace="sei",phase="Upgrading"} 75`,
		`seinodedeployment_phase_duration_seconds_count{namespace="sei",phase="Upgrading"} 1`)
}

// A fleet whose status was written by an operator that kept no times has no duration.
func TestDeploymentObserved_PhaseOfUnknownStart_HasNoDuration(t *testing.T) {
	m, registry := newMetrics(t)
	before, after := fleet("rpc"), fleet("rpc")
	before.Status.Phase = seiv1.DeploymentUpgrading
	after.Status.Phase, after.Status.PhaseTransitionTime = seiv1.DeploymentReady, at(75)
	m.DeploymentObserved(before, after)
	expect(t, registry, metrics.NameFleetTransitions,
		`seinodedeployment_phase_transitions_total{from="Upgrading",namespace="sei",to="Ready"} 1`)
	expect(t, registry, metrics.NameFleetPhaseDuration)
}

func TestDeploymentObserved_Rollout_HasAnAgeAndThenADuration(t *testing.T) {
	m, registry := newMetrics(t)
	at10 := &seiv1.RolloutStatus{TargetHash: "a", StartedAt: *at(10)}
	at40 := &seiv1.RolloutStatus{TargetHash: "b", StartedAt: *at(40)}
	life := []*seiv1.SeiNodeDeployment{fleet("rpc"), fleet("rpc"), fleet("rpc"), fleet("rpc")}
	life[1].Status.Rollout, life[2].Status.Rollout = at10, at40
	life[3].Status.Conditions = []metav1.Condition{
		{Type: seiv1.ConditionRolloutInProgress, Status: metav1.ConditionFalse, LastTransitionTime: *at(100)},
	}
	for i := range life[1:] {
		m.DeploymentObserved(life[i], life[i+1])
		m.DeploymentObserved(life[i+1], life[i+1])
		if i == 1 {
			expect(t, registry, metrics.NameRolloutAge, `seinodedeployment_rollout_age_seconds{name="rpc",namespace="sei"} 3560`)
		}
	}
	expect(t, registry, metrics.NameRolloutAge)
	expect(t, registry, metrics.NameRolloutDuration,
		`seinodedeployment_rollout_duration_seconds_sum{namespace="sei",outcome="Complete"} 60`,
		`seinodedeployment_rollout_duration_seconds_count{namespace="sei",outcome="Complete"} 1`,
		`seinodedeployment_rollout_duration_seconds_sum{namespace="sei",outcome="Superseded"} 30`,
		`seinodedeployment_rollout_duration_seconds_count{namespace="sei",outcome="Superseded"} 1`)
}

func TestDeploymentObserved_FailedPlan_IsToldUntilTheNextAttempt(t *testing.T) {
	m, registry := newMetrics(t)
	failed := fleet("v")
	before := fleet("v")
	before.Status.Plan = &seiv1.TaskPlan{ID: "p1", Phase: seiv1.PlanActive, Reason: "GenesisCeremony", StartedAt: at(0)}
	failed.Status.LastPlan = &seiv1.PlanSummary{ID: "p1", Outcome: seiv1.OutcomeFailed, Reason: "GenesisCeremony", FinishedAt: *at(60)}
	m.DeploymentObserved(before, failed)
	expect(t, registry, metrics.NamePlanDuration,
		`sei_plan_duration_seconds_sum{kind="SeiNodeDeployment",outcome="Failed",reason="GenesisCeremony"} 60`,
		`sei_plan_duration_seconds_count{kind="SeiNodeDeployment",outcome="Failed",reason="GenesisCeremony"} 1`)
	expect(t, registry, metrics.NamePlanLastFailed, `sei_plan_last_failed{kind="SeiNodeDeployment",name="v",namespace="sei",reason="GenesisCeremony"} 1`)
	expect(t, registry, metrics.NamePlanActiveAge)
	again := failed.DeepCopy()
	again.Status.Plan = &seiv1.TaskPlan{ID: "p2", Phase: seiv1.PlanActive, Reason: "GenesisCeremony", StartedAt: at(90)}
	m.DeploymentObserved(failed, again)
	expect(t, registry, metrics.NamePlanLastFailed)
}
