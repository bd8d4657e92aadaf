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

func TestNodeObserved_Publishing_HasAVerdictAndAnAge(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		status metav1.ConditionStatus
		last   *seiv1.PublishedSnapshot
		paused bool
		flag   string
		age    string
	}{
		"published":     {seiv1.ReasonPublished, "True", &seiv1.PublishedSnapshot{Height: 7, Time: *at(3000)}, false, "1", "600"},
		"failing":       {seiv1.ReasonPublishFailed, "False", &seiv1.PublishedSnapshot{Height: 7, Time: *at(3000)}, false, "0", "600"},
		"nothing yet":   {seiv1.ReasonNothingPublished, "False", nil, false, "0", "3500"},
		"not asked for": {seiv1.ReasonNotApplicable, "False", nil, false, "", ""},
		"paused":        {seiv1.ReasonPublished, "True", nil, true, "", ""},
	} {
		m, registry := newMetrics(t)
		n := node("rpc-0")
		n.Spec.Paused, n.Status.Phase, n.Status.LastPublished = c.paused, seiv1.NodeRunning, c.last
		n.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionSnapshotsPublished, Status: c.status, Reason: c.reason, LastTransitionTime: *at(100)}}
		m.NodeObserved(n, n)
		series := func(metric, value string) []string {
			if value == "" {
				return nil
			}
			return []string{metric + `{name="rpc-0",namespace="sei"} ` + value}
		}
		t.Run(name, func(t *testing.T) {
			expect(t, registry, metrics.NameSnapshotsPublished, series(metrics.NameSnapshotsPublished, c.flag)...)
			expect(t, registry, metrics.NamePublishedAge, series(metrics.NamePublishedAge, c.age)...)
			m.Forget(seiv1.KindSeiNode, "sei", "rpc-0")
			expect(t, registry, metrics.NamePublishedAge)
		})
	}
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

func TestNodeObserved_ReadyAndFirstSync_FollowTheConditionOfARunningNode(t *testing.T) {
	cases := []struct {
		name   string
		phase  seiv1.SeiNodePhase
		paused bool
		status metav1.ConditionStatus
		since  int
		want   []string
	}{
		{"in sync", seiv1.NodeRunning, false, "True", 700, []string{"ready 1"}},
		{"not yet", seiv1.NodeRunning, false, "False", 0, []string{"first sync 3000", "ready 0"}},
		{"brought up in the second it was seen", seiv1.NodeRunning, false, "False", 600, []string{"first sync 3000", "ready 0"}},
		{"no longer", seiv1.NodeRunning, false, "False", 700, []string{"ready 0"}},
		{"lost", seiv1.NodeRunning, false, "Unknown", 700, []string{"ready 0"}},
		{"coming up", seiv1.NodeInitializing, false, "False", 0, nil},
		{"failed", seiv1.NodeFailed, false, "False", 0, nil},
		{"paused", seiv1.NodeRunning, true, "False", 0, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			m, registry := newMetrics(t)
			n := node("rpc-0")
			n.Spec.Paused = tc.paused
			n.Status.Phase, n.Status.PhaseTransitionTime = tc.phase, at(600)
			n.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionInSync, Status: tc.status, LastTransitionTime: *at(tc.since)}}
			m.NodeObserved(n, n)
			short := strings.NewReplacer(`{name="rpc-0",namespace="sei"}`, "", "seinode_ready", "ready", "seinode_first_sync_age_seconds", "first sync")
			lines := series(t, registry, metrics.NameNodeReady, metrics.NameFirstSyncAge)
			for i := range lines {
				lines[i] = short.Replace(lines[i])
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("gauges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodeObserved_FailedPlan_IsToldUntilOneEndsWell(t *testing.T) {
	m, registry := newMetrics(t)
	failed := node("rpc-0")
	failed.Status.LastPlan = &seiv1.PlanSummary{ID: "p1", Reason: "ImageChanged", Outcome: seiv1.OutcomeFailed}
	again := failed.DeepCopy()
	again.Status.Plan = &seiv1.TaskPlan{
		ID: "p2", Phase: seiv1.PlanActive, Reason: "ImageChanged", StartedAt: at(0),
		Tasks: []seiv1.PlannedTask{{Type: "apply-service", Status: seiv1.TaskComplete}, {Type: "replace-pod", StartedAt: at(600)}},
	}
	m.NodeObserved(failed, again)
	expect(t, registry, metrics.NamePlanLastFailed, `sei_plan_last_failed{kind="SeiNode",name="rpc-0",namespace="sei",reason="ImageChanged"} 1`)
	expect(t, registry, metrics.NameTaskActiveAge,
		`sei_plan_task_active_age_seconds{kind="SeiNode",name="rpc-0",namespace="sei",reason="ImageChanged",task="replace-pod"} 3000`)

	paused := again.DeepCopy()
	paused.Spec.Paused = true
	m.NodeObserved(again, paused)
	for _, name := range []string{metrics.NamePlanLastFailed, metrics.NamePlanActiveAge, metrics.NameTaskActiveAge} {
		expect(t, registry, name)
	}

	m.NodeObserved(paused, again)
	done := again.DeepCopy()
	done.Status.Plan, done.Status.LastPlan = nil, &seiv1.PlanSummary{ID: "p2", Reason: "ImageChanged", Outcome: seiv1.OutcomeComplete, FinishedAt: *at(900)}
	m.NodeObserved(again, done)
	expect(t, registry, metrics.NamePlanLastFailed)
	expect(t, registry, metrics.NameTaskActiveAge)
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

func TestNodeObserved_ResultsDiverged(t *testing.T) {
	for name, c := range map[string]struct {
		status metav1.ConditionStatus
		reason string
		paused bool
		want   []string
	}{
		"compared":       {"True", seiv1.ReasonComparing, false, []string{`seinode_results_diverged{name="rpc-0",namespace="sei"} 0`}},
		"diverged":       {"False", seiv1.ReasonDiverged, false, []string{`seinode_results_diverged{name="rpc-0",namespace="sei"} 1`}},
		"paused":         {"False", seiv1.ReasonDiverged, true, nil},
		"nobody knows":   {"Unknown", seiv1.ReasonNoResultBucket, false, nil},
		"not applicable": {"False", seiv1.ReasonNotApplicable, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t)
			before, after := node("rpc-0"), node("rpc-0")
			before.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionResultsMatch, Status: "False", Reason: seiv1.ReasonDiverged}}
			after.Status.Conditions = []metav1.Condition{{Type: seiv1.ConditionResultsMatch, Status: c.status, Reason: c.reason}}
			after.Spec.Paused = c.paused
			m.NodeObserved(before, before)
			m.NodeObserved(before, after)
			expect(t, registry, metrics.NameResultsDiverged, c.want...)
		})
	}
}
