package chaos_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/test/chaos"
)

var (
	noon       = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	validators = []string{"v-0", "v-1", "v-2", "v-3"}
	alphabet   = []chaos.Act{{Name: "kill", Times: 2}, {Name: "pause", Times: 1, Lasts: [2]time.Duration{time.Second, 2 * time.Second}}}
)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func run(node string, from, to int) chaos.Run {
	return chaos.Run{Node: node, Pod: "pod-of-" + node, From: at(from), To: at(to)}
}

func block(height int64, seconds int) chaos.Block {
	return chaos.Block{Height: height, At: at(seconds)}
}

func TestDraw_SameSeed_SameSteps(t *testing.T) {
	one, again, other := chaos.Draw(7, time.Hour, alphabet), chaos.Draw(7, time.Hour, alphabet), chaos.Draw(8, time.Hour, alphabet)
	if diff := cmp.Diff(one, again); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one, other) {
		t.Error("another seed gives the same steps")
	}
	last := time.Duration(0)
	for _, s := range one {
		if s.After <= last || s.After >= time.Hour {
			t.Errorf("a step at %s after one at %s", s.After, last)
		}
		last = s.After
		if lasts := s.Lasts >= time.Second && s.Lasts <= 2*time.Second; lasts != (s.Act == "pause") {
			t.Errorf("%s lasts %s", s.Act, s.Lasts)
		}
	}
}

func TestDraw_EveryAct_IsDealtAsOftenAsItSaysBeforeAnyComesAgain(t *testing.T) {
	steps := chaos.Draw(1, time.Hour, alphabet)
	if len(steps) < 9 {
		t.Fatalf("%d steps in an hour", len(steps))
	}
	for deck := range slices.Chunk(steps[:9], 3) {
		kills := 0
		for _, s := range deck {
			if s.Act == "kill" {
				kills++
			}
		}
		if kills != 2 {
			t.Errorf("%d kills among %v, want 2", kills, deck)
		}
	}
}

func TestGaps_CountOnlyWhileEnoughValidatorsRun(t *testing.T) {
	blocks := []chaos.Block{block(1, 0), block(2, 100)}
	all := []chaos.Run{run("v-0", -9, 200), run("v-1", -9, 200), run("v-2", -9, 200), run("v-3", -9, 200)}
	for _, c := range []struct {
		what string
		runs []chaos.Run
		able time.Duration
	}{
		{"all run", all, 100 * time.Second},
		{"three run", all[:3], 100 * time.Second},
		{"two run", all[:2], 0},
		{"the third is away from 30 to 80", append(all[:2:2], run("v-2", -9, 30), run("v-2", 80, 200)), 30 * time.Second},
		{"one is away after the other", append(all[:2:2], run("v-2", -9, 60), run("v-3", 60, 200)), 100 * time.Second},
		{"a full node is none of them", append(all[:2:2], run("rpc-0", -9, 200)), 0},
	} {
		got := chaos.Gaps(blocks, c.runs, validators)
		if len(got) != 1 || got[0].Took() != 100*time.Second || got[0].Able != c.able {
			t.Errorf("%s: %+v, want able for %s", c.what, got, c.able)
		}
		if over := chaos.Over(got, 59*time.Second); (len(over) == 1) != (c.able > 59*time.Second) {
			t.Errorf("%s: over the bound: %v", c.what, over)
		}
	}
}

