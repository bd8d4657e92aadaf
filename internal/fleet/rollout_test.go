package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// nodes reads a fleet from letters, one per node: o is available and old, n available
// and current, O down and old, N down and current, b serves, is old and busy with
// something, x serves, is old and does not get on, c serves, is current and busy (on its way), s serves, is
// current and was not Ready for long enough, u is old and U current and it is unknown whether they serve, f
// serves, is current and failed, F is down, current and failed, h is available and held by a partition, H is
// the same and down, p is current and stopped.
func nodes(letters string) []fleet.Node {
	list := make([]fleet.Node, 0, len(letters))
	for i, l := range letters {
		is := func(set string) bool { return strings.ContainsRune(set, l) }
		n := fleet.Node{
			Name: fleet.ChildName("rpc", i), Ordinal: i, Why: "why",
			Current: is("nNcsUfFp"), Ready: is("onbcsfhx"), InFlight: is("bc"), InForce: is("onshp"), Unknown: is("uU"), Held: is("hH"), Stopped: is("p"),
		}
		if is("s") {
			n.Soak = time.Second
		}
		if is("fF") {
			n.Failed = "it failed"
		}
		list = append(list, n)
	}
	return list
}

// to is the goal of a template.
func to(hash string) fleet.Goal { return fleet.Goal{TargetHash: hash} }

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
		// Who does not get on goes before those at rest, and not beside one that may go down.
		{"oox", 1, []int{2}},
		{"xxo", 1, []int{0}},
		{"xbo", 1, []int{1}},
		{"xbo", 2, []int{0, 1}},
		{"xbN", 1, nil},
		// Who was not Ready for long enough is on its way.
		{"soooo", 1, nil},
		{"soooo", 2, []int{1}},
		// It is unknown whether they serve: they take budget and are not free.
		{"uuu", 1, nil},
		{"uuu", 3, []int{0, 1, 2}},
		{"uoo", 1, []int{0}},
		{"uoo", 2, []int{0, 1}},
		{"Uoo", 1, nil},
		{"Uoo", 2, []int{1}},
		{"uOo", 1, []int{1}},
		// A node that failed halts all but those that are down.
		{"foo", 1, nil},
		{"foo", 3, nil},
		{"Foo", 3, nil},
		{"FoO", 3, []int{2}},
		{"fub", 3, nil},
		// A partition holds back, also those that are down.
		{"hho", 1, []int{2}},
		{"hhn", 1, nil},
		{"hHo", 1, nil},
		{"hHo", 2, []int{2}},
		// A stopped node is down.
		{"opo", 1, nil},
		{"opo", 2, []int{0}},
	}
	for _, tc := range cases {
		if got := fleet.Moves(nodes(tc.fleet), tc.max); !slices.Equal(got, tc.want) {
			t.Errorf("%q with %d: moves %v, want %v", tc.fleet, tc.max, got, tc.want)
		}
	}
}

// Whatever the fleet looks like: we never take available nodes below the budget, nodes
// that are down are never kept waiting, nothing that serves moves past a node that failed, and
// something always moves if it may.
func TestMoves_AnyFleet_KeepsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("onONbcxsuUfFhHp")), 0, 12, -1).Draw(t, "fleet")
		maximum := rapid.IntRange(1, 4).Draw(t, "maxUnavailable")
		list := rapid.Permutation(nodes(letters)).Draw(t, "order")
		moves := fleet.Moves(list, maximum)
		mayMove(t, list, moves)
		taken, hurt, busy, waiting := 0, 0, 0, 0
		for _, n := range list {
			moved := slices.Contains(moves, n.Ordinal)
			switch {
			case !n.Ready:
				taken++
			case moved:
				hurt++
			case !n.Settled() && n.Current:
				taken++
			case !n.Settled():
				busy++
			case !n.Current && !n.Held:
				waiting++
			}
		}
		if hurt > 0 && taken+hurt > maximum {
			t.Fatalf("%d down or on their way and %d moved, allowed are %d", taken, hurt, maximum)
		}
		if _, failed := fleet.FirstFailed(list); !failed && waiting > 0 && taken+hurt+busy < maximum {
			t.Fatalf("%d wait though only %d are down or on their way", waiting, taken+hurt)
		}
		unknown := func(n fleet.Node) bool { return n.Unknown && slices.Contains(moves, n.Ordinal) }
		if slices.ContainsFunc(list, unknown) && taken > maximum {
			t.Fatalf("a node that may serve moves though %d are down", taken)
		}
	})
}

