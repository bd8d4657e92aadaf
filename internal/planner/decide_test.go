package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/render"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// template is what a pod or a StatefulSet was made from.
type template struct{ image, hash, spec, restart string }

func (t template) annotations() map[string]string {
	a := map[string]string{render.AnnotationTemplateHash: t.hash, render.AnnotationSpecHash: t.spec}
	if t.restart != "" {
		a[v1alpha1.AnnotationRestart] = t.restart
	}
	return a
}

func (t template) podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: render.ContainerSeid, Image: t.image}}}
}

func (t template) pod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: t.annotations()}, Spec: t.podSpec()}
}

func (t template) statefulSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: t.annotations()}, Spec: t.podSpec(),
	}}}
}

var (
	versionA = template{image: "seid:a", hash: "ta", spec: "sa"}
	versionB = template{image: "seid:b", hash: "tb", spec: "sb"}
)

func (t template) wanted() planner.Wanted {
	return planner.Wanted{
		PlanTarget: v1alpha1.PlanTarget{Image: t.image, SidecarImage: "sidecar:1", PodTemplateHash: t.hash, ConfigHash: "c1"},
		SpecHash:   t.spec, Restart: t.restart,
	}
}

// running is a settled full node that runs version A.
func running() planner.Input {
	return planner.Input{
		Node: &v1alpha1.SeiNode{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Generation: 1},
			Spec:       v1alpha1.SeiNodeSpec{ChainID: "pacific-1", Image: "seid:a", FullNode: &v1alpha1.FullNodeSpec{}},
			Status: v1alpha1.SeiNodeStatus{
				Phase: v1alpha1.NodeRunning, ObservedGeneration: 1, ConfigHash: "c1", CurrentSidecarImage: "sidecar:1",
			},
		},
		Observed: &planner.Observation{StatefulSet: versionA.statefulSet(), Pod: versionA.pod(), Sidecar: planner.SidecarReady},
		Wanted:   versionA.wanted(),
		Now:      now,
	}
}

func with(change func(*planner.Input)) planner.Input {
	in := running()
	change(&in)
	return in
}

func activePlan(reason string, wanted planner.Wanted) *v1alpha1.TaskPlan {
	return plan.New(plan.Spec{Reason: reason, Target: wanted.PlanTarget, Tasks: []string{"x"}}, now)
}

func failed(reason string, wanted planner.Wanted, ago time.Duration) *v1alpha1.PlanSummary {
	return &v1alpha1.PlanSummary{Reason: reason, Outcome: v1alpha1.OutcomeFailed, Target: &wanted.PlanTarget, FinishedAt: metav1.NewTime(now.Add(-ago))}
}

