package node_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// wrote has the active plan write a configuration in this pass.
func wrote(p *node.Pass, hash string) {
	raw := []byte(`{"configHash":"` + hash + `"}`)
	planFor(p, node.ReasonConfigChanged)
	p.Node.Status.Plan.Tasks = []v1alpha1.PlannedTask{
		{Type: node.StepConfigApply, Status: v1alpha1.TaskComplete, Params: &apiextensionsv1.JSON{Raw: raw}},
	}
	p.Progress.Steps = []plan.Step{{Task: &p.Node.Status.Plan.Tasks[0], Outcome: plan.Done("")}}
}

// ended takes the active plan out of status, as a pass does when it ends.
func ended(p *node.Pass, phase v1alpha1.PlanPhase) {
	p.Ended, p.Node.Status.Plan = p.Node.Status.Plan, nil
	p.Ended.Phase = phase
}

func TestReport_ConfigHash_IsThatOnTheVolume(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Pass)
		want   string
	}{
		"the sidecar tells":                   {func(p *node.Pass) { p.Facts.Document.Home.ConfigHash = "told" }, "told"},
		"nobody tells":                        {func(p *node.Pass) { p.Facts.Document = nil }, "c1-s1"},
		"written since the sidecar told":      {func(p *node.Pass) { wrote(p, "new") }, "new"},
		"written by the plan that ended here": {func(p *node.Pass) { wrote(p, "new"); ended(p, v1alpha1.PlanComplete) }, "new"},
		"not written yet": {func(p *node.Pass) {
			wrote(p, "new")
			p.Progress.Steps[0].Outcome = plan.Wait("", "", 0)
		}, "c1-s1"},
	} {
		p := settledPass()
		c.change(p)
		if got := node.Report(p).ConfigHash; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReport_BroughtUp_WhenAPlanHasOpenedTheGate(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		phase v1alpha1.PlanPhase
		want  v1alpha1.SeiNodePhase
	}{
		"the gate is open":       {node.StepMarkReady, v1alpha1.PlanComplete, v1alpha1.NodeRunning},
		"the plan has no gate":   {node.StepTeardownBootstrap, v1alpha1.PlanComplete, v1alpha1.NodeInitializing},
		"the plan failed before": {node.StepMarkReady, v1alpha1.PlanFailed, v1alpha1.NodeFailed},
	} {
		p := settledPass()
		newNode(p)
		planFor(p, node.ReasonNewNode)
		p.Endpoint = v1alpha1.NodeEndpoint{P2P: "n-0:26656"}
		p.Node.Status.Plan.Tasks[0].Type = c.step
		ended(p, c.phase)
		p.Node.Status.LastPlan = &v1alpha1.PlanSummary{Reason: node.ReasonNewNode, Outcome: v1alpha1.PlanOutcome(c.phase)}
		got := node.Report(p)
		up := c.want == v1alpha1.NodeRunning
		if got.Phase != c.want || (got.InitializedAt != nil) != up || (got.Endpoint != nil) != up {
			t.Errorf("%s: phase %s, up since %v, endpoint %v", name, got.Phase, got.InitializedAt, got.Endpoint)
		}
		if got.PhaseTransitionTime == nil || !got.PhaseTransitionTime.Time.Equal(passAt) {
			t.Errorf("%s: in its phase since %v", name, got.PhaseTransitionTime)
		}
	}
}

func TestReport_SamePhase_KeepsItsTime(t *testing.T) {
	p := settledPass()
	since := metav1.NewTime(passAt.Add(-time.Hour))
	p.Node.Status.PhaseTransitionTime = &since
	if got := node.Report(p).PhaseTransitionTime; !got.Equal(&since) {
		t.Errorf("since %v, want %v", got, since)
	}
}

// A pod whose sidecar runs has both images; before that it only tries to.
func TestReport_Images_AreThoseThatRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Pass)
		want   string
	}{
		"a pod whose sidecar runs":  {func(*node.Pass) {}, "new"},
		"a pod that is starting":    {func(p *node.Pass) { p.Pod.SidecarRuns = false }, "old"},
		"a pod of nobody":           {func(p *node.Pass) { p.SidecarRuns = false }, "old"},
		"the pod of a bootstrap":    {func(p *node.Pass) { p.Pod.Bootstrap = true }, "old"},
		"no pod":                    {func(p *node.Pass) { p.Pod = nil }, "old"},
		"a pod that was taken away": {func(p *node.Pass) { p.Pod.SidecarRuns, p.Pod.Leaving = false, true }, "old"},
	} {
		p := settledPass()
		p.Node.Status.CurrentImage, p.Node.Status.CurrentSidecarImage, p.Node.Status.PodTemplateHash = "old", "old", "old"
		p.Pod.Build.Image, p.Pod.Build.SidecarImage, p.Pod.Build.TemplateHash = "new", "new", "new"
		c.change(p)
		got := node.Report(p)
		if got.CurrentImage != c.want || got.CurrentSidecarImage != c.want || got.PodTemplateHash != c.want {
			t.Errorf("%s: %s, %s, %s, want %s", name, got.CurrentImage, got.CurrentSidecarImage, got.PodTemplateHash, c.want)
		}
	}
}

