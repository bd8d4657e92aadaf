package fleet_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// nodes reads a fleet from letters, one per node: o is available and old, n available
// and current, O down and old, N down and current, b serves, is old and busy with
// something, c serves, is current and busy (on its way).
func nodes(letters string) []fleet.Node {
	list := make([]fleet.Node, 0, len(letters))
	for i, l := range letters {
		list = append(list, fleet.Node{
			Name: fleet.ChildName("rpc", i), Ordinal: i, Why: "why",
			Current: strings.ContainsRune("nNc", l), Ready: strings.ContainsRune("onbc", l), Settled: strings.ContainsRune("on", l),
		})
	}
	return list
}

func TestMoves_UnavailableAlwaysAvailableWithinTheBudget(t *testing.T) {
	cases := []struct {
		fleet string
		max   int
		want  []int
	}{
		{"", 1, nil},
		{"nnnnn", 1, nil},
		{"ooooo", 1, []int{0}},
		{"ooooo", 2, []int{0, 1}},
		{"ooooo", 5, []int{0, 1, 2, 3, 4}},
		{"ooooo", 9, []int{0, 1, 2, 3, 4}},
		// One is on its way: the next waits.
		{"Noooo", 1, nil},
		{"Noooo", 2, []int{1}},
		{"noooo", 1, []int{1}},
		// Unready nodes go first and use up the budget.
		{"oooOo", 1, []int{3}},
		{"oooOo", 2, []int{0, 3}},
		// A halted validator set moves at once.
		{"OOOO", 1, []int{0, 1, 2, 3}},
		{"OOOo", 1, []int{0, 1, 2}},
		{"OOOo", 4, []int{0, 1, 2, 3}},
		// An image that never becomes ready stops the rollout.
		{"Nooooooooo", 1, nil},
		{"NNoooooooo", 2, nil},
		{"NNoooooooo", 3, []int{2}},
		// A broken node that has moved already still counts.
		{"nNooo", 1, nil},
		{"nNOoo", 1, []int{2}},
		{"nNOoo", 3, []int{2, 3}},
		// One is on its way and still serves: the next waits.
		{"coooo", 1, nil},
		{"coooo", 2, []int{1}},
		// All were given a change that restarts nothing, and have not looked at it yet: busy is not down.
		{"cbb", 1, nil},
		{"bbb", 1, []int{0}},
		{"bbb", 2, []int{0, 1}},
		{"bbO", 1, []int{2}},
		// Who is busy may go down: others wait, and it goes first.
		{"oob", 1, []int{2}},
		{"oob", 2, []int{0, 2}},
		{"obN", 1, nil},
		{"obN", 2, []int{1}},
	}
	for _, tc := range cases {
		if got := fleet.Moves(nodes(tc.fleet), tc.max); !slices.Equal(got, tc.want) {
			t.Errorf("%q with %d: moves %v, want %v", tc.fleet, tc.max, got, tc.want)
		}
	}
}

// Whatever the fleet looks like: we never take available nodes below the budget, nodes
// that are down are never kept waiting, and something always moves if it may.
func TestMoves_AnyFleet_KeepsTheRule(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var letters strings.Builder
		for range random.IntN(12) {
			letters.WriteByte("onONbc"[random.IntN(6)])
		}
		list, maximum := nodes(letters.String()), 1+random.IntN(4)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		moves := fleet.Moves(list, maximum)
		down, hurt, onTheWay, busy, waiting := 0, 0, 0, 0, 0
		for _, n := range list {
			moved := slices.Contains(moves, n.Ordinal)
			switch {
			case moved && n.Current:
				t.Fatalf("%s: %d moves though it is current", letters.String(), n.Ordinal)
			case !n.Ready:
				down++
				if !n.Current && !moved {
					t.Fatalf("%s: %d is down and is not let move", letters.String(), n.Ordinal)
				}
			case moved:
				hurt++
			case !n.Settled && n.Current:
				onTheWay++
			case !n.Settled:
				busy++
			case !n.Current:
				waiting++
			}
		}
		if taken := down + onTheWay + hurt; hurt > 0 && taken > maximum {
			t.Fatalf("%s with %d: %d down or on their way, %d of them by this move", letters.String(), maximum, taken, hurt)
		}
		if taken := down + onTheWay + hurt; (busy > 0 && taken < maximum) || (waiting > 0 && taken+busy < maximum) {
			t.Fatalf("%s with %d: %d and %d wait though only %d are down or on their way", letters.String(), maximum, busy, waiting, taken)
		}
	}
}

