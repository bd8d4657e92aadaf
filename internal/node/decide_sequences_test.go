package node_test

import (
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The ids are those of the cases in docs/contributing/soundness.md.
func TestDecide_Sequences(t *testing.T) {
	restarting := list(reconfigure)
	checkAll(t, []row{
		{
			name:   "N2: a typo in overrides does not keep a lost pod down",
			in:     with(podLost, config(""), func(in *node.Input) { in.Target.ConfigProblem = "spec.overrides: no such key" }),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{
			name:   "N2: an update beside a typo keeps the files, and validates them for the new version",
			in:     with(wants(buildB), config(""), func(in *node.Input) { in.Target.ConfigProblem = "spec.overrides: no such key" }),
			action: node.Start, reason: node.ReasonImageChanged, tasks: "apply-statefulset replace-pod observe-image config-validate mark-ready",
		},
		{
			name:   "a template that cannot be rendered does not keep a lost pod down",
			in:     with(podLost, func(in *node.Input) { in.Target.TemplateProblem, in.Target.SpecHash = "spec.podTemplate: no", "" }),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{name: "N3: a configuration that was refused is not written again", in: with(config("c2-s2"), refused("c2-s2"))},
		{
			name: "N3: nor does it hold a lost pod", in: with(podLost, config("c2-s2"), refused("c2-s2")),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{name: "N3: unset, there is nothing left to do", in: with(refused("c2-s2"))},
		{
			name: "N3: a corrected one is written at once", in: with(config("c3-s3"), refused("c2-s2")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{
			name: "N3: the same one is written again when asked to", in: with(config("c2-s2"), refused("c2-s2"), retried),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: reconfigure,
		},
		{
			name: "N3: another version is given what this one refused", in: with(wants(buildB), config("c2-s2"), refused("c2-s2")),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update,
		},
		{
			name: "N4: a change made while paused is written, validated and opened in one plan, without a restart", in: with(podLost, config("c2-s2")),
			action: node.Start, reason: node.ReasonConfigChanged, tasks: "config-apply config-validate mark-ready",
		},
		{
			name:   "N5: a pod lost in a reconfiguration supersedes it: there is no process to restart",
			in:     with(config("c2-s2"), active(node.ReasonConfigChanged, restarting, node.StepConfigApply, node.StepConfigValidate), onDisk("c2-s2"), podLost),
			action: node.Supersede, reason: node.ReasonSidecarNotReady, tasks: "mark-ready", why: "step mark-ready is missing too",
		},
		{
			name:   "N5: lost before anything was written, nothing is lost of the rest",
			in:     with(config("c2-s2"), active(node.ReasonConfigChanged, restarting), podLost),
			action: node.Supersede, reason: node.ReasonConfigChanged, tasks: "config-apply config-validate mark-ready",
		},
		{
			name: "N6: going back while the new configuration waits for its restart writes the old one",
			in: with(config("c2-s2"), active(node.ReasonConfigChanged, restarting, node.StepConfigApply, node.StepConfigValidate), onDisk("c2-s2"),
				restartDue, config("c1-s1")),
			action: node.Supersede, reason: node.ReasonConfigChanged, tasks: reconfigure, why: "step config-apply is missing too",
		},
		{
			name: "N7: an update whose configuration failed stays behind the gate",
			in:   with(wants(buildB), failed(node.ReasonImageChanged, node.StepConfigValidate, time.Minute), updatedTo(buildB, "b"), validated(false, "b"), podLost),
			held: "ImageChanged failed at step config-validate: seid panics",
		},
		{
			name:   "N7: and is tried again by itself, never opened alone",
			in:     with(wants(buildB), failed(node.ReasonImageChanged, node.StepConfigValidate, 5*time.Minute), updatedTo(buildB, "b"), validated(false, "b"), podLost),
			action: node.Start, reason: node.ReasonConfigUnvalidated, tasks: "config-validate mark-ready",
		},
		{
			name: "N7: it stays closed also when config-apply failed",
			in:   with(wants(buildB), failed(node.ReasonImageChanged, node.StepConfigApply, time.Minute), updatedTo(buildB, "b"), podLost),
			held: "failed at step config-apply",
		},
		{
			name:   "N7: going back is an update like any other",
			in:     with(wants(buildB), failed(node.ReasonImageChanged, node.StepConfigValidate, time.Minute), updatedTo(buildB, "b"), validated(false, "b"), podLost, wants(buildA)),
			action: node.Start, reason: node.ReasonImageChanged, tasks: update, says: "from seid:b to seid:a",
		},
		{
			name: "N8: a restart is due until it happened", in: with(restartDue),
			action: node.Start, reason: node.ReasonRestartDue, tasks: "restart-seid",
		},
		{
			name: "N8: one that failed is left alone for a while", in: with(restartDue, failed(node.ReasonConfigChanged, node.StepRestartSeid, time.Minute)),
			held: "failed at step restart-seid",
		},
		{
			name: "N8: it is tried again at once when asked to", in: with(restartDue, failed(node.ReasonConfigChanged, node.StepRestartSeid, time.Minute), retried),
			action: node.Start, reason: node.ReasonRestartDue, tasks: "restart-seid",
		},
		{
			name: "N9: peers that appear are told apart from what the spec asks for", in: with(config("c2-s1")),
			action: node.Start, reason: node.ReasonPeersChanged, tasks: reconfigure, says: "peers",
		},
		{
			name: "N9: in the first sync nothing sets state sync up again", in: with(config("c2-s1"), func(in *node.Input) {
				in.Target.Snapshot, in.Facts.Document.Home.Stage, in.Facts.Document.Home.StateSync = node.PeerSnapshot, api.HomeFirstSync, true
			}),
			action: node.Start, reason: node.ReasonPeersChanged, tasks: reconfigure,
		},
		{name: "N10: an operator that renders another template restarts nothing", in: with(func(in *node.Input) { in.Target.PodTemplateHash = "ta2" })},
		{
			name: "N10: nor does it interrupt an update that has applied its own",
			in: with(wants(buildB), active(node.ReasonImageChanged, list(update), node.StepApplyStatefulSet), func(in *node.Input) {
				in.Facts.StatefulSet, in.Target.PodTemplateHash, in.Target.SidecarImage = &buildB, "tb2", "sidecar:2"
			}),
		},
		{
			name: "N10: nor a restore that takes hours",
			in: fresh(fromBucket, active(node.ReasonNewNode, list(bucketBringUp), list("ensure-data-pvc apply-statefulset apply-service observe-image")...),
				emptyHome, func(in *node.Input) { in.Target.PodTemplateHash = "ta2" }),
		},
		{
			name: "N12: another source of the first state supersedes a bring-up that hangs on the old one",
			in: fresh(fromBucket, active(node.ReasonNewNode, list(bucketBringUp), list("ensure-data-pvc apply-statefulset apply-service observe-image")...),
				emptyHome, func(in *node.Input) { in.Target.Snapshot, in.Target.PreparationHash = node.PeerSnapshot, "p2" }),
			action: node.Supersede, reason: node.ReasonNewNode, tasks: "configure-genesis config-apply configure-state-sync config-validate mark-ready",
			why: "step snapshot-restore is no longer needed",
		},
		{
			name: "N12: so does another height in the bucket",
			in: fresh(fromBucket, active(node.ReasonNewNode, list(bucketBringUp), list("ensure-data-pvc apply-statefulset apply-service observe-image")...),
				emptyHome, func(in *node.Input) { in.Target.PreparationHash = "p2" }),
			action: node.Supersede, reason: node.ReasonNewNode, why: "the source of the first state changed",
			tasks: "snapshot-restore configure-genesis config-apply configure-state-sync config-validate mark-ready",
		},
		{name: "N13: a webhook that rewrites images changes nothing", in: with(func(in *node.Input) {
			in.Facts.Pod.Image, in.Facts.Pod.SidecarImage = "mirror/seid:a", "mirror/sidecar:1"
		})},
	})
}

// A node whose data was deleted, and that is not held any more, is set up as a new one is: from
// what its spec names. Until then it does not start.
func TestDecide_DataDeletedAndGateReleased_IsSetUpLikeANewNode(t *testing.T) {
	held := func(in *node.Input) { in.Facts.Document.Gate.State = api.GateHeld }
	underWay := func(in *node.Input) { in.Facts.Operation = "reset" }
	fromPeers := func(in *node.Input) { in.Target.Snapshot = node.PeerSnapshot }
	checkAll(t, []row{
		{name: "while it is held nothing is done", in: with(dataDeleted, fromBucket, held), held: "an operation holds the start gate closed"},
		{
			name: "nor while the operation runs whose hold the sidecar has forgotten", in: with(dataDeleted, fromBucket, underWay),
			held: "an operation holds the start gate closed",
		},
		{
			name: "nor where it has set up state sync", in: with(dataDeleted, fromPeers, underWay, func(in *node.Input) { in.Facts.Document.Home.Validation = nil }),
			held: "an operation holds the start gate closed",
		},
		{
			name: "without a snapshot it starts at the genesis", in: with(dataDeleted),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{
			name: "state sync is set up", in: with(dataDeleted, fromPeers),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "configure-state-sync config-validate mark-ready",
		},
		{
			name: "unless it is", in: with(dataDeleted, fromPeers, func(in *node.Input) { in.Facts.Document.Home.StateSync = true }),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{
			name: "a snapshot is restored again", in: with(dataDeleted, fromBucket),
			action: node.Start, reason: node.ReasonHomeEmpty, tasks: "snapshot-restore configure-state-sync config-validate mark-ready",
		},
		{
			name: "once", in: with(dataDeleted, fromBucket, func(in *node.Input) {
				in.Facts.Document.Home.Emptied, in.Facts.Document.Home.StateSync = false, true
			}),
			action: node.Start, reason: node.ReasonSidecarNotReady, tasks: "mark-ready",
		},
		{name: "an open gate is not doubted", in: with(dataDeleted, fromBucket, func(in *node.Input) {
			in.Facts.Document.Gate.State, in.Facts.Document.Seid.State = api.GateOpen, api.SeidRunning
		})},
	})
}

// dataDeleted is a reset that is complete, behind a gate that nobody holds.
func dataDeleted(in *node.Input) {
	podLost(in)
	in.Facts.Document.Home.Stage, in.Facts.Document.Home.Emptied, in.Facts.Document.Home.StateSync = api.HomePrepared, true, false
}

// updatedTo leaves the node with the pod and the StatefulSet of another build.
func updatedTo(b node.Build, version string) func(*node.Input) {
	return func(in *node.Input) {
		sts, pod := b, b
		in.Facts.StatefulSet, in.Facts.Pod, in.Facts.Document.Seid.Version = &sts, &pod, version
	}
}

const bucketBringUp = "ensure-data-pvc apply-statefulset apply-service observe-image snapshot-restore configure-genesis config-apply configure-state-sync " +
	"config-validate mark-ready"

func fromBucket(in *node.Input) { in.Target.Snapshot = node.BucketSnapshot }

// emptyHome is a new pod on a new volume.
func emptyHome(in *node.Input) {
	sts, pod := buildA, buildA
	in.Facts.Claim, in.Facts.Service, in.Facts.StatefulSet, in.Facts.Pod = true, true, &sts, &pod
	in.Facts.Document = &api.Node{
		APILevel: api.LevelNode, Gate: api.Gate{State: api.GateClosed}, Home: api.Home{Stage: api.HomeEmpty},
		Seid: api.Seid{State: api.SeidWaiting, Version: "a"},
	}
}
