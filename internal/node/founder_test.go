package node_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// A founder whose gate has just been opened starts at any moment: its bring-up has ended, although
// seid has not run yet.
func TestDifference_FounderBehindAnOpenGate_IsDone(t *testing.T) {
	build := &node.Build{Image: "a", SpecHash: "s", TemplateHash: "t"}
	facts := node.Facts{
		Initialized: true, Claim: true, Service: true, StatefulSet: build, Pod: build,
		Document: &api.Node{
			APILevel: api.LevelNode, Gate: api.Gate{State: api.GateOpen}, Seid: api.Seid{State: api.SeidWaiting, Version: "a"},
			Home: api.Home{Stage: api.HomePrepared, ConfigHash: "1-1", Validation: &api.Validation{Valid: true, SeidVersion: "a"}},
		},
	}
	target := node.Target{
		PlanTarget: v1alpha1.PlanTarget{Image: "a", SpecHash: "s", PodTemplateHash: "t", ConfigHash: "1-1"}, Ceremony: true, Signs: true,
	}
	if got := node.Difference(&facts, &target); len(got) > 0 {
		t.Errorf("missing %+v, want nothing", got)
	}
	facts.Document.Gate.State = api.GateClosed
	if got := node.Difference(&facts, &target); len(got) == 0 {
		t.Error("nothing is missing behind a closed gate")
	}
}
