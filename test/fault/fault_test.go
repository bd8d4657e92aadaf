package fault

import (
	"os"
	"testing"
	"time"
)

// reference is what a scenario does and leads to when nothing disturbs it.
type reference struct {
	scenario *scenario
	calls    []call
	end      *picture
}

// A disturbance at any call of the operator, a crash above all, changes nothing about how things
// end.
//
// A selection is run, or as many as FAULT_RUNS says, 0 for all; make fault does that.
func TestFaults_AtEveryCall_TheEndIsTheSame(t *testing.T) {
	chosen := choose(t)
	references := undisturbed(t, chosen)
	if t.Failed() {
		return
	}
	all := chosen.selected(references)
	if len(all) == 0 {
		t.Fatalf("no run is called %q: want scenario/disturbance/call", chosen.only)
	}
	report := &report{out: os.Stderr, total: len(all), began: time.Now()}
	t.Cleanup(func() { report.publish(t) })
	t.Run("runs", func(t *testing.T) {
		for _, p := range all {
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				disturbed(t, p, chosen, report)
			})
		}
	})
}

// undisturbed makes the references.
func undisturbed(t *testing.T, chosen choice) []*reference {
	t.Helper()
	wanted := chosen.chosen(t)
	found := make([]*reference, len(wanted))
	t.Run("undisturbed", func(t *testing.T) {
		for i, s := range wanted {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, s, nil, "")
				r.act()
				found[i] = &reference{scenario: s, calls: r.wire.recorded(), end: r.steady()}
				r.silent(chosen.reconciles)
				for _, c := range found[i].calls {
					t.Log(c)
				}
			})
		}
	})
	return found
}

// disturbed makes one run.
func disturbed(t *testing.T, p plan, chosen choice, report *report) {
	t.Helper()
	began := time.Now()
	var r *run
	replay := "FAULT_ONLY='" + p.name() + "' go test ./test/fault -count=1 -v"
	t.Cleanup(func() {
		report.add(result{
			scenario: p.reference.scenario.name, disturbance: p.disturb.name, failed: t.Failed(),
			missed: r != nil && !r.wire.wasMet(), took: time.Since(began),
		}, replay)
		if t.Failed() {
			t.Log("once more: " + replay)
		}
	})
	r = newRun(t, p.reference.scenario, p.disturb, p.at)
	r.act()
	r.becomes(p.reference.end)
	r.silent(chosen.reconciles)
}
