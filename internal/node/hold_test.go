package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestDecide_StepThatFailed_HoldsBackItselfAndWhatNeedsIt(t *testing.T) {
	checkAll(t, []row{
		{
			name: "an update that failed is left alone for a while",
			in:   with(wants(buildB), failed(node.ReasonImageChanged, node.StepApplyStatefulSet, time.Minute)),
			held: "ImageChanged failed at step apply-statefulset",
		},
		{
			name: "and tried again later", in: with(wants(buildB), failed(node.ReasonImageChanged, node.StepApplyStatefulSet, 5*time.Minute)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name:   "or at once when the target changed",
			in:     with(wants(buildB), failed(node.ReasonImageChanged, node.StepApplyStatefulSet, time.Minute), wants(buildC)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name: "or at once when asked to", in: with(wants(buildB), failed(node.ReasonImageChanged, node.StepApplyStatefulSet, time.Minute), retried),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name:   "a configuration that cannot be written does not keep a lost pod down",
			in:     with(podLost, config("c2-s2"), failed(node.ReasonConfigChanged, node.StepConfigApply, time.Minute)),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready", held: "failed at step config-apply",
		},
		{
			name: "a key that was not accepted keeps the gate closed",
			in:   with(podLost, signing, failed(node.ReasonSidecarNotReady, node.StepReserveConsensusKey, time.Minute)),
			held: "failed at step reserve-consensus-key",
		},
		{
			name: "a gate that did not open is tried again soon", in: with(podLost, failed(node.ReasonSidecarNotReady, node.StepMarkReady, 30*time.Second)),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{
			name: "but not at once", in: with(podLost, failed(node.ReasonSidecarNotReady, node.StepMarkReady, 29*time.Second)),
			held: "failed at step mark-ready",
		},
		{name: "a failure that concerns nothing missing holds nothing back", in: with(failed(node.ReasonConfigChanged, node.StepRestartSeid, time.Minute))},
		{
			name: "nor does one of another target", in: with(failed(node.ReasonConfigChanged, node.StepConfigApply, time.Minute), config("c2-s2")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{
			name: "a plan that was superseded failed at nothing",
			in: with(config("c2-s2"), failed(node.ReasonConfigChanged, node.StepConfigApply, time.Minute), func(in *node.Input) {
				in.Last.Outcome = v1alpha1.OutcomeSuperseded
			}),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{ // S2
			name: "no gate opens on files that failed validation",
			in:   with(podLost, validated(false, "a"), failed(node.ReasonConfigUnvalidated, node.StepConfigValidate, time.Minute)),
			held: "failed at step config-validate",
		},
	})
}

func TestDecide_FailedStep_SaysWhenItIsDueAgain(t *testing.T) {
	for name, c := range map[string]struct {
		in   node.Input
		want time.Duration
	}{
		"an update":           {with(wants(buildB), failed(node.ReasonImageChanged, node.StepApplyStatefulSet, time.Minute)), 4 * time.Minute},
		"a gate":              {with(podLost, failed(node.ReasonSidecarNotReady, node.StepMarkReady, 10*time.Second)), 20 * time.Second},
		"never at once":       {with(podLost, failed(node.ReasonSidecarNotReady, node.StepMarkReady, 30*time.Second-time.Millisecond)), time.Second},
		"a bring-up":          {fresh(emptyHome, failed(node.ReasonNewNode, node.StepConfigApply, time.Minute)), 0},
		"a gate that is held": {with(func(in *node.Input) { in.Facts.Document.Gate.State = api.GateHeld }), 5 * time.Second},
		"nothing held back":   {running(), 0},
	} {
		if got := node.Decide(c.in).RecheckAfter; got != c.want {
			t.Errorf("%s is due in %s, want %s", name, got, c.want)
		}
	}
}

// A sidecar of an older level tells only whether its gate is open. Unknown starts nothing but
// what makes it known.
func TestDecide_OlderSidecar(t *testing.T) {
	halfway := list("ensure-data-pvc apply-statefulset apply-service observe-image configure-genesis config-apply")
	bringingUp := func(in *node.Input) {
		emptyHome(in)
		older(in)
		in.Facts.Document.Home = api.Home{ConfigHash: "c1-s1", Validation: &api.Validation{Valid: true}}
	}
	checkAll(t, []row{
		{name: "a settled node keeps still", in: with(older)},
		{
			name: "another configuration is written by what the operator remembers", in: with(older, config("c2-s2")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{name: "another image is an update", in: with(older, wants(buildB)), action: node.Start, reason: node.ReasonImageChanged, tasks: update},
		{
			name: "a new node is brought up", in: fresh(bringingUp),
			action: node.Start, reason: node.ReasonNewNode, tasks: "configure-genesis config-apply config-validate mark-ready",
		},
		{name: "its plan goes on after the configuration was written", in: fresh(active(node.ReasonNewNode, list(bringUp), halfway...), bringingUp)},
		{ // S2: it does not remember whether its files are valid, and has no last good ones
			name: "a closed gate is opened behind a validation", in: with(older, podLost),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "config-validate mark-ready",
		},
		{
			name: "a validation that failed keeps it closed", in: with(older, podLost, failed(node.ReasonConfigUnvalidated, node.StepConfigValidate, time.Minute)),
			held: "failed at step config-validate",
		},
	})
}

func TestDecide_OperatorRendersAnotherTemplate_SaysWhatTheNextRestartPicksUp(t *testing.T) {
	for name, c := range map[string]struct {
		in   node.Input
		want bool
	}{
		"another template":                   {with(func(in *node.Input) { in.Target.PodTemplateHash = "ta2" }), true},
		"another default sidecar image":      {with(func(in *node.Input) { in.Target.SidecarImage, in.Target.PodTemplateHash = "sidecar:2", "ta2" }), true},
		"the same":                           {running(), false},
		"the pod template changed":           {with(wants(buildB)), false},
		"no pod that runs the old one":       {with(func(in *node.Input) { in.Target.PodTemplateHash, in.Facts.Pod = "ta2", nil }), false},
		"a template that cannot be rendered": {with(func(in *node.Input) { in.Target.PodTemplateHash, in.Target.TemplateProblem = "", "no" }), false},
		"while paused":                       {with(func(in *node.Input) { in.Target.PodTemplateHash, in.Target.Paused = "ta2", true }), true},
	} {
		got := node.Decide(c.in)
		if strings.Contains(got.PendingRestart, v1alpha1.AnnotationRestart) != c.want || c.want && got.Action == node.Start {
			t.Errorf("%s: action %d, pending %q", name, got.Action, got.PendingRestart)
		}
	}
}

func TestSameConfig_TwoPartsOfAHash(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		same, spec bool
	}{
		{"1-1", "1-1", true, true},
		{"1-1", "2-1", false, true},
		{"1-1", "2-2", false, false},
		{"1", "1-1", true, true},   // an older operator knew the whole only
		{"1", "2-1", false, false}, // and of another whole nothing is known
		{"1", "2", false, false},
		{"", "", true, true},
		{"", "1-1", false, false},
	} {
		for _, swap := range []bool{false, true} {
			a, b := c.a, c.b
			if swap {
				a, b = b, a
			}
			if same, spec := node.SameConfig(a, b), node.SameSpecConfig(a, b); same != c.same || spec != c.spec {
				t.Errorf("%q and %q: same %t, of the same spec %t; want %t, %t", a, b, same, spec, c.same, c.spec)
			}
		}
	}
}

func TestRefused_OnlyThatConfigurationForThatVersion(t *testing.T) {
	in := with(refused("c2-s2"))
	for _, c := range []struct {
		hash, version string
		want          bool
	}{
		{"c2-s2", "a", true},
		{"c2-s2", "", true}, // a version that is not known is not another one
		{"c2-s2", "b", false},
		{"c1-s1", "a", false},
	} {
		in.Facts.Document.Seid.Version = c.version
		if got := in.Facts.Refused(c.hash); (got != "") != c.want {
			t.Errorf("%s for version %q: refused %q", c.hash, c.version, got)
		}
	}
}