// N14: an edit that could not be looked at is not observed, and what was known of peers stays.
func TestReport_PassThatFailed_ObservesNothing(t *testing.T) {
	p := settledPass()
	p.Node.Generation, p.Node.Status.ResolvedPeers, p.Err = 3, []string{"a@x"}, errors.New("no answer")
	if got := node.Report(p); got.ObservedGeneration != 2 || len(got.ResolvedPeers) != 1 {
		t.Errorf("generation %d, peers %v", got.ObservedGeneration, got.ResolvedPeers)
	}
	p.Err = nil
	if got := node.Report(p); got.ObservedGeneration != 3 || len(got.ResolvedPeers) != 0 {
		t.Errorf("generation %d, peers %v", got.ObservedGeneration, got.ResolvedPeers)
	}
}

func TestReport_SettledNode_IsNotWrittenTwiceAndItsInputIsLeftAlone(t *testing.T) {
	for _, c := range states {
		p := settledPass()
		c.change(p)
		before := p.Node.DeepCopy()
		first := node.Report(p)
		if diff := cmp.Diff(before, p.Node); diff != "" {
			t.Errorf("%s: the node was changed:\n%s", c.name, diff)
		}
		p.Node.Status, p.Now = *first, passAt.Add(time.Minute)
		if diff := cmp.Diff(first, node.Report(p)); diff != "" {
			t.Errorf("%s: the same pass a minute later says something else:\n%s", c.name, diff)
		}
	}
}

func TestReportTerminating_SaysWhatItWaitsFor(t *testing.T) {
	p := settledPass()
	report(p)
	p.Node.Generation = 3
	got := node.ReportTerminating(p.Node, "", passAt)
	if got.Phase != v1alpha1.NodeTerminating || got.ObservedGeneration != 3 || !got.PhaseTransitionTime.Time.Equal(passAt) {
		t.Errorf("phase %s since %v, generation %d, want %s since %v, generation 3",
			got.Phase, got.PhaseTransitionTime, got.ObservedGeneration, v1alpha1.NodeTerminating, passAt)
	}
	if !conditions.Is(got.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating) {
		t.Errorf("conditions %+v, want %s to be False for %s", got.Conditions, v1alpha1.ConditionReady, v1alpha1.ReasonTerminating)
	}
	p.Node.Status = *got
	if again := node.ReportTerminating(p.Node, "", passAt.Add(time.Minute)); !again.PhaseTransitionTime.Time.Equal(passAt) {
		t.Errorf("terminating since %v", again.PhaseTransitionTime)
	}
	if stray := node.ReportTerminating(p.Node, "n-0", passAt); !strings.HasSuffix(stray.Problem, "pod n-0 keeps running, because its StatefulSet was deleted without it: delete the pod") {
		t.Errorf("problem %q", stray.Problem)
	}
}

// The plan that opened the gate may have been superseded by one that had no need to, or by none.
func TestReport_BroughtUp_WhenTheGateIsOpenAndNothingIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Pass)
		up     bool
	}{
		"nothing is missing":   {func(*node.Pass) {}, true},
		"something is missing": {func(p *node.Pass) { p.Decision.Missing = []node.Missing{{Step: node.StepConfigApply}} }, false},
		"the gate is closed":   {func(p *node.Pass) { p.Facts.Document.Gate.State = api.GateClosed }, false},
		"a bootstrap pod":      {func(p *node.Pass) { p.Pod.Bootstrap = true }, false},
		"a plan runs":          {func(p *node.Pass) { planFor(p, node.ReasonNewNode) }, false},
		"nobody answers":       {func(p *node.Pass) { p.Facts.Document = nil }, false},
		"not all was read":     {func(p *node.Pass) { p.Err = errors.New("no API") }, false},
	} {
		p := settledPass()
		p.Node.Status.InitializedAt, p.Node.Status.Phase = nil, v1alpha1.NodeInitializing
		c.change(p)
		if got := node.Report(p); (got.InitializedAt != nil) != c.up {
			t.Errorf("%s: up since %v", name, got.InitializedAt)
		}
	}
}
