package node_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The plans of a full node without keys, by what leads to them.
const (
	bringUp      = "ensure-data-pvc apply-statefulset apply-service observe-image configure-genesis config-apply config-validate mark-ready"
	update       = "apply-statefulset replace-pod observe-image config-apply config-validate mark-ready"
	reconfigure  = "config-apply config-validate restart-seid"
	jobThenNode  = "ensure-data-pvc deploy-bootstrap-job apply-service " + jobHome + " " + afterJob
	jobHome      = "snapshot-restore configure-genesis config-apply configure-state-sync config-validate mark-ready"
	afterJob     = "await-bootstrap-complete teardown-bootstrap " + nodeAfterJob
	nodeAfterJob = "apply-statefulset observe-image configure-genesis config-apply config-validate mark-ready"
)

func list(tasks string) []string { return strings.Fields(tasks) }

// row is one situation and what is decided in it.
type row struct {
	name   string
	in     node.Input
	action node.Action
	reason string
	// tasks of the plan that begins.
	tasks string
	// says is in the plan's message, why in the reason why the old one ends, held in what is
	// held back.
	says, why, held string
}

func (r *row) check(t *testing.T) {
	t.Helper()
	d := node.Decide(r.in)
	if d.Action != r.action || d.Plan.Reason != r.reason {
		t.Errorf("action %d reason %q, want %d %q; why %q, held back %q", d.Action, d.Plan.Reason, r.action, r.reason, d.Why, d.HeldBack)
	}
	if got := strings.Join(d.Plan.Tasks, " "); got != r.tasks {
		t.Errorf("the plan is\n\t%s, want\n\t%s", got, r.tasks)
	}
	for what, c := range map[string][2]string{"the plan says": {d.Plan.Message, r.says}, "why": {d.Why, r.why}, "held back": {d.HeldBack, r.held}} {
		if !strings.Contains(c[0], c[1]) || c[1] == "" && what == "held back" && c[0] != "" {
			t.Errorf("%s: %q, want %q", what, c[0], c[1])
		}
	}
}

func checkAll(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, r.check)
	}
}