// mayMove fails the test if a node moves that may not, or one waits that need not.
func mayMove(t *rapid.T, list []fleet.Node, moves []int) {
	_, failed := fleet.FirstFailed(list)
	for _, n := range list {
		moved, down := slices.Contains(moves, n.Ordinal), !n.Ready && !n.Unknown
		switch {
		case moved && (n.Current || n.Held):
			t.Fatalf("%d moves though it is current or held", n.Ordinal)
		case down && !n.Current && !n.Held && !moved:
			t.Fatalf("%d is down and is not let move", n.Ordinal)
		case moved && !down && failed:
			t.Fatalf("%d serves and moves past a node that failed", n.Ordinal)
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
	if got := fleet.Track(nil, "", to("a"), nodes("NNN"), at(0)); got != nil {
		t.Errorf("bringing up a fleet is no rollout: %+v", got)
	}
	if got := fleet.Track(nil, "a", to("a"), nodes("nNn"), at(0)); got != nil {
		t.Errorf("a node that is down is no rollout: %+v", got)
	}
	// All move at once: no node is behind, and it is a rollout all the same.
	r := fleet.Track(nil, "a", to("b"), nodes("NNN"), at(0))
	want := &v1alpha1.RolloutStatus{Reason: v1alpha1.RolloutTemplateChanged, TargetHash: "b", StartedAt: stamp(0), Total: 3, WaitingOn: "rpc-0: why"}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("begun (-want +got):\n%s", diff)
	}
	r = fleet.Track(r, "a", to("b"), nodes("nNo"), at(5))
	want = &v1alpha1.RolloutStatus{
		Reason: v1alpha1.RolloutTemplateChanged, TargetHash: "b", StartedAt: stamp(0), ProgressedAt: new(stamp(5)), Updated: 1, MostUpdated: 1, Total: 3, WaitingOn: "rpc-1: why",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("progressed (-want +got):\n%s", diff)
	}
	again := fleet.Track(r, "a", to("b"), nodes("nNo"), at(9))
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("time alone changes a rollout (-before +after):\n%s", diff)
	}
	// A node that comes and goes makes no progress.
	gone := fleet.Track(r, "a", to("b"), nodes("NNo"), at(6))
	if back := fleet.Track(gone, "a", to("b"), nodes("nNo"), at(7)); !back.ProgressedAt.Equal(r.ProgressedAt) || gone.Updated != 0 || back.Updated != 1 {
		t.Errorf("a flapping node made progress: %+v, then %+v", gone, back)
	}
	if brief := fleet.Track(r, "a", to("b"), nodes("nso"), at(7)); !brief.ProgressedAt.Equal(r.ProgressedAt) {
		t.Errorf("a node that is Ready for a moment made progress: %+v", brief)
	}
	superseded := fleet.Track(r, "a", to("c"), nodes("oOo"), at(9))
	want = &v1alpha1.RolloutStatus{Reason: v1alpha1.RolloutTemplateChanged, TargetHash: "c", StartedAt: stamp(9), Total: 3, WaitingOn: "rpc-0: why"}
	if diff := cmp.Diff(want, superseded); diff != "" {
		t.Errorf("superseded (-want +got):\n%s", diff)
	}
	if got := fleet.Track(r, "a", to("b"), nodes("nnn"), at(9)); got != nil {
		t.Errorf("all nodes are done and the rollout goes on: %+v", got)
	}
	if got := fleet.Track(r, "a", to("b"), nodes("hhn"), at(9)); got != nil {
		t.Errorf("all nodes that take part are done and the rollout goes on: %+v", got)
	}
	if got := fleet.Track(r, "a", to("b"), nodes("hno"), at(9)); got == nil || got.Total != 2 || got.Updated != 1 {
		t.Errorf("a partition holds one back: %+v", got)
	}
	if got := fleet.Track(r, "a", to("b"), nodes("npo"), at(9)); got == nil || !strings.Contains(got.WaitingOn, "rpc-2: why; rpc-1 is stopped and counts against maxUnavailable") {
		t.Errorf("a stopped node takes the budget: %+v", got)
	}
	if got := fleet.Track(nil, "", to("a"), nodes("noo"), at(0)); got == nil || got.WaitingOn != "rpc-1: why" {
		t.Errorf("adopted nodes of another template: %+v", got)
	}
}

// A fleet that is scaled down in a rollout loses nodes that were done: what the others do then is
// progress, although fewer are done than before.
func TestTrack_ScaledDown_FewerNodesMakeProgress(t *testing.T) {
	r := fleet.Track(nil, "a", to("b"), nodes("nnnoo"), passAt)
	r = fleet.Track(r, "a", to("b"), nodes("noo"), passAt.Add(time.Minute))
	if r.MostUpdated != 1 || r.ProgressedAt != nil {
		t.Errorf("scaling down made progress: %+v", r)
	}
	later := passAt.Add(2 * time.Minute)
	if r = fleet.Track(r, "a", to("b"), nodes("nno"), later); r.ProgressedAt == nil || !r.ProgressedAt.Time.Equal(later) {
		t.Errorf("a node that is done made no progress: %+v", r)
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

// The clock of a rollout stands while its fleet is paused.
func TestStalledSince_WhilePaused_TheClockStands(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	left := func(r *v1alpha1.RolloutStatus, minutes int) time.Duration {
		_, left := fleet.StalledSince(r, 10*time.Minute, at(minutes))
		return left
	}
	r := fleet.Track(nil, "a", to("b"), nodes("Noo"), at(0))
	r = fleet.Pause(r, at(4))
	if again := fleet.Pause(r, at(30)); again != r {
		t.Errorf("paused anew: %+v", again)
	}
	if got := left(r, 60); got != 6*time.Minute {
		t.Errorf("%v left while paused", got)
	}
	r = fleet.Track(r, "a", to("b"), nodes("Noo"), at(60))
	if r.PausedAt != nil || left(r, 60) != 6*time.Minute || left(r, 65) != time.Minute || left(r, 66) != 0 {
		t.Errorf("resumed as %+v with %v left", r, left(r, 60))
	}
	// A second pause adds to the first, and progress starts the clock again.
	r = fleet.Track(fleet.Pause(r, at(62)), "a", to("b"), nodes("Noo"), at(90))
	if left(r, 90) != 4*time.Minute {
		t.Errorf("%v left after two pauses", left(r, 90))
	}
	r = fleet.Track(r, "a", to("b"), nodes("nNo"), at(91))
	if r.PausedFor != nil || left(r, 91) != 10*time.Minute {
		t.Errorf("%v left after progress: %+v", left(r, 91), r)
	}
	if fleet.Pause(nil, at(0)) != nil {
		t.Error("pausing without a rollout made one")
	}
}
