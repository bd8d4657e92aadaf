package metrics_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/definitions"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newMetrics(t *testing.T) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := metrics.New(registry, func() time.Time { return start.Add(time.Hour) })
	if err != nil {
		t.Fatal(err)
	}
	return m, registry
}

// series lists what is exposed of the named metrics, without buckets.
func series(t *testing.T, registry prometheus.Gatherer, names ...string) []string {
	t.Helper()
	text, err := testutil.GatherAndFormat(registry, expfmt.TypeTextPlain, names...)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func expect(t *testing.T, registry prometheus.Gatherer, name string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, series(t, registry, name)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// touchEverything writes every metric at least once, for the named object of
// each kind.
func touchEverything(m *metrics.Metrics, name string) {
	for _, kind := range kinds {
		for _, result := range statuspatch.Results() {
			m.StatusPatches(kind)("sei", name, result)
		}
	}
	before, after := node(name), node(name)
	before.Status.Phase, before.Status.PhaseTransitionTime = seiv1.NodeInitializing, at(0)
	after.Status.Phase, after.Status.PhaseTransitionTime = seiv1.NodeRunning, at(90)
	after.Status.ConsensusAddress = "AB12"
	after.Status.Upgrade = &seiv1.UpgradeStatus{State: seiv1.UpgradeHalted, Scheduled: &seiv1.ScheduledUpgrade{Name: "v7", Height: 100}}
	after.Status.Plan = &seiv1.TaskPlan{Phase: seiv1.PlanActive, Reason: "NewNode", StartedAt: at(0)}
	after.Status.Plan.Tasks = []seiv1.PlannedTask{{Type: "mark-ready", Status: seiv1.TaskRunning, StartedAt: at(60)}}
	after.Status.LastPlan = &seiv1.PlanSummary{ID: "p0", Reason: "NewNode", Outcome: seiv1.OutcomeFailed}
	for _, condition := range []string{
		seiv1.ConditionSidecarReady, seiv1.ConditionInSync, seiv1.ConditionResultsMatch, seiv1.ConditionSnapshotsPublished,
	} {
		after.Status.Conditions = append(after.Status.Conditions,
			metav1.Condition{Type: condition, Status: metav1.ConditionFalse, LastTransitionTime: *at(0)})
	}
	m.NodeObserved(before, after)
	ahead := node(name)
	ahead.Status.Upgrade = &seiv1.UpgradeStatus{State: seiv1.UpgradeScheduled, Scheduled: after.Status.Upgrade.Scheduled}
	m.UpgradeEstimated(ahead, &start)
	was, is := fleet(name), fleet(name)
	was.Status.Phase, was.Status.PhaseTransitionTime = seiv1.DeploymentReady, at(0)
	is.Status.Phase, is.Status.PhaseTransitionTime = seiv1.DeploymentUpgrading, at(60)
	was.Status.Rollout = &seiv1.RolloutStatus{TargetHash: "a", StartedAt: *at(0)}
	is.Status.Rollout = &seiv1.RolloutStatus{TargetHash: "b", StartedAt: *at(60), Upgrade: &seiv1.UpgradeRollout{Name: "v2"}}
	is.Status.Plan = after.Status.Plan
	m.DeploymentObserved(was, is)
	begun, ended := nodeTask(name), nodeTask(name)
	begun.Status.StartedAt, ended.Status.StartedAt, ended.Status.CompletedAt = at(0), at(0), at(60)
	ended.Status.Phase = seiv1.NodeTaskComplete
	m.TaskObserved(begun, ended)
	m.SidecarProbed("sei", metrics.ProbeReady)
	m.PlanEnded(seiv1.KindSeiNode, "NewNode", seiv1.OutcomeComplete, time.Minute)
	m.TasksCalled(seiv1.KindSeiNode, plan.Progress{Steps: []plan.Step{retried("mark-ready"), {
		Task:    &seiv1.PlannedTask{Type: "mark-ready", Status: seiv1.TaskComplete, StartedAt: at(0), CompletedAt: at(1)},
		Outcome: plan.Done(""),
	}}})
	m.SetBuildInfo("v1", "abc")
	m.DefinitionsCompared([]definitions.Skew{{Kind: seiv1.KindSeiNode, Missing: []string{"spec.a"}}})
	m.TokenRequested(metrics.TokenGranted)
}

// retried is a call of a task whose attempt failed and that is tried again.
func retried(task string) plan.Step {
	return plan.Step{Task: &seiv1.PlannedTask{Type: task, Status: seiv1.TaskPending}, Outcome: plan.Retry(errors.New("no peers"))}
}

// kinds are those that have a controller.
var kinds = []string{seiv1.KindSeiNode, seiv1.KindSeiNodeDeployment, seiv1.KindSeiNodeTask}

func fleet(name string) *seiv1.SeiNodeDeployment {
	return &seiv1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: name}}
}