func TestDecide_NodeThatWasBroughtUp(t *testing.T) {
	checkAll(t, []row{
		{name: "a settled node keeps still", in: running()},
		{
			name: "a paused node is held, whatever else is true",
			in:   with(wants(buildB), config("c2-s2"), podLost, func(in *node.Input) { in.Target.Paused = true }), action: node.Hold,
		},
		{
			name: "another image is an update that configures behind the closed gate of the new pod", in: with(wants(buildB)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update, says: "image changes from seid:a to seid:b",
		},
		{ // B4
			name: "an update beside a closed gate and a changed configuration is one plan", in: with(wants(buildB), config("c2-s2"), podLost),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name: "an update of a validator checks and reserves its key anew", in: with(wants(buildB), signing),
			action: node.Start, reason: node.ReasonImageChanged, tasks: "validate-signing-key reserve-consensus-key " + update,
		},
		{
			name: "a sidecar image that the spec names is an update",
			in: with(func(in *node.Input) {
				in.Target.SidecarImage, in.Target.SpecHash, in.Target.PodTemplateHash = "sidecar:2", "sa2", "ta2"
			}),
			action: node.Start, reason: node.ReasonSidecarChanged, tasks: update, says: "from sidecar:1 to sidecar:2",
		},
		{
			name: "another pod template of the spec is an update", in: with(func(in *node.Input) { in.Target.SpecHash, in.Target.PodTemplateHash = "sa2", "ta2" }),
			action: node.Start, reason: node.ReasonPodTemplateChanged, tasks: update,
		},
		{
			name: "a restart is an update",
			in: with(func(in *node.Input) {
				in.Target.Restart, in.Target.SpecHash, in.Target.PodTemplateHash = "now", "sa2", "ta2"
			}),
			action: node.Start, reason: node.ReasonRestartRequested, tasks: update, says: `restart "now"`,
		},
		{ // C9
			name: "a StatefulSet that is ahead of the spec is brought back", in: with(func(in *node.Input) { in.Facts.StatefulSet = &buildB }),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update, says: "from seid:b to seid:a",
		},
		{
			name: "a pod that is older than its template is replaced", in: with(func(in *node.Input) { in.Facts.Pod.TemplateHash = "ta0" }),
			action: node.Start, reason: node.ReasonPodOutdated, tasks: "replace-pod observe-image config-apply config-validate mark-ready",
		},
		{name: "without a pod the StatefulSet tells what will run", in: with(silent, func(in *node.Input) { in.Facts.Pod = nil })},
		{
			name: "a pod that may be on its way from an old template is replaced too", in: with(wants(buildB), silent, func(in *node.Input) { in.Facts.Pod = nil }),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{name: "a StatefulSet that was deleted is the repair's business", in: with(func(in *node.Input) { in.Facts.StatefulSet = nil })},
		{name: "so is a Service", in: with(func(in *node.Input) { in.Facts.Service = false })},
		{name: "a claim that is gone is never made anew unasked", in: with(silent, func(in *node.Input) { in.Facts.Claim, in.Facts.Pod = false, nil })},
		{
			name: "another configuration is written to the running node", in: with(config("c2-s2")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{
			name: "files that somebody edited are written anew", in: with(onDisk("")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{ // B1
			name: "a closed gate is opened", in: with(podLost),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{ // S1
			name: "the gate of a validator is opened behind a look at its keys", in: with(podLost, signing, func(in *node.Input) { in.Target.NodeKey = true }),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "validate-signing-key validate-node-key reserve-consensus-key mark-ready",
		},
		{ // S1
			name: "the key on a volume is reserved before the gate opens too", in: with(podLost, func(in *node.Input) { in.Target.Signs = true }),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "reserve-consensus-key mark-ready",
		},
		{ // B3
			name: "a sidecar that does not answer starts nothing", in: with(silent, config("c2-s2")),
		},
		{
			name: "files that were validated for another version are written and validated anew", in: with(podLost, validated(true, "a0")),
			action: node.Start, reason: node.ReasonConfigUnvalidated, tasks: "config-apply config-validate mark-ready",
		},
		{
			name: "files that nobody validated are validated", in: with(func(in *node.Input) { in.Facts.Document.Home.Validation = nil }),
			action: node.Start, reason: node.ReasonConfigUnvalidated, tasks: "config-validate",
		},
		{
			name: "a volume that was lost is prepared again", in: with(podLost, func(in *node.Input) { in.Facts.Document.Home = api.Home{Stage: api.HomeEmpty} }),
			action: node.Start, reason: node.ReasonHomeEmpty, tasks: "configure-genesis config-apply config-validate mark-ready",
		},
		{name: "an operation that holds the gate is left alone", in: with(wants(buildB), config("c2-s2"), func(in *node.Input) {
			in.Facts.Document.Gate.State = api.GateHeld
		}), held: "an operation holds the start gate closed"},
	})
}

func TestDecide_ValidatorOnAnEmptyVolume_StandsStillUntilToldTo(t *testing.T) {
	emptied := func(in *node.Input) { in.Facts.Document.Home = api.Home{Stage: api.HomeEmpty} }
	prepare := "configure-genesis config-apply config-validate mark-ready"
	checkAll(t, []row{
		{name: "it might sign twice what it has forgotten", in: with(podLost, signing, emptied), held: v1alpha1.AnnotationRetry},
		{name: "an edit is no permission", in: with(podLost, signing, emptied, wants(buildB), signing), held: "its signing state is lost"},
		{name: "neither is a retry of its whole fleet", in: with(podLost, signing, emptied, fleetRetried), held: "of this SeiNode"},
		{
			name: "the annotation is", in: with(podLost, signing, emptied, retried),
			action: node.Start, reason: node.ReasonHomeEmpty, tasks: "validate-signing-key reserve-consensus-key " + prepare,
		},
		{name: "a sidecar that does not answer says nothing about its volume", in: with(signing, silent)},
	})
}

func TestDecide_ActivePlan(t *testing.T) {
	checkAll(t, []row{
		{name: "one that leads to the target goes on", in: with(wants(buildB), active(node.ReasonImageChanged, list(update)))},
		{
			name: "one whose work is done already ends by itself",
			in:   with(active(node.ReasonConfigChanged, list(reconfigure), node.StepConfigApply, node.StepConfigValidate)),
		},
		{ // C9
			name: "a second image change before the first was applied goes on to the new one",
			in:   with(wants(buildB), active(node.ReasonImageChanged, list(update)), wants(buildC)),
		},
		{ // C9
			name:   "a second image change in the middle supersedes the first",
			in:     with(wants(buildB), active(node.ReasonImageChanged, list(update), node.StepApplyStatefulSet), func(in *node.Input) { in.Facts.StatefulSet = &buildB }, wants(buildC)),
			action: node.Supersede, reason: node.ReasonImageChanged, tasks: update, why: "step apply-statefulset is missing too",
		},
		{ // C9
			name:   "going back in the middle supersedes too",
			in:     with(wants(buildB), active(node.ReasonImageChanged, list(update), node.StepApplyStatefulSet), func(in *node.Input) { in.Facts.StatefulSet = &buildB }, wants(buildA)),
			action: node.Supersede, reason: node.ReasonImageChanged, tasks: update, says: "from seid:b to seid:a",
		},
		{
			name: "an image change supersedes the opening of a gate", in: with(podLost, active(node.ReasonSidecarNotReady, list("mark-ready")), wants(buildB)),
			action: node.Supersede, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name: "a configuration that changes before the update writes it needs no other plan",
			in:   with(wants(buildB), active(node.ReasonImageChanged, list(update), node.StepApplyStatefulSet), updatedTo(buildB, "b"), podLost, config("c2-s2")),
		},
		{
			name: "one that changes after it was written does",
			in: with(wants(buildB), active(node.ReasonImageChanged, list(update), list("apply-statefulset replace-pod observe-image config-apply")...),
				updatedTo(buildB, "b"), validated(true, "b"), podLost, config("c2-s2")),
			action: node.Supersede, reason: node.ReasonConfigChanged, tasks: "config-apply config-validate mark-ready", why: "step config-apply is missing too",
		},
		{
			name: "a step that is not asked for any more ends the plan, and what is left begins another",
			in: with(config("c2-s2"), active(node.ReasonConfigChanged, list(reconfigure)), podLost, config(""), func(in *node.Input) {
				in.Target.ConfigProblem = "spec.overrides: no such key"
			}),
			action: node.Supersede, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{
			name: "with nothing left it is dropped",
			in: with(config("c2-s2"), active(node.ReasonConfigChanged, list(reconfigure)), config(""), func(in *node.Input) {
				in.Target.ConfigProblem = "spec.overrides: no such key"
			}),
			action: node.Drop, why: "step config-apply is no longer needed",
		},
		{
			name: "a sidecar that falls silent interrupts nothing",
			in:   with(config("c2-s2"), active(node.ReasonConfigChanged, list(reconfigure), node.StepConfigApply), silent),
		},
		{
			name: "a paused node keeps its plan",
			in:   with(wants(buildB), active(node.ReasonImageChanged, list(update)), func(in *node.Input) { in.Target.Paused = true }), action: node.Hold,
		},
	})
}