func TestDecide(t *testing.T) {
	cases := []struct {
		name   string
		in     planner.Input
		action planner.Action
		reason string
		says   string
	}{
		{name: "a settled node keeps still", in: running(), action: planner.Keep},
		{
			name: "a new node is brought up",
			in: with(func(in *planner.Input) {
				in.Node.Status = v1alpha1.SeiNodeStatus{}
				in.Observed = &planner.Observation{}
			}),
			action: planner.Start, reason: planner.ReasonNewNode, says: "bringing up a new full node of pacific-1",
		},
		{
			name:   "a paused node is held, whatever else is true",
			in:     with(func(in *planner.Input) { in.Node.Spec.Paused = true; in.Wanted = versionB.wanted() }),
			action: planner.Hold,
		},
		{
			name:   "another image is an update",
			in:     with(func(in *planner.Input) { in.Wanted = versionB.wanted() }),
			action: planner.Start, reason: planner.ReasonImageChanged, says: "image changes from seid:a to seid:b",
		},
		{ // B4: image drift wins over a closed gate; its plan opens it too
			name: "image drift beats a closed gate and a changed configuration",
			in: with(func(in *planner.Input) {
				in.Wanted = versionB.wanted()
				in.Wanted.ConfigHash = "c2"
				in.Observed.Sidecar = planner.SidecarNotReady
			}),
			action: planner.Start, reason: planner.ReasonImageChanged,
		},
		{
			name: "a sidecar image that the spec names is an update",
			in: with(func(in *planner.Input) {
				in.Node.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "sidecar:2"}
				in.Wanted.SidecarImage = "sidecar:2"
			}),
			action: planner.Start, reason: planner.ReasonSidecarChanged, says: "from sidecar:1 to sidecar:2",
		},
		{
			name:   "a new default sidecar image rolls nothing",
			in:     with(func(in *planner.Input) { in.Wanted.SidecarImage, in.Wanted.PodTemplateHash = "sidecar:2", "ta2" }),
			action: planner.Keep,
		},
		{
			name:   "another pod template of the spec is an update",
			in:     with(func(in *planner.Input) { in.Wanted.SpecHash, in.Wanted.PodTemplateHash = "sa2", "ta2" }),
			action: planner.Start, reason: planner.ReasonPodTemplateChanged,
		},
		{
			name: "a restart is done once it is asked for",
			in: with(func(in *planner.Input) {
				in.Wanted.Restart, in.Wanted.SpecHash, in.Wanted.PodTemplateHash = "now", "sa2", "ta2"
			}),
			action: planner.Start, reason: planner.ReasonRestartRequested, says: `restart "now"`,
		},
		{ // C9: a change that was taken back half-way is taken out of the StatefulSet too
			name:   "a StatefulSet that is ahead of the spec is brought back",
			in:     with(func(in *planner.Input) { in.Observed.StatefulSet = versionB.statefulSet() }),
			action: planner.Start, reason: planner.ReasonImageChanged, says: "from seid:b to seid:a",
		},
		{
			name: "a pod that is older than its template is replaced",
			in: with(func(in *planner.Input) {
				in.Observed.Pod = template{image: "seid:a", hash: "ta0", spec: "sa"}.pod()
			}),
			action: planner.Start, reason: planner.ReasonPodOutdated,
		},
		{
			name:   "without a pod the StatefulSet tells what will run",
			in:     with(func(in *planner.Input) { in.Observed.Pod = nil }),
			action: planner.Keep,
		},
		{
			name:   "another configuration is written to the running node",
			in:     with(func(in *planner.Input) { in.Wanted.ConfigHash = "c2" }),
			action: planner.Start, reason: planner.ReasonConfigChanged,
		},
		{ // B1
			name:   "a closed gate is opened",
			in:     with(func(in *planner.Input) { in.Observed.Sidecar = planner.SidecarNotReady }),
			action: planner.Start, reason: planner.ReasonSidecarNotReady,
		},
		{ // B3
			name:   "an unreachable sidecar starts nothing",
			in:     with(func(in *planner.Input) { in.Observed.Sidecar = planner.SidecarUnreachable }),
			action: planner.Keep,
		},
		{
			name:   "a failed node stays failed by itself",
			in:     with(func(in *planner.Input) { in.Node.Status.Phase = v1alpha1.NodeFailed; in.Wanted = versionB.wanted() }),
			action: planner.Keep,
		},
		{ // D6
			name:   "a failed node tries again after a spec change",
			in:     with(func(in *planner.Input) { in.Node.Status.Phase = v1alpha1.NodeFailed; in.Node.Generation = 2 }),
			action: planner.Start, reason: planner.ReasonRetryAfterFailure, says: "spec was changed",
		},
		{ // D6
			name: "a failed node tries again when asked to",
			in: with(func(in *planner.Input) {
				in.Node.Status.Phase = v1alpha1.NodeFailed
				in.Node.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"}
			}),
			action: planner.Start, reason: planner.ReasonRetryAfterFailure, says: "sei.io/retry",
		},
		{
			name: "the same retry is not done twice",
			in: with(func(in *planner.Input) {
				in.Node.Status.Phase, in.Node.Status.RetriedFor = v1alpha1.NodeFailed, "1"
				in.Node.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"}
			}),
			action: planner.Keep,
		},
		{
			name: "an active plan with the wanted target goes on",
			in: with(func(in *planner.Input) {
				in.Wanted = versionB.wanted()
				in.Node.Status.Plan = activePlan(planner.ReasonImageChanged, in.Wanted)
			}),
			action: planner.Keep,
		},
		{ // C9: a second change in the middle of an update
			name: "a second image change supersedes the update",
			in: with(func(in *planner.Input) {
				in.Node.Status.Plan = activePlan(planner.ReasonImageChanged, versionB.wanted())
				in.Wanted = template{image: "seid:c", hash: "tc", spec: "sc"}.wanted()
			}),
			action: planner.Supersede, reason: planner.ReasonImageChanged,
		},
		{ // C9: back to A while the StatefulSet is at B already
			name: "going back in the middle supersedes the update",
			in: with(func(in *planner.Input) {
				in.Observed.StatefulSet = versionB.statefulSet()
				in.Node.Status.Plan = activePlan(planner.ReasonImageChanged, versionB.wanted())
			}),
			action: planner.Supersede, reason: planner.ReasonImageChanged, says: "from seid:b to seid:a",
		},
		{
			name: "an image change supersedes a mark-ready plan",
			in: with(func(in *planner.Input) {
				in.Node.Status.Plan = activePlan(planner.ReasonSidecarNotReady, in.Wanted)
				in.Wanted = versionB.wanted()
			}),
			action: planner.Supersede, reason: planner.ReasonImageChanged,
		},
		{
			name: "a changed configuration waits for the update to end",
			in: with(func(in *planner.Input) {
				in.Wanted.ConfigHash = "c2"
				in.Node.Status.Plan = activePlan(planner.ReasonImageChanged, in.Wanted)
			}),
			action: planner.Keep,
		},
		{
			name: "a newer configuration supersedes an older one",
			in: with(func(in *planner.Input) {
				in.Node.Status.Plan = activePlan(planner.ReasonConfigChanged, in.Wanted)
				in.Wanted.ConfigHash = "c2"
			}),
			action: planner.Supersede, reason: planner.ReasonConfigChanged,
		},
		{
			name: "another image supersedes the first bring-up",
			in: with(func(in *planner.Input) {
				in.Node.Status.Phase = v1alpha1.NodeInitializing
				in.Node.Status.Plan = activePlan(planner.ReasonNewNode, in.Wanted)
				in.Wanted = versionB.wanted()
			}),
			action: planner.Supersede, reason: planner.ReasonNewNode,
		},
		{
			name: "peers that appear do not start the bring-up over",
			in: with(func(in *planner.Input) {
				in.Node.Status.Phase = v1alpha1.NodeInitializing
				in.Node.Status.Plan = activePlan(planner.ReasonNewNode, in.Wanted)
				in.Wanted.ConfigHash = "c2"
			}),
			action: planner.Keep,
		},
		{
			name: "an update that failed is left alone for a while",
			in: with(func(in *planner.Input) {
				in.Wanted = versionB.wanted()
				in.Node.Status.LastPlan = failed(planner.ReasonImageChanged, in.Wanted, time.Minute)
			}),
			action: planner.Keep,
		},
		{
			name: "and tried again later",
			in: with(func(in *planner.Input) {
				in.Wanted = versionB.wanted()
				in.Node.Status.LastPlan = failed(planner.ReasonImageChanged, in.Wanted, 5*time.Minute)
			}),
			action: planner.Start, reason: planner.ReasonImageChanged,
		},
		{
			name: "or at once when the target changed",
			in: with(func(in *planner.Input) {
				in.Node.Status.LastPlan = failed(planner.ReasonImageChanged, versionB.wanted(), time.Minute)
				in.Wanted = template{image: "seid:c", hash: "tc", spec: "sc"}.wanted()
			}),
			action: planner.Start, reason: planner.ReasonImageChanged,
		},
		{
			name: "or at once when asked to",
			in: with(func(in *planner.Input) {
				in.Wanted = versionB.wanted()
				in.Node.Status.LastPlan = failed(planner.ReasonImageChanged, in.Wanted, time.Minute)
				in.Node.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"}
			}),
			action: planner.Start, reason: planner.ReasonImageChanged,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := planner.Decide(c.in)
			if got.Action != c.action || got.Plan.Reason != c.reason || !strings.Contains(got.Plan.Message, c.says) {
				t.Errorf("action %d reason %q message %q, want %d %q %q", got.Action, got.Plan.Reason, got.Plan.Message, c.action, c.reason, c.says)
			}
		})
	}
}

