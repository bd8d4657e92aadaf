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
	// scenarios are those that are run; empty for all.
	scenarios []string
	// reconciles is how many more follow the end.
	reconciles int
}

// A selection for every day: every disturbance in every scenario, where it fits. hack/test.sh says
// how long it takes.
const fewRuns = 80

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
		reconciles: number("FAULT_RECONCILES", 5),
	}
	if names := os.Getenv("FAULT_SCENARIOS"); names != "" {
		c.scenarios = strings.Split(names, ",")
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
	at        string
}

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
// disturbance together.
func plans(references []*reference) [][]plan {
	var cells [][]plan
	for _, ref := range references {
		for _, d := range disturbances {
			var cell []plan
			for _, c := range ref.calls {
				if d.fits(c) {
					cell = append(cell, plan{ref, d, c.String()})
				}
			}
			if len(cell) > 0 {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// selected takes runs from every cell in turn, so that a few runs have a bit of everything. The last
// turn may not get to every cell, and which those are depends on the seed.
func (c choice) selected(references []*reference) []plan {
	if c.only != "" {
		return named(c.only, references[0])
	}
	random := rand.New(rand.NewPCG(c.seed, 0))
	cells := plans(references)
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
	if c.runs > 0 && len(found) > c.runs {
		found = found[:c.runs]
	}
	return found
}
