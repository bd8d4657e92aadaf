package fault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// choice is what the environment asks for.
type choice struct {
	// runs is how many are made; 0 for all there are.
	runs int
	// seed decides which, and in which order.
	seed uint64
	// only is one run to be made again, by its name.
	only string
	// scenarios and disturbances are those that are run; empty for all.
	scenarios, disturbances []string
	// reconciles is how many more follow the end.
	reconciles int
	// resume continues where the same code was interrupted.
	resume bool
}

// A selection for every day: each kind of crash in every scenario, and some of what else there is.
// hack/test.sh says how long it takes.
const fewRuns = 160

func choose(t *testing.T) choice {
	t.Helper()
	number := func(variable string, otherwise int) int {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)))
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		return n
	}
	c := choice{
		runs: number("FAULT_RUNS", fewRuns), seed: uint64(number("FAULT_SEED", 1)), only: os.Getenv("FAULT_ONLY"),
		reconciles: number("FAULT_RECONCILES", 5), resume: number("FAULT_RESUME", 0) != 0,
	}
	for variable, into := range map[string]*[]string{"FAULT_SCENARIOS": &c.scenarios, "FAULT_DISTURBANCES": &c.disturbances} {
		if names := os.Getenv(variable); names != "" {
			*into = strings.Split(names, ",")
		}
	}
	for _, name := range c.disturbances {
		if disturbanceNamed(name) == nil {
			t.Fatalf("there is no disturbance %q", name)
		}
	}
	if c.only != "" {
		name, _, _ := strings.Cut(c.only, "/")
		c.scenarios = []string{name}
	}
	return c
}

// chosen are the scenarios that are run.
func (c choice) chosen(t *testing.T) []*scenario {
	t.Helper()
	if len(c.scenarios) == 0 {
		return scenarios
	}
	var found []*scenario
	for _, name := range c.scenarios {
		i := slices.IndexFunc(scenarios, func(s *scenario) bool { return s.name == name })
		if i < 0 {
			t.Fatalf("there is no scenario %q", name)
		}
		found = append(found, scenarios[i])
	}
	return found
}

// plan is one run to be made.
type plan struct {
	reference *reference
	disturb   *disturbance
	// at is the call that is disturbed, or two of them with the word between.
	at string
}

// then is between two calls of which the second is disturbed after the first.
const then = ", then "

// calls are the names of the calls that are disturbed.
func (p plan) calls() []string { return strings.Split(p.at, then) }

// name is what FAULT_ONLY takes.
func (p plan) name() string {
	return fmt.Sprintf("%s/%s/%s", p.reference.scenario.name, p.disturb.name, p.at)
}

// rank is what a short selection begins with: crashes.
func (p plan) rank() int {
	if strings.HasPrefix(p.disturb.name, "crash-") {
		return 0
	}
	return 1
}

// named is the run of a name, whether the reference makes that call or not.
func named(name string, of *reference) []plan {
	_, rest, _ := strings.Cut(name, "/")
	disturb, at, _ := strings.Cut(rest, "/")
	if d := disturbanceNamed(disturb); d != nil {
		return []plan{{of, d, at}}
	}
	return nil
}

// plans are all runs that the calls of some references ask for, those of one scenario and one
// disturbance together, and some pairs of crashes.
func plans(references []*reference, random *rand.Rand) [][]plan {
	var cells [][]plan
	for _, ref := range references {
		for _, d := range disturbances {
			var cell []plan
			for _, c := range ref.calls {
				if d.fits(c) {
					cell = append(cell, plan{ref, d, c.String()})
				}
			}
			if d.twice {
				cell = pairs(cell, random)
			}
			if len(cell) > 0 {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// morePairs is how many pairs of crashes there are for every call that can be the first of one.
const morePairs = 2

// pairs draws for every run some that are disturbed once more, at a later call.
func pairs(single []plan, random *rand.Rand) []plan {
	found := make([]plan, 0, morePairs*len(single))
	for i := range len(single) - 1 {
		for range morePairs {
			second := single[i+1+random.IntN(len(single)-i-1)]
			found = append(found, plan{single[i].reference, single[i].disturb, single[i].at + then + second.at})
		}
	}
	slices.SortFunc(found, func(a, b plan) int { return cmp.Compare(a.at, b.at) })
	return slices.Compact(found)
}

// selected takes runs from every cell in turn, so that a few runs have a bit of everything. The last
// turn may not get to every cell, and which those are depends on the seed. Runs that were made earlier
// are left out.
func (c choice) selected(references []*reference, earlier ...result) []plan {
	if c.only != "" {
		return named(c.only, references[0])
	}
	random := rand.New(rand.NewPCG(c.seed, 0))
	cells := slices.DeleteFunc(plans(references, random), func(cell []plan) bool {
		return len(c.disturbances) > 0 && !slices.Contains(c.disturbances, cell[0].disturb.name)
	})
	random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	slices.SortStableFunc(cells, func(a, b []plan) int { return cmp.Compare(a[0].rank(), b[0].rank()) })
	for _, cell := range cells {
		random.Shuffle(len(cell), func(i, j int) { cell[i], cell[j] = cell[j], cell[i] })
	}
	var found []plan
	for more, i := true, 0; more; i++ {
		more = false
		for _, cell := range cells {
			if i < len(cell) {
				found, more = append(found, cell[i]), true
			}
		}
	}
	found = missing(found, earlier)
	if c.runs > 0 && len(found) > c.runs {
		found = found[:c.runs]
	}
	return found
}
