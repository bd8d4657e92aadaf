package node_test

import (
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestDecide_NewNode_PlansOfEachKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		target func(*node.Target)
		want   string
	}{
		{"from genesis", func(*node.Target) {}, bringUp},
		{"from a bucket", func(t *node.Target) { t.Snapshot = node.BucketSnapshot }, bucketBringUp},
		{"by state sync", func(t *node.Target) { t.Snapshot = node.PeerSnapshot },
			"ensure-data-pvc apply-statefulset apply-service observe-image configure-genesis config-apply configure-state-sync config-validate mark-ready"},
		{"with a bootstrap image", func(t *node.Target) { t.Snapshot, t.Bootstrap = node.BucketSnapshot, true }, jobThenNode},
		{"validator with keys", func(t *node.Target) { t.SigningKey, t.NodeKey, t.Keyring, t.Signs = true, true, true, true },
			"ensure-data-pvc validate-signing-key validate-node-key validate-operator-keyring reserve-consensus-key " +
				"apply-statefulset apply-service observe-image configure-genesis config-apply config-validate mark-ready"},
		{"validator in a ceremony", func(t *node.Target) { t.Ceremony, t.Signs = true, true },
			"ensure-data-pvc apply-statefulset apply-service observe-image generate-identity generate-gentx await-genesis configure-genesis " +
				"config-apply set-genesis-peers config-validate reserve-consensus-key mark-ready"},
		{"seed", func(t *node.Target) { t.NodeKey = true },
			"ensure-data-pvc validate-node-key apply-statefulset apply-service observe-image configure-genesis config-apply config-validate mark-ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := row{in: fresh(func(in *node.Input) { c.target(&in.Target) }), action: node.Start, reason: node.ReasonNewNode, tasks: c.want,
				says: "bringing up a new full node of pacific-1"}
			r.check(t)
		})
	}
}

func TestDecide_BringUp(t *testing.T) {
	halfway := list("ensure-data-pvc apply-statefulset apply-service observe-image")
	checkAll(t, []row{
		{
			name: "a spec that cannot be acted on is not begun",
			in:   fresh(func(in *node.Input) { in.Target.ConfigProblem = "spec.overrides: no such key" }), action: node.Hold,
		},
		{name: "nor one whose template cannot be rendered", in: fresh(func(in *node.Input) { in.Target.TemplateProblem = "no" }), action: node.Hold},
		{name: "a plan goes on after its first steps", in: fresh(active(node.ReasonNewNode, list(bringUp), halfway...), emptyHome)},
		{
			name: "a home that is prepared needs what comes after", in: fresh(emptyHome, func(in *node.Input) { in.Facts.Document.Home.Stage = api.HomePrepared }),
			action: node.Start, reason: node.ReasonNewNode, tasks: "config-apply config-validate mark-ready",
		},
		{
			name: "on a claim that was left behind the volume is looked at before it is prepared", in: fresh(func(in *node.Input) { in.Facts.Claim = true }),
			action: node.Start, reason: node.ReasonNewNode, tasks: "ensure-data-pvc apply-statefulset apply-service observe-image",
		},
		{
			name: "a volume that was synced once is not prepared again",
			in: fresh(fromBucket, emptyHome, func(in *node.Input) {
				in.Facts.Document.Home = api.Home{Stage: api.HomeSynced, ConfigHash: "c0-s0"}
			}),
			action: node.Start, reason: node.ReasonNewNode, tasks: "config-apply config-validate mark-ready",
		},
		{
			name:   "another image in the middle replaces the pod of the old one",
			in:     fresh(active(node.ReasonNewNode, list(bringUp), halfway...), emptyHome, wants(buildB)),
			action: node.Supersede, reason: node.ReasonNewNode, why: "step apply-statefulset is missing too",
			tasks: "apply-statefulset replace-pod observe-image configure-genesis config-apply config-validate mark-ready",
		},
		{
			name:   "also one that is about to come",
			in:     fresh(active(node.ReasonNewNode, list(bringUp), halfway...), emptyHome, silent, wants(buildB), func(in *node.Input) { in.Facts.Pod = nil }),
			action: node.Supersede, reason: node.ReasonNewNode, tasks: "apply-statefulset replace-pod observe-image config-apply config-validate mark-ready",
		},
		{name: "peers that appear do not begin it anew", in: fresh(active(node.ReasonNewNode, list(bringUp), halfway...), emptyHome, config("c2-s1"))},
		{
			name: "a bring-up that failed is not tried again by itself", in: fresh(emptyHome, failed(node.ReasonNewNode, node.StepConfigureGenesis, time.Hour)),
			held: "NewNode failed at step configure-genesis: seid panics",
		},
		{ // D6
			name:   "it is after an edit",
			in:     fresh(emptyHome, failed(node.ReasonNewNode, node.StepConfigureGenesis, time.Minute), func(in *node.Input) { in.Target.Generation = 2 }),
			action: node.Start, reason: node.ReasonRetryAfterFailure, tasks: "configure-genesis config-apply config-validate mark-ready", says: "spec was changed",
		},
		{ // D6
			name: "and when asked to", in: fresh(emptyHome, failed(node.ReasonNewNode, node.StepConfigureGenesis, time.Minute), retried),
			action: node.Start, reason: node.ReasonRetryAfterFailure, tasks: "configure-genesis config-apply config-validate mark-ready", says: "sei.io/retry",
		},
		{
			name: "files that nobody wrote for the node are no configuration of it",
			in: fresh(emptyHome, func(in *node.Input) {
				in.Facts.Document.Home.Stage, in.Target.ConfigHash = api.HomePrepared, ""
				in.Facts.Document.Home.ConfigHash = ""
			}),
			held: "there is no configuration that is valid",
		},
	})
}