func nodeTask(name string) *seiv1.SeiNodeTask {
	task := &seiv1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: name}}
	task.Spec.Kind = seiv1.TaskKindGovVote
	return task
}

func node(name string) *seiv1.SeiNode {
	return &seiv1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: name}}
}

func at(seconds int) *metav1.Time {
	moment := metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))
	return &moment
}

func TestDeclarations_EveryMetricIsExposedOnceTouched(t *testing.T) {
	m, registry := newMetrics(t)
	touchEverything(m, "rpc-0")
	for _, d := range metrics.Declarations() {
		if len(series(t, registry, d.Name)) == 0 {
			t.Errorf("%s is declared and never written", d.Name)
		}
		if d.Help == "" || !strings.HasSuffix(d.Help, ".") {
			t.Errorf("%s: help %q is no sentence", d.Name, d.Help)
		}
		if (d.Type == metrics.Counter) != strings.HasSuffix(d.Name, "_total") {
			t.Errorf("%s: counters, and only they, end in _total", d.Name)
		}
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A3.
func TestForget_RemovesEverySeriesOfTheObjectAndNoOther(t *testing.T) {
	m, registry := newMetrics(t)
	touchEverything(m, "rpc-0")
	touchEverything(m, "rpc-1")
	for _, kind := range kinds {
		m.Forget(kind, "sei", "rpc-0")
	}
	for _, d := range metrics.Declarations() {
		lines := series(t, registry, d.Name)
		for _, line := range lines {
			if strings.Contains(line, `"rpc-0"`) {
				t.Errorf("left behind: %s", line)
			}
		}
		if d.PerObject() && len(lines) == 0 {
			t.Errorf("%s: the series of another object are gone too", d.Name)
		}
	}
}

func TestForget_OfOneKind_KeepsANamesakeOfAnother(t *testing.T) {
	m, registry := newMetrics(t)
	touchEverything(m, "x")
	m.Forget(seiv1.KindSeiNodeDeployment, "sei", "x")
	if len(series(t, registry, metrics.NameNodePhase)) == 0 || len(series(t, registry, metrics.NameNodeStatusPatches)) == 0 {
		t.Error("forgetting a SeiNodeDeployment removed series of a SeiNode")
	}
	if len(series(t, registry, metrics.NameDeploymentStatusPatches)) != 0 {
		t.Error("series of the SeiNodeDeployment are left")
	}
	expect(t, registry, metrics.NamePlanActiveAge,
		`sei_plan_active_age_seconds{kind="SeiNode",name="x",namespace="sei",reason="NewNode"} 3600`)
}

// Namespaces are made up by users too, so what is counted by namespace goes with the
// last object in it.
func TestForget_LastObjectOfANamespace_LeavesNothingOfTheNamespace(t *testing.T) {
	m, registry := newMetrics(t)
	touchEverything(m, "x")
	other := node("elsewhere")
	other.Namespace, other.Status.Phase = "other", seiv1.NodePending
	m.NodeObserved(node("elsewhere"), other)
	m.Forget(seiv1.KindSeiNode, "sei", "x")
	m.Forget(seiv1.KindSeiNodeTask, "sei", "x")
	if len(series(t, registry, metrics.NameSidecarProbes)) == 0 {
		t.Error("the namespace was forgotten while a fleet is in it")
	}
	m.Forget(seiv1.KindSeiNodeDeployment, "sei", "x")
	m.Forget(seiv1.KindSeiNodeDeployment, "sei", "x")
	for _, d := range metrics.Declarations() {
		for _, line := range series(t, registry, d.Name) {
			if strings.Contains(line, `namespace="sei"`) {
				t.Errorf("left behind: %s", line)
			}
		}
	}
	expect(t, registry, metrics.NamePhaseTransitions, `seinode_phase_transitions_total{from="None",namespace="other",to="Pending"} 1`)
}

// A1.
func TestStatusPatches_CountsByKindAndResult(t *testing.T) {
	m, registry := newMetrics(t)
	m.StatusPatches(seiv1.KindSeiNodeDeployment)("sei", "rpc", statuspatch.Noop)
	m.StatusPatches(seiv1.KindSeiNodeDeployment)("sei", "rpc", statuspatch.Noop)
	m.StatusPatches(seiv1.KindSeiNodeDeployment)("sei", "rpc", statuspatch.Changed)
	expect(t, registry, "seinodedeployment_status_patches_total",
		`seinodedeployment_status_patches_total{name="rpc",namespace="sei",result="changed"} 1`,
		`seinodedeployment_status_patches_total{name="rpc",namespace="sei",result="noop"} 2`)
	expect(t, registry, "seinode_status_patches_total")
}

// A rate over a series that begins with its first event does not see that event.
func TestStatusPatches_OfAnObjectThatIsSeen_BeginAtZero(t *testing.T) {
	m, registry := newMetrics(t)
	m.NodeObserved(node("rpc-0"), node("rpc-0"))
	m.StatusPatches(seiv1.KindSeiNode)("sei", "rpc-0", statuspatch.Changed)
	m.NodeObserved(node("rpc-0"), node("rpc-0"))
	expect(t, registry, metrics.NameNodeStatusPatches,
		`seinode_status_patches_total{name="rpc-0",namespace="sei",result="changed"} 1`,
		`seinode_status_patches_total{name="rpc-0",namespace="sei",result="conflict"} 0`,
		`seinode_status_patches_total{name="rpc-0",namespace="sei",result="error"} 0`,
		`seinode_status_patches_total{name="rpc-0",namespace="sei",result="noop"} 0`)
}

func TestStatusPatches_ForeignKind_Panics(t *testing.T) {
	m, _ := newMetrics(t)
	defer func() {
		if recover() == nil {
			t.Error("a kind without a counter was accepted")
		}
	}()
	m.StatusPatches("Pod")
}

// A3.
func TestDefault_IsInTheRegistryTheManagerServes(t *testing.T) {
	m := metrics.Default()
	m.SetBuildInfo("v1.2.3", "abc")
	lines := series(t, ctrlmetrics.Registry, metrics.NameBuildInfo)
	if len(lines) != 1 || !strings.Contains(lines[0], `version="v1.2.3"`) {
		t.Errorf("build info is %v", lines)
	}
	if again := metrics.Default(); again != m {
		t.Error("two defaults")
	}
}

func TestPlanActive_AgeGrowsUntilThePlanEnds(t *testing.T) {
	m, registry := newMetrics(t)
	n := node("rpc-0")
	n.Status.Plan = &seiv1.TaskPlan{Phase: seiv1.PlanActive, Reason: "ImageChanged", StartedAt: at(600)}
	m.NodeObserved(n, n)
	expect(t, registry, metrics.NamePlanActiveAge,
		`sei_plan_active_age_seconds{kind="SeiNode",name="rpc-0",namespace="sei",reason="ImageChanged"} 3000`)
	n.Status.Plan.Phase = seiv1.PlanFailed
	m.NodeObserved(n, n)
	expect(t, registry, metrics.NamePlanActiveAge)
}

func TestLabels_WordsNobodyDeclared_BecomeOther(t *testing.T) {
	m, registry := newMetrics(t)
	for _, task := range []string{"", "héight", "with space", strings.Repeat("x", 65)} {
		m.TasksCalled(seiv1.KindSeiNode, plan.Progress{Steps: []plan.Step{retried(task)}})
	}
	m.TasksCalled(seiv1.KindSeiNode, plan.Progress{Steps: []plan.Step{retried("mark-ready")}})
	expect(t, registry, metrics.NameTaskRetries,
		`sei_plan_task_retries_total{kind="SeiNode",task="Other"} 4`,
		`sei_plan_task_retries_total{kind="SeiNode",task="mark-ready"} 1`)
}

func TestTasksCalled_CountsRetriesAndEndsAndNoWaits(t *testing.T) {
	m, registry := newMetrics(t)
	running := &seiv1.PlannedTask{Type: "config-apply", Status: seiv1.TaskRunning, StartedAt: at(0)}
	failed := &seiv1.PlannedTask{Type: "restart-seid", Status: seiv1.TaskFailed, StartedAt: at(0), CompletedAt: at(30)}
	m.TasksCalled(seiv1.KindSeiNode, plan.Progress{Steps: []plan.Step{
		{Task: running, Outcome: plan.Wait("", "working", 0)},
		retried("mark-ready"),
		{Task: failed, Outcome: plan.Retry(errors.New("given up after the last attempt"))},
	}})
	expect(t, registry, metrics.NameTaskRetries, metrics.NameTaskRetries+`{kind="SeiNode",task="mark-ready"} 1`)
	expect(t, registry, metrics.NameTaskDuration,
		metrics.NameTaskDuration+`_sum{kind="SeiNode",outcome="Failed",task="restart-seid"} 30`,
		metrics.NameTaskDuration+`_count{kind="SeiNode",outcome="Failed",task="restart-seid"} 1`)
}

func TestDefinitionsCompared_CountsMissingAndUnknownFields(t *testing.T) {
	m, registry := newMetrics(t)
	m.DefinitionsCompared([]definitions.Skew{{Kind: seiv1.KindSeiNode, Missing: []string{"spec.a", "spec.b"}, Unknown: []string{"spec.c"}}})
	expect(t, registry, metrics.NameDefinitionFields,
		`sei_operator_crd_fields{kind="SeiNode",state="missing"} 2`, `sei_operator_crd_fields{kind="SeiNode",state="unknown"} 1`)
	m.DefinitionsCompared([]definitions.Skew{{Kind: seiv1.KindSeiNode}})
	expect(t, registry, metrics.NameDefinitionFields,
		`sei_operator_crd_fields{kind="SeiNode",state="missing"} 0`, `sei_operator_crd_fields{kind="SeiNode",state="unknown"} 0`)
}