func TestDecide_OperatorRendersAnotherTemplate_SaysSoAndRollsNothing(t *testing.T) {
	in := with(func(in *planner.Input) { in.Wanted.PodTemplateHash = "ta2" })
	got := planner.Decide(in)
	if got.Action != planner.Keep || !strings.Contains(got.PendingRestart, v1alpha1.AnnotationRestart) {
		t.Errorf("action %d, pending %q", got.Action, got.PendingRestart)
	}
	if settled := planner.Decide(running()); settled.PendingRestart != "" {
		t.Errorf("a node that is up to date has a pending restart: %q", settled.PendingRestart)
	}
}

func TestDecide_FailedUpdate_SaysWhenItIsDueAgain(t *testing.T) {
	in := with(func(in *planner.Input) {
		in.Wanted = versionB.wanted()
		in.Node.Status.LastPlan = failed(planner.ReasonImageChanged, in.Wanted, time.Minute)
	})
	if got := planner.Decide(in).RecheckAfter; got != 4*time.Minute {
		t.Errorf("due in %s, want 4m", got)
	}
}

func TestDecide_PlansOfEachMode(t *testing.T) {
	key := &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "k"}}
	nodeKey := &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "n"}}
	keyring := &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{SecretName: "o"}}
	s3 := &v1alpha1.SnapshotSource{S3: &v1alpha1.S3Snapshot{TargetHeight: 7}}
	bootstrap := &v1alpha1.SnapshotSource{S3: s3.S3, BootstrapImage: "seid:old"}
	cases := []struct {
		name string
		spec v1alpha1.SeiNodeSpec
		want string
	}{
		{"full node from genesis", v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}},
			"ensure-data-pvc apply-statefulset apply-service configure-genesis config-apply config-validate mark-ready observe-image"},
		{"full node from a bucket", v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{Snapshot: s3}},
			"ensure-data-pvc apply-statefulset apply-service snapshot-restore configure-genesis config-apply configure-state-sync config-validate mark-ready observe-image"},
		{"full node by state sync", v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{Snapshot: &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}}}},
			"ensure-data-pvc apply-statefulset apply-service configure-genesis config-apply configure-state-sync config-validate mark-ready observe-image"},
		{"full node with a bootstrap image", v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{Snapshot: bootstrap}},
			"ensure-data-pvc deploy-bootstrap-job apply-service snapshot-restore configure-genesis config-apply configure-state-sync config-validate mark-ready " +
				"await-bootstrap-complete teardown-bootstrap apply-statefulset apply-service configure-genesis config-apply config-validate mark-ready observe-image"},
		{"archive", v1alpha1.SeiNodeSpec{Archive: &v1alpha1.ArchiveSpec{}},
			"ensure-data-pvc apply-statefulset apply-service configure-genesis config-apply config-validate mark-ready observe-image"},
		{"validator with keys", v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{SigningKey: key, NodeKey: nodeKey, OperatorKeyring: keyring}},
			"ensure-data-pvc validate-signing-key validate-node-key validate-operator-keyring reserve-consensus-key " +
				"apply-statefulset apply-service configure-genesis config-apply config-validate mark-ready observe-image"},
		{"validator in a ceremony", v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{GenesisCeremony: &v1alpha1.GenesisCeremonyMember{}}},
			"ensure-data-pvc apply-statefulset apply-service generate-identity generate-gentx await-genesis configure-genesis config-apply " +
				"set-genesis-peers config-validate mark-ready observe-image"},
		{"seed", v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{NodeKey: *nodeKey}},
			"ensure-data-pvc validate-node-key apply-statefulset apply-service configure-genesis config-apply config-validate mark-ready observe-image"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := with(func(in *planner.Input) {
				in.Node.Spec, in.Node.Status, in.Observed = c.spec, v1alpha1.SeiNodeStatus{}, &planner.Observation{}
			})
			got := planner.Decide(in).Plan
			if list := strings.Join(got.Tasks, " "); list != c.want {
				t.Errorf("got  %s\nwant %s", list, c.want)
			}
			if got.TargetPhase != v1alpha1.NodeRunning || got.FailedPhase != v1alpha1.NodeFailed {
				t.Errorf("phases %q and %q", got.TargetPhase, got.FailedPhase)
			}
		})
	}
}

