package fleet_test

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/fleet"
)

// A node that a partition holds back and to which something is being done may go down at any moment: it
// keeps the others back, although it does not move itself.
func TestMoves_HeldNodeThatMayGoDown_TakesBudget(t *testing.T) {
	busy := fleet.Node{Ordinal: 0, Ready: true, InFlight: true, Held: true}
	atRest := fleet.Node{Ordinal: 1, Ready: true, InForce: true}
	if moves := fleet.Moves([]fleet.Node{busy, atRest}, 1); len(moves) > 0 {
		t.Errorf("%v move", moves)
	}
	if moves := fleet.Moves([]fleet.Node{busy, atRest}, 2); !slices.Equal(moves, []int{1}) {
		t.Errorf("with a budget of two %v move", moves)
	}
}

// After a refusal only a node that is known to be down moves: the change may be its cure.
func TestHalted_OnlyNodesThatAreDownMove(t *testing.T) {
	d := fleet.Decision{Moves: []int{0, 1, 2}, Nodes: []fleet.Node{{Ordinal: 0}, {Ordinal: 1, Ready: true}, {Ordinal: 2, Unknown: true}}}
	if moves := d.Halted().Moves; !slices.Equal(moves, []int{0}) {
		t.Errorf("%v move", moves)
	}
	if len(d.Moves) != 3 {
		t.Errorf("the decision itself has changed: %v", d.Moves)
	}
}

// A node that is being deleted serves nobody in a moment.
func TestIsReady_NodeThatIsBeingDeleted_IsNot(t *testing.T) {
	s := newScene(t)
	live := s.live(0)
	if !fleet.IsReady(live) {
		t.Fatal("a node in sync is not ready")
	}
	live.DeletionTimestamp = new(metav1.Now())
	if fleet.IsReady(live) {
		t.Error("it is ready")
	}
}

// An edit that could not be acted on is not observed. (N14)
func TestReport_AfterAnError_TheGenerationIsNotObserved(t *testing.T) {
	for _, failed := range []error{nil, errors.New("the API server is away")} {
		s := newScene(t)
		s.snd.Generation, s.snd.Status.ObservedGeneration, s.err = 8, 7, failed
		if got, want := s.reported(t).Status.ObservedGeneration, map[bool]int64{true: 8, false: 7}[failed == nil]; got != want {
			t.Errorf("after %v generation %d is observed, want %d", failed, got, want)
		}
	}
}
