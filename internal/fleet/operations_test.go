package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/fleet"
)

// A node that a task restarts takes budget before its status shows that it is down; it may itself
// take over the template, because it goes down anyhow.
func TestMoves_NodeThatATaskRestarts_TakesBudget(t *testing.T) {
	for name, c := range map[string]struct {
		restarted fleet.Node
		budget    int
		moves     []int
	}{
		"nothing restarts":                   {fleet.Node{Ordinal: 0, Ready: true, InForce: true, Current: true}, 1, []int{1}},
		"one that has the template restarts": {fleet.Node{Ordinal: 0, Ready: true, InForce: true, Current: true, Task: "t"}, 1, nil},
		"one that is behind restarts":        {fleet.Node{Ordinal: 0, Ready: true, InForce: true, Task: "t"}, 1, []int{0}},
		"and there is budget for two":        {fleet.Node{Ordinal: 0, Ready: true, InForce: true, Current: true, Task: "t"}, 2, []int{1}},
	} {
		nodes := []fleet.Node{c.restarted, {Ordinal: 1, Ready: true, InForce: true}, {Ordinal: 2, Ready: true, InForce: true}}
		if got := fleet.Moves(nodes, c.budget); !slices.Equal(got, c.moves) {
			t.Errorf("%s: %v moves, want %v", name, got, c.moves)
		}
	}
}

// Look judges a node as a rollout does, whatever the template asks for.
func TestLook_JudgesTheNodeByItself(t *testing.T) {
	snd := rpcFleet()
	now := time.Now()
	if n := fleet.Look(snd, "rpc-1", nil, now); n.Ready || n.Available() || n.Ordinal != 1 || n.Name != "rpc-1" {
		t.Errorf("a node that is not there: %+v", n)
	}
	live := runningNode(t, snd, "seid:another")
	if n := fleet.Look(snd, live.Name, live, live.Status.Conditions[0].LastTransitionTime.Add(time.Hour)); !n.Available() || !n.Current {
		t.Errorf("a node that serves: %+v", n)
	}
	live.Status.ObservedGeneration--
	if n := fleet.Look(snd, live.Name, live, now); n.Available() || !n.InFlight {
		t.Errorf("a node that was edited: %+v", n)
	}
}

func TestNames_AreThoseOfTheOrdinals(t *testing.T) {
	snd := rpcFleet()
	snd.Name, snd.Spec.Replicas, snd.Status.Ordinals = "rpc", 2, []int32{0, 3}
	if got := fleet.Names(snd); !slices.Equal(got, []string{"rpc-0", "rpc-3"}) {
		t.Errorf("%v, want rpc-0 and rpc-3", got)
	}
}
