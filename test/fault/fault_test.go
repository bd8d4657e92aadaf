package fault

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
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
	kept, earlier := chosen.kept(t)
	all, whole := chosen.selected(references, earlier...), chosen
	whole.runs = 0
	left := len(whole.selected(references, earlier...)) - len(all)
	if len(all) == 0 && len(earlier) == 0 {
		t.Fatalf("no run is called %q: want scenario/disturbance/call", chosen.only)
	}
	report := &report{out: os.Stderr, total: len(all), left: left, earlier: earlier, began: time.Now()}
	t.Cleanup(func() { report.publish(t) })
	t.Run("runs", func(t *testing.T) {
		for _, p := range all {
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				disturbed(t, p, chosen, func(one result) {
					report.add(one)
					if err := kept.add(one); err != nil {
						t.Error(err)
					}
				})
			})
		}
	})
}

// kept are the results that are kept, and those that were made before; none unless it is asked for.
func (c choice) kept(t *testing.T) (*results, []result) {
	t.Helper()
	if !c.resume {
		return nil, nil
	}
	id, err := codeID(c.reconciles)
	if err != nil {
		t.Fatal(err)
	}
	root, err := envtest.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	kept, earlier, err := openResults(filepath.Join(root, ".cache", "fault-results"), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.close(); err != nil {
			t.Error(err)
		}
	})
	return kept, earlier
}

// missing are the runs that were not made before.
func missing(all []plan, earlier []result) []plan {
	made := map[string]bool{}
	for _, one := range earlier {
		made[one.Run] = true
	}
	return slices.DeleteFunc(all, func(p plan) bool { return made[p.name()] })
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
				r := newRun(t, s, nil)
				r.act()
				found[i] = &reference{scenario: s, calls: r.wire.recorded(), end: r.steady()}
				r.silent(chosen.reconciles, func() { r.steady() })
				for _, c := range found[i].calls {
					t.Log(c)
				}
			})
		}
	})
	return found
}

// disturbed makes one run.
func disturbed(t *testing.T, p plan, chosen choice, ended func(result)) {
	t.Helper()
	began := time.Now()
	var r *run
	t.Cleanup(func() {
		one := result{Run: p.name(), Failed: t.Failed(), Missed: r != nil && !r.wire.wasMet(), Took: time.Since(began)}
		ended(one)
		if one.Failed {
			t.Log("once more: " + one.replay())
		}
	})
	r = newRun(t, p.reference.scenario, p.disturb, p.calls()...)
	r.act()
	r.becomes(p.reference.end)
	r.silent(chosen.reconciles, func() { r.becomes(p.reference.end) })
}
