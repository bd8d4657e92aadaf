package node_test

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The versions that the nodes of the tables run. Of a configuration hash the part before the
// dash is the whole, the part after it what comes from the spec.
var (
	buildA = node.Build{Image: "seid:a", SidecarImage: "sidecar:1", TemplateHash: "ta", SpecHash: "sa"}
	buildB = node.Build{Image: "seid:b", SidecarImage: "sidecar:1", TemplateHash: "tb", SpecHash: "sb"}
	buildC = node.Build{Image: "seid:c", SidecarImage: "sidecar:1", TemplateHash: "tc", SpecHash: "sc"}
)

// targetFor asks for a build with the configuration that running has.
func targetFor(b node.Build) node.Target {
	return node.Target{
		PlanTarget: v1alpha1.PlanTarget{
			Image: b.Image, SidecarImage: b.SidecarImage, PodTemplateHash: b.TemplateHash, SpecHash: b.SpecHash,
			ConfigHash: "c1-s1", PreparationHash: "p1", Generation: 1,
		},
		What: "full node of pacific-1",
	}
}

// running is a settled full node of version A.
func running() node.Input {
	sts, pod := buildA, buildA
	return node.Input{
		Facts: node.Facts{
			Initialized: true, Claim: true, Service: true, StatefulSet: &sts, Pod: &pod,
			Document: &api.Node{
				APILevel: api.LevelNode, Gate: api.Gate{State: api.GateOpen},
				Home: api.Home{Stage: api.HomeSynced, ConfigHash: "c1-s1", Validation: &api.Validation{Valid: true, SeidVersion: "a"}},
				Seid: api.Seid{State: api.SeidRunning, Version: "a", ConfigHash: "c1-s1"},
			},
		},
		Target: targetFor(buildA),
		Now:    start,
	}
}

// with is a settled node of version A to which something happened.
func with(changes ...func(*node.Input)) node.Input {
	in := running()
	for _, change := range changes {
		change(&in)
	}
	return in
}

// fresh is a node of which nothing is there yet.
func fresh(changes ...func(*node.Input)) node.Input {
	return with(append([]func(*node.Input){func(in *node.Input) { in.Facts = node.Facts{} }}, changes...)...)
}

func wants(b node.Build) func(*node.Input) {
	return func(in *node.Input) { in.Target = targetFor(b) }
}

func config(hash string) func(*node.Input) {
	return func(in *node.Input) { in.Target.ConfigHash = hash }
}

func onDisk(hash string) func(*node.Input) {
	return func(in *node.Input) { in.Facts.Document.Home.ConfigHash = hash }
}

func validated(valid bool, version string) func(*node.Input) {
	return func(in *node.Input) {
		in.Facts.Document.Home.Validation = &api.Validation{Valid: valid, SeidVersion: version}
	}
}

// podLost leaves the node with a new pod: its gate is closed and seid waits behind it.
func podLost(in *node.Input) {
	in.Facts.Document.Gate = api.Gate{State: api.GateClosed}
	in.Facts.Document.Seid = api.Seid{State: api.SeidWaiting, Version: in.Facts.Document.Seid.Version}
}

// refused has the sidecar refuse a configuration for version A.
func refused(hash string) func(*node.Input) {
	return func(in *node.Input) {
		in.Facts.Document.Home.Refused = &api.Refusal{ConfigHash: hash, SeidVersion: "a", Error: "seid panics"}
	}
}

func restartDue(in *node.Input) {
	in.Facts.Document.Seid.RestartDue = []string{"config.toml:mempool.size"}
}

func silent(in *node.Input) { in.Facts.Document = nil }

// older has the sidecar be of a level that tells no more than whether its gate is open. What is
// known of the home is what the operator remembers.
func older(in *node.Input) {
	in.Facts.Remembered = true
	in.Facts.Document.APILevel = api.LevelNode - 1
	in.Facts.Document.Home.Validation = &api.Validation{Valid: true}
	in.Facts.Document.Seid.Version = ""
}

// active has a plan for the target be under way; done are its steps that are complete.
func active(reason string, tasks []string, done ...string) func(*node.Input) {
	return func(in *node.Input) {
		in.Plan = plan.New(plan.Spec{Reason: reason, Target: in.Target.PlanTarget, Tasks: tasks}, start)
		for i := range in.Plan.Tasks {
			if slices.Contains(done, in.Plan.Tasks[i].Type) {
				in.Plan.Tasks[i].Status = v1alpha1.TaskComplete
			}
		}
	}
}

// failed has the last plan for the target end at a step.
func failed(reason, step string, ago time.Duration) func(*node.Input) {
	return func(in *node.Input) {
		target := in.Target.PlanTarget
		in.Last = &v1alpha1.PlanSummary{
			Reason: reason, Outcome: v1alpha1.OutcomeFailed, Target: &target, FailedTask: step, Error: "seid panics",
			FinishedAt: metav1.NewTime(start.Add(-ago)),
		}
	}
}

func retried(in *node.Input) { in.Target.Retry, in.Target.RetryNode = true, true }

func fleetRetried(in *node.Input) { in.Target.Retry = true }

// bootstrapping asks for a Job that replays the chain before the node itself starts.
func bootstrapping(in *node.Input) {
	in.Target.Bootstrap, in.Target.Snapshot = true, node.BucketSnapshot
}

// signing is a validator whose key is in a Secret.
func signing(in *node.Input) { in.Target.SigningKey, in.Target.Signs = true, true }