func TestSigned_GoingBackOrSigningAnew_IsFound(t *testing.T) {
	before, err := chaos.ReadSigned([]byte(`{"height":"7","round":1,"step":2,"signature":"a","signbytes":"00"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now   chaos.Signed
		wrong bool
	}{
		{chaos.Signed{Height: 7, Round: 1, Step: 2, Signature: "a"}, false},
		{chaos.Signed{Height: 7, Round: 1, Step: 3, Signature: "b"}, false},
		{chaos.Signed{Height: 7, Round: 2, Step: 1, Signature: "b"}, false},
		{chaos.Signed{Height: 8, Round: 0, Step: 1, Signature: "b"}, false},
		{chaos.Signed{Height: 7, Round: 1, Step: 2, Signature: "b"}, true},
		{chaos.Signed{Height: 7, Round: 1, Step: 1, Signature: "b"}, true},
		{chaos.Signed{Height: 7, Round: 0, Step: 3, Signature: "b"}, true},
		{chaos.Signed{Height: 6, Round: 9, Step: 3, Signature: "b"}, true},
		{chaos.Signed{}, true},
	} {
		if got := c.now.After(before); (got != "") != c.wrong {
			t.Errorf("%s after %s: %q", c.now, before, got)
		}
	}
}

func TestAway_IsWhatIsBetweenRuns(t *testing.T) {
	runs := []chaos.Run{run("v-0", 40, 60), run("v-0", -9, 10), run("v-1", 0, 100)}
	for _, c := range []struct {
		node           string
		total, longest int
	}{{"v-0", 70, 40}, {"v-1", 0, 0}, {"v-2", 100, 100}} {
		total, longest := chaos.Away(runs, c.node, at(0), at(100))
		if total != time.Duration(c.total)*time.Second || longest != time.Duration(c.longest)*time.Second {
			t.Errorf("%s was away for %s in all, %s at most; want %d and %d s", c.node, total, longest, c.total, c.longest)
		}
	}
}

func TestTogether_TwoProcessesOfANode_AreFound(t *testing.T) {
	runs := []chaos.Run{run("v-0", 20, 30), run("v-0", 0, 10), run("v-1", 0, 30)}
	if got := chaos.Together(runs, validators); len(got) != 0 {
		t.Errorf("one after the other: %v", got)
	}
	if got := chaos.Together(slices.Concat(runs, []chaos.Run{run("v-1", 29, 40)}), validators); len(got) != 1 {
		t.Errorf("two at a time: %v", got)
	}
}

func TestOverBudget_NodesThatServed_GoOneAtATime(t *testing.T) {
	first := chaos.Move{Fleet: "v", Node: "v-0", At: at(0), Served: true, Back: at(20)}
	for _, c := range []struct {
		what string
		next chaos.Move
		over bool
	}{
		{"after it is back", chaos.Move{Fleet: "v", Node: "v-1", At: at(20), Served: true, Back: at(40)}, false},
		{"before it is back", chaos.Move{Fleet: "v", Node: "v-1", At: at(19), Served: true, Back: at(40)}, true},
		{"one that is down", chaos.Move{Fleet: "v", Node: "v-1", At: at(5), Back: at(40)}, false},
		{"of another fleet", chaos.Move{Fleet: "rpc", Node: "rpc-1", At: at(5), Served: true, Back: at(40)}, false},
		{"the same one", chaos.Move{Fleet: "v", Node: "v-0", At: at(5), Served: true, Back: at(40)}, false},
	} {
		if got := chaos.OverBudget([]chaos.Move{c.next, first}, 1); (len(got) > 0) != c.over {
			t.Errorf("%s: %v, want some: %t", c.what, got, c.over)
		}
		if got := chaos.OverBudget([]chaos.Move{c.next, first}, 2); len(got) > 0 {
			t.Errorf("%s, with a budget of two: %v", c.what, got)
		}
	}
}

func TestServed_NeedsAProcessABlockAndReadiness(t *testing.T) {
	runs, ready := []chaos.Run{run("v-0", 0, 100)}, []chaos.Run{run("v-0", 5, 80)}
	blocks := []chaos.Block{block(1, 45), block(2, 75), block(3, 98)}
	for _, c := range []struct {
		what   string
		at     int
		drain  time.Duration
		served bool
	}{
		{"steady", 50, 0, true},
		{"just started", 8, 0, false},
		{"the chain stands", 70, 0, false},
		{"not ready any more", 99, 0, false},
		{"left its Services to be restarted", 99, 20 * time.Second, true},
	} {
		if got := chaos.Served("v-0", at(c.at), c.drain, runs, blocks, ready); got != c.served {
			t.Errorf("%s: %t, want %v", c.what, got, c.served)
		}
	}
	if got := chaos.Back("v-0", at(3), ready, at(200)); !got.Equal(at(5)) {
		t.Errorf("back at %s", got)
	}
	if got := chaos.Back("v-0", at(6), ready, at(200)); !got.Equal(at(200)) {
		t.Errorf("never back, but at %s", got)
	}
}

func TestRestarts_AreEndsInAPodThatStayedWithoutAKill(t *testing.T) {
	runs := []chaos.Run{run("v-0", 0, 10), run("v-0", 12, 50), run("v-0", 52, 90), run("v-1", 0, 10), {Node: "v-1", Pod: "another", From: at(12), To: at(90)}}
	kill := chaos.Event{At: at(50), Kind: chaos.Kill, Row: "seid", Node: "v-0"}
	got := chaos.Restarts(runs, []chaos.Event{kill}, validators)
	if diff := cmp.Diff([]chaos.Run{runs[0]}, got); diff != "" {
		t.Error(diff)
	}
	kill.Row = "sidecar"
	if got := chaos.Restarts(runs, []chaos.Event{kill}, validators); len(got) != 2 {
		t.Errorf("the kill of a sidecar explains no end of seid: %v", got)
	}
	kill.Row, kill.Missed = "seid", "it does not run"
	if got := chaos.Restarts(runs, []chaos.Event{kill}, validators); len(got) != 2 {
		t.Errorf("a kill that was not done explains nothing: %v", got)
	}
}

// example is a run with one of everything.
func example() chaos.Report {
	runs := []chaos.Run{run("v-0", -9, 40), run("v-0", 50, 120), run("v-1", -9, 120), run("v-2", -9, 120)}
	return chaos.Report{
		Seed: 7, Length: 2 * time.Minute, Began: noon, Calm: at(120), Settled: at(140), Nodes: validators, Runs: runs, Bound: time.Minute,
		Gaps: chaos.Gaps([]chaos.Block{block(1, 1), block(2, 39), block(3, 55)}, runs, validators),
		Events: []chaos.Event{
			{At: at(40), Kind: chaos.Kill, Row: "seid", Node: "v-0", What: "seid of v-0 killed"},
			{At: at(60), Until: at(70), Kind: chaos.Edit, Row: "validators' spec", What: "a < b | c"},
			{At: at(80), Kind: chaos.Loss, Row: "pod", What: "pod of v-1 evicted", Missed: "too many requests"},
		},
		Facts:    []chaos.Fact{{Name: "events", Value: "3"}},
		Verdicts: []chaos.Verdict{{Name: "holds", Seen: "all"}, {Name: "does not", Seen: "all", Violations: []string{"once", "twice"}}},
	}
}

func TestMarkdown_HasVerdictsGapsAndEvents(t *testing.T) {
	r := example()
	page := r.Markdown("timeline.svg")
	for _, want := range []string{
		"Seed 7", "(timeline.svg)", "| does not | all | **violated**: once; twice |", "| holds | all | holds |",
		"| v-0 | 2 | 30 s | 20 s |", "| 0:01 | 2 | 38.0 s | 38.0 s |",
		"| 0:40 | kill | seid | seid of v-0 killed | 16.0 s |", `a < b \| c, for 10 s`, "(not done: too many requests)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestPicture_IsWellFormedAndHasEveryRow(t *testing.T) {
	r := example()
	picture := string(r.Picture())
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	last := -1
	for _, want := range []string{">seid<", ">pod<", ">validators&#39; spec<", ">seid of v-0<", ">seid of v-3<", ">gap between blocks<"} {
		found := strings.Index(picture, want)
		if found <= last {
			t.Errorf("%q is at %d, after %d", want, found, last)
		}
		last = found
	}
	for _, e := range r.Events {
		if !slices.Contains(chaos.RowOrder, e.Row) {
			t.Errorf("%s has no place among the rows", e.Row)
		}
	}
}
