package walk

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// fewWalks are made every day; make fault makes as many as WALKS says.
const fewWalks = 6

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// Whatever happens, in whatever order, nothing breaks an invariant on the way, and the end is that of
// the last spec from scratch.
//
// A few walks are made, or as many as WALKS says, from the seed that WALK_SEED names, of the subjects
// in WALK_SUBJECTS. WALK makes one again by its text.
func TestWalks_AnySequence_EndsAsFromScratch(t *testing.T) {
	tally := &tally{}
	t.Cleanup(func() { tally.publish(t) })
	if text := os.Getenv("WALK"); text != "" {
		p, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if v := attempt(t, p, tally); v.failed() {
			t.Errorf("%s\n%s", v.check, v.detail)
		}
		return
	}
	subjects := subjectNames()
	if names := os.Getenv("WALK_SUBJECTS"); names != "" {
		subjects = strings.Split(names, ",")
	}
	first := number(t, "WALK_SEED", 1)
	for i := range number(t, "WALKS", fewWalks) {
		seed := first + i
		// Every subject has its turn, also among a few.
		of := []string{subjects[seed%len(subjects)]}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			fromSeed(t, seed, of, tally)
		})
	}
}

// fromSeed makes the walk of a seed, and if it fails the shorter ones that rapid asks for.
func fromSeed(t *testing.T, seed int, subjects []string, tally *tally) {
	t.Helper()
	tried := map[string]verdict{}
	var shortest plan
	t.Cleanup(func() {
		if t.Failed() && len(shortest.events) > 0 {
			t.Logf("%s\nonce more: %s", tried[shortest.String()].detail, replay(shortest))
		}
	})
	seeded(t, seed, func(rt *rapid.T) {
		p := draw(rt, subjects)
		v, known := tried[p.String()]
		if !known {
			v = attempt(t, p, tally)
			tried[p.String()] = v
		}
		if v.failed() {
			shortest = p
			// rapid shrinks to walks that fail with the same words.
			rt.Fatalf("%s", v.check)
		}
	})
}

func replay(p plan) string {
	return "WALK='" + p.String() + "' go test ./test/fault/walk -run TestWalks -count=1 -v"
}

// rapidFlags guards the seed, which rapid has for the whole process.
var rapidFlags sync.Mutex

// seeded has rapid begin with a seed. It reads the seed before it first asks.
func seeded(t *testing.T, seed int, property func(*rapid.T)) {
	t.Helper()
	rapidFlags.Lock()
	read := sync.OnceFunc(rapidFlags.Unlock)
	defer read()
	if err := flag.Set("rapid.seed", strconv.Itoa(seed)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		read()
		property(rt)
	})
}