func TestMaxUnavailable_IsAtLeastOne(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "3": 3, "1%": 1, "25%": 2, "39%": 3, "100%": 10, "": 1} {
		snd := &v1alpha1.SeiNodeDeployment{Spec: v1alpha1.SeiNodeDeploymentSpec{Replicas: 10}}
		if text != "" {
			value := intstr.Parse(text)
			snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MaxUnavailable: &value}}
		}
		if got := fleet.MaxUnavailable(snd); got != want {
			t.Errorf("%q of 10 is %d, want %d", text, got, want)
		}
	}
}

func TestTrack_BeginsProgressesIsSupersededAndEnds(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	stamp := func(minutes int) metav1.Time { return metav1.NewTime(at(minutes)) }
	if got := fleet.Track(nil, "", "a", nodes("NNN"), at(0)); got != nil {
		t.Errorf("bringing up a fleet is no rollout: %+v", got)
	}
	if got := fleet.Track(nil, "a", "a", nodes("nNn"), at(0)); got != nil {
		t.Errorf("a node that is down is no rollout: %+v", got)
	}
	// All move at once: no node is behind, and it is a rollout all the same.
	r := fleet.Track(nil, "a", "b", nodes("NNN"), at(0))
	want := &v1alpha1.RolloutStatus{TargetHash: "b", StartedAt: stamp(0), Total: 3, WaitingOn: "rpc-0: why"}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("begun (-want +got):\n%s", diff)
	}
	r = fleet.Track(r, "a", "b", nodes("nNo"), at(5))
	want = &v1alpha1.RolloutStatus{
		TargetHash: "b", StartedAt: stamp(0), ProgressedAt: new(stamp(5)), Updated: 1, Total: 3, WaitingOn: "rpc-1: why",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("progressed (-want +got):\n%s", diff)
	}
	again := fleet.Track(r, "a", "b", nodes("nNo"), at(9))
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("time alone changes a rollout (-before +after):\n%s", diff)
	}
	superseded := fleet.Track(r, "a", "c", nodes("oOo"), at(9))
	want = &v1alpha1.RolloutStatus{TargetHash: "c", StartedAt: stamp(9), Total: 3, WaitingOn: "rpc-0: why"}
	if diff := cmp.Diff(want, superseded); diff != "" {
		t.Errorf("superseded (-want +got):\n%s", diff)
	}
	if got := fleet.Track(r, "a", "b", nodes("nnn"), at(9)); got != nil {
		t.Errorf("all nodes are done and the rollout goes on: %+v", got)
	}
	if got := fleet.Track(nil, "", "a", nodes("noo"), at(0)); got == nil || got.WaitingOn != "rpc-1: why" {
		t.Errorf("adopted nodes of another template: %+v", got)
	}
}

func TestStalledSince_CountsFromTheLastProgress(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r := &v1alpha1.RolloutStatus{StartedAt: metav1.NewTime(start)}
	if since, left := fleet.StalledSince(r, 10*time.Minute, start.Add(4*time.Minute)); !since.Equal(start) || left != 6*time.Minute {
		t.Errorf("since %v, left %v", since, left)
	}
	r.ProgressedAt = new(metav1.NewTime(start.Add(5 * time.Minute)))
	if _, left := fleet.StalledSince(r, 10*time.Minute, start.Add(14*time.Minute)); left != time.Minute {
		t.Errorf("left %v after progress", left)
	}
	if _, left := fleet.StalledSince(r, 10*time.Minute, start.Add(15*time.Minute)); left != 0 {
		t.Errorf("left %v at the deadline", left)
	}
}