// C8
func TestDecide_UpdatePlan_ConfiguresBehindTheClosedGateOfTheNewPod(t *testing.T) {
	got := planner.Decide(with(func(in *planner.Input) { in.Wanted = versionB.wanted() })).Plan
	want := "apply-statefulset apply-service replace-pod observe-image config-apply config-validate mark-ready"
	if list := strings.Join(got.Tasks, " "); list != want || got.FailedPhase != "" {
		t.Errorf("got %s, failed phase %q", list, got.FailedPhase)
	}
}

func TestDecide_BringUpAfterABadImage_ReplacesThePodItLeft(t *testing.T) {
	in := with(func(in *planner.Input) {
		in.Node.Status.Phase = v1alpha1.NodeInitializing
		in.Node.Status.Plan = activePlan(planner.ReasonNewNode, in.Wanted)
		in.Wanted = versionB.wanted()
	})
	if got := planner.Decide(in).Plan.Tasks; !slices.Contains(got, planner.TaskReplacePod) {
		t.Errorf("no %s in %v", planner.TaskReplacePod, got)
	}
}

// The pod of the old template may be on its way while the new plan is made.
func TestDecide_BringUpAfterABadImage_ReplacesThePodThatIsAboutToCome(t *testing.T) {
	in := with(func(in *planner.Input) {
		in.Node.Status.Phase = v1alpha1.NodeInitializing
		in.Node.Status.Plan = activePlan(planner.ReasonNewNode, in.Wanted)
		in.Wanted = versionB.wanted()
		in.Observed.Pod = nil
	})
	if got := planner.Decide(in).Plan.Tasks; !slices.Contains(got, planner.TaskReplacePod) {
		t.Errorf("no %s in %v", planner.TaskReplacePod, got)
	}
}
