package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestNodeObserved_ReadyAndUpdate_FollowTheConditionsOfARunningNode(t *testing.T) {
	cases := []struct {
		name          string
		phase         seiv1.SeiNodePhase
		ready, update metav1.Condition
		want          []string
	}{
		{"settled", seiv1.NodeRunning, metav1.Condition{Status: "True"}, metav1.Condition{Status: "False", Reason: seiv1.ReasonUpdateComplete}, []string{"ready 1", "update 0"}},
		{"updating", seiv1.NodeRunning, metav1.Condition{Status: "False"}, metav1.Condition{Status: "True"}, []string{"ready 0", "update 1"}},
		{"lost", seiv1.NodeRunning, metav1.Condition{Status: "Unknown"}, metav1.Condition{Status: "False"}, []string{"ready 0", "update 0"}},
		{"update failed", seiv1.NodeRunning, metav1.Condition{Status: "False"}, metav1.Condition{Status: "False", Reason: seiv1.ReasonUpdateFailed}, []string{"ready 0", "update 1"}},
		{"coming up", seiv1.NodeInitializing, metav1.Condition{Status: "False"}, metav1.Condition{Status: "False"}, nil},
		{"failed", seiv1.NodeFailed, metav1.Condition{Status: "False"}, metav1.Condition{Status: "False"}, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			m, registry := newMetrics(t)
			n := node("rpc-0")
			n.Status.Phase = tc.phase
			tc.ready.Type, tc.update.Type = seiv1.ConditionReady, seiv1.ConditionNodeUpdateInProgress
			n.Status.Conditions = []metav1.Condition{tc.ready, tc.update}
			m.NodeObserved(n, n)
			var got []string
			for _, line := range series(t, registry, metrics.NameNodeReady, metrics.NameNodeUpdate) {
				line = strings.ReplaceAll(line, `{name="rpc-0",namespace="sei"}`, "")
				got = append(got, strings.NewReplacer("seinode_ready", "ready", "seinode_update_unfinished", "update").Replace(line))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("gauges (-want +got):\n%s", diff)
			}
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