// jobRuns is a bootstrap Job in front of an empty home.
func jobRuns(in *node.Input) {
	in.Facts.Claim, in.Facts.Service, in.Facts.Job = true, true, node.JobCurrent
	in.Facts.Document = &api.Node{
		APILevel: api.LevelNode, Gate: api.Gate{State: api.GateClosed}, Home: api.Home{Stage: api.HomeEmpty},
		Seid: api.Seid{State: api.SeidWaiting, Version: "old"},
	}
}

// jobReplays is a Job whose gate was opened.
func jobReplays(in *node.Input) {
	jobRuns(in)
	in.Facts.Document.Gate.State = api.GateOpen
	in.Facts.Document.Home = api.Home{Stage: api.HomeFirstSync, ConfigHash: "c1-s1", StateSync: true, Validation: &api.Validation{Valid: true, SeidVersion: "old"}}
	in.Facts.Document.Seid = api.Seid{State: api.SeidRunning, Version: "old", ConfigHash: "c1-s1"}
}

func TestDecide_Bootstrap(t *testing.T) {
	replaying := active(node.ReasonNewNode, list(jobThenNode), list("ensure-data-pvc deploy-bootstrap-job apply-service snapshot-restore configure-state-sync")...)
	checkAll(t, []row{
		{
			name: "a claim that is there is checked before the Job takes it", in: fresh(bootstrapping, func(in *node.Input) { in.Facts.Claim = true }),
			action: node.Start, reason: node.ReasonNewNode, tasks: jobThenNode,
		},
		{
			name: "a Job that is there is used", in: fresh(bootstrapping, jobRuns),
			action: node.Start, reason: node.ReasonNewNode, tasks: jobHome + " " + afterJob,
		},
		{
			name: "a Job that runs another image goes first", in: fresh(bootstrapping, jobRuns, func(in *node.Input) { in.Facts.Job = node.JobOutdated }),
			action: node.Start, reason: node.ReasonNewNode, tasks: "ensure-data-pvc teardown-bootstrap deploy-bootstrap-job " + jobHome + " " + afterJob,
		},
		{
			name: "of a Job that does not answer nothing is known to be missing", in: fresh(bootstrapping, jobRuns, silent),
			action: node.Start, reason: node.ReasonNewNode, tasks: afterJob,
		},
		{
			name: "a Job that replays is waited for", in: fresh(bootstrapping, jobReplays),
			action: node.Start, reason: node.ReasonNewNode, tasks: afterJob,
		},
		{name: "N11: another image of the node does not disturb the Job", in: fresh(bootstrapping, jobReplays, replaying, wants(buildB), bootstrapping)},
		{
			name: "N11: another image of the Job does", in: fresh(bootstrapping, jobReplays, replaying, func(in *node.Input) { in.Facts.Job = node.JobOutdated }),
			action: node.Supersede, reason: node.ReasonNewNode, tasks: "ensure-data-pvc teardown-bootstrap deploy-bootstrap-job " + jobHome + " " + afterJob,
			why: "step deploy-bootstrap-job is missing too",
		},
		{
			name:   "N11: without a bootstrap image the Job goes before the StatefulSet comes",
			in:     fresh(bootstrapping, jobReplays, replaying, func(in *node.Input) { in.Target.Bootstrap, in.Facts.Job = false, node.JobOutdated }),
			action: node.Supersede, reason: node.ReasonNewNode, tasks: "ensure-data-pvc teardown-bootstrap apply-statefulset observe-image",
			why: "is no longer needed",
		},
		{
			name: "N11: after the bootstrap a retry goes on with the node itself, without a Job",
			in: fresh(bootstrapping, emptyHome, failed(node.ReasonNewNode, node.StepConfigValidate, time.Minute), retried, func(in *node.Input) {
				in.Facts.Bootstrapped = true
				in.Facts.Document.Home = api.Home{Stage: api.HomeFirstSync, ConfigHash: "c1-s1", Validation: &api.Validation{SeidVersion: "a"}}
			}),
			action: node.Start, reason: node.ReasonRetryAfterFailure, tasks: "config-validate mark-ready",
		},
		{
			name:   "N11: also when the StatefulSet is not there yet",
			in:     fresh(bootstrapping, func(in *node.Input) { in.Facts.Claim, in.Facts.Service, in.Facts.Bootstrapped = true, true, true }),
			action: node.Start, reason: node.ReasonNewNode, tasks: "ensure-data-pvc apply-statefulset observe-image",
		},
		{
			name: "N11: a Job that is left over beside a running node is removed", in: with(bootstrapping, func(in *node.Input) { in.Facts.Job = node.JobCurrent }),
			action: node.Start, reason: node.ReasonBootstrapObsolete, tasks: "teardown-bootstrap",
		},
		{
			name: "S7: with a StatefulSet there is no way back to a Job", in: fresh(bootstrapping, emptyHome),
			action: node.Start, reason: node.ReasonNewNode, tasks: "snapshot-restore configure-genesis config-apply configure-state-sync config-validate mark-ready",
		},
		{
			name: "a bootstrap that failed is not tried again by itself",
			in:   fresh(bootstrapping, jobReplays, failed(node.ReasonNewNode, node.StepAwaitBootstrap, time.Hour)),
			held: "failed at step await-bootstrap-complete",
		},
	})
}
