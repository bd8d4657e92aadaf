package metrics_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

func TestNodeObserved_PhaseChange_CountsOnceAndRecordsTheTrueDuration(t *testing.T) {
	m, registry := newMetrics(t)
	before, after := node("rpc-0"), node("rpc-0")
	before.Status.Phase, before.Status.PhaseTransitionTime = seiv1.NodeInitializing, at(0)
	after.Status.Phase, after.Status.PhaseTransitionTime = seiv1.NodeRunning, at(90)

	m.NodeObserved(before, after)
	m.NodeObserved(after, after)

	expect(t, registry, metrics.NameNodePhase,
		`seinode_phase{name="rpc-0",namespace="sei",phase="Failed"} 0`,
		`seinode_phase{name="rpc-0",namespace="sei",phase="Initializing"} 0`,
		`seinode_phase{name="rpc-0",namespace="sei",phase="Pending"} 0`,
		`seinode_phase{name="rpc-0",namespace="sei",phase="Running"} 1`,
		`seinode_phase{name="rpc-0",namespace="sei",phase="Terminating"} 0`)
	expect(t, registry, metrics.NamePhaseTransitions,
		`seinode_phase_transitions_total{from="Initializing",namespace="sei",to="Running"} 1`)
	expect(t, registry, metrics.NamePhaseDuration,
		`seinode_phase_duration_seconds_sum{namespace="sei",phase="Initializing"} 90`,
		`seinode_phase_duration_seconds_count{namespace="sei",phase="Initializing"} 1`)
}

func TestNodeObserved_FirstSight_HasNoDuration(t *testing.T) {
	m, registry := newMetrics(t)
	after := node("rpc-0")
	after.Status.Phase, after.Status.PhaseTransitionTime = seiv1.NodePending, at(0)
	m.NodeObserved(node("rpc-0"), after)
	expect(t, registry, metrics.NamePhaseTransitions, `seinode_phase_transitions_total{from="None",namespace="sei",to="Pending"} 1`)
	expect(t, registry, metrics.NamePhaseDuration)
}

// B6.
func TestNodeObserved_SidecarGauge(t *testing.T) {
	cases := []struct {
		name   string
		status metav1.ConditionStatus
		reason string
		phase  seiv1.SeiNodePhase
		paused bool
		want   []string
	}{
		{"ready", "True", seiv1.ReasonSidecarReady, seiv1.NodeRunning, false, []string{`seinode_sidecar_ready{name="rpc-0",namespace="sei"} 1`}},
		{"gate closed", "False", seiv1.ReasonSidecarNotReady, seiv1.NodeRunning, false, []string{`seinode_sidecar_ready{name="rpc-0",namespace="sei"} 0`}},
		{"unreachable", "Unknown", seiv1.ReasonSidecarUnreachable, seiv1.NodeRunning, false, []string{`seinode_sidecar_ready{name="rpc-0",namespace="sei"} 0`}},
		{"not applicable", "False", seiv1.ReasonNotApplicable, seiv1.NodeRunning, false, nil},
		{"not running yet", "False", seiv1.ReasonSidecarNotReady, seiv1.NodeInitializing, false, nil},
		{"paused", "Unknown", seiv1.ReasonSidecarUnreachable, seiv1.NodeRunning, true, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			m, registry := newMetrics(t)
			running := node("rpc-0")
			running.Status.Phase = seiv1.NodeRunning
			running.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionSidecarReady, Status: metav1.ConditionTrue}}
			m.NodeObserved(running, running)

			now := running.DeepCopy()
			now.Spec.Paused = tc.paused
			now.Status.Phase = tc.phase
			now.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionSidecarReady, Status: tc.status, Reason: tc.reason}}
			m.NodeObserved(running, now)
			expect(t, registry, metrics.NameSidecarReady, tc.want...)
		})
	}
}

func TestNodeObserved_KeyReservation_ComesAndGoes(t *testing.T) {
	m, registry := newMetrics(t)
	held := node("val-0")
	held.Status.ConsensusAddress = "AB12"
	m.NodeObserved(held, held)
	expect(t, registry, metrics.NameKeyReserved, `seinode_consensus_key_reserved{name="val-0",namespace="sei"} 1`)
	m.NodeObserved(held, node("val-0"))
	expect(t, registry, metrics.NameKeyReserved)
}

func TestNodeObserved_PlanEnds_RecordsOutcomeOnce(t *testing.T) {
	m, registry := newMetrics(t)
	before, after := node("rpc-0"), node("rpc-0")
	before.Status.Plan = &seiv1.TaskPlan{ID: "p1", Phase: seiv1.PlanActive, Reason: "ImageChanged", StartedAt: at(0)}
	after.Status.LastPlan = &seiv1.PlanSummary{ID: "p1", Reason: "ImageChanged", Outcome: seiv1.OutcomeSuperseded, FinishedAt: *at(42)}

	m.NodeObserved(before, after)
	m.NodeObserved(after, after)
	expect(t, registry, metrics.NamePlanDuration,
		`sei_plan_duration_seconds_sum{kind="SeiNode",outcome="Superseded",reason="ImageChanged"} 42`,
		`sei_plan_duration_seconds_count{kind="SeiNode",outcome="Superseded",reason="ImageChanged"} 1`)
	expect(t, registry, metrics.NamePlanActiveAge)
}

func TestNodeObserved_LastPlanOfUnknownStart_RecordsNoDuration(t *testing.T) {
	m, registry := newMetrics(t)
	after := node("rpc-0")
	after.Status.LastPlan = &seiv1.PlanSummary{ID: "p1", Outcome: seiv1.OutcomeComplete, FinishedAt: metav1.NewTime(time.Now())}
	m.NodeObserved(node("rpc-0"), after)
	expect(t, registry, metrics.NamePlanDuration)
}
