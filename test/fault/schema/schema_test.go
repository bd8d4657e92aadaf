package schema

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// fewFields is how many fields are walked every day.
const fewFields = 8

// perWorld is how many fields share a world.
const perWorld = 10

// choice is what the environment asks for.
type choice struct {
	// fields is how many are walked; 0 for all.
	fields int
	// seed decides which.
	seed uint64
	// only is the one field to be walked, with its kind.
	only string
	// reconciles is how many more follow each end.
	reconciles int
}

func choose(t *testing.T) choice {
	t.Helper()
	number := func(variable string, otherwise int) int {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)))
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		return n
	}
	return choice{
		fields: number("SCHEMA_FIELDS", fewFields), seed: uint64(number("FAULT_SEED", 1)), only: os.Getenv("SCHEMA_ONLY"),
		reconciles: number("FAULT_RECONCILES", 3),
	}
}

// selected are the fields to be walked.
func (c choice) selected(fields []field) []field {
	able := slices.DeleteFunc(slices.Clone(fields), func(f field) bool {
		class := about(f).class
		if c.only != "" && !(note{of: c.only}).matches(f.String()) {
			return true
		}
		return class != walked && class != refused
	})
	if c.only != "" || c.fields == 0 || len(able) <= c.fields {
		return able
	}
	random := rand.New(rand.NewPCG(c.seed, 0))
	random.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
	return able[:c.fields]
}

// Every value of every field comes into force as on a new object, or is refused or reported; and the
// old value brings back what was before.
//
// A selection is walked, or as many fields as SCHEMA_FIELDS says, 0 for all; make fault does that.
func TestSchema_EveryField_EndsAsFromScratchAndComesBack(t *testing.T) {
	env := envtest.Shared(t)
	fields, chosen := allFields(t, env), choose(t)
	report := &report{began: time.Now(), results: map[string]*result{}}
	t.Cleanup(func() { report.publish(t, env.Root, fields) })
	byBase := map[string][]field{}
	selected := chosen.selected(fields)
	if len(selected) == 0 {
		t.Fatalf("no field that is walked is called %q: want kind and path, for example 'SeiNode spec.image'", chosen.only)
	}
	for _, f := range selected {
		b, ok := baseOf(f)
		if !ok {
			t.Fatalf("%s is walked on no object", f)
		}
		byBase[b.name] = append(byBase[b.name], f)
	}
	t.Run("walks", func(t *testing.T) {
		for _, b := range bases {
			number := 0
			for shared := range slices.Chunk(byBase[b.name], perWorld) {
				number++
				t.Run(fmt.Sprintf("%s-%d", b.name, number), func(t *testing.T) {
					t.Parallel()
					walkAll(t, b, shared, chosen.reconciles, report)
				})
			}
		}
	})
}

func walkAll(t *testing.T, b base, fields []field, reconciles int, report *report) {
	t.Helper()
	var p *pair
	for _, f := range fields {
		if p == nil {
			p = newPair(t, b, reconciles)
		}
		began := time.Now()
		of := &result{field: f}
		ok := t.Run(f.path, func(t *testing.T) {
			p.on(t)
			walk := p.newWalk(t, f, of)
			walk.all()
		})
		p.on(t)
		of.failed, of.took = !ok, time.Since(began)
		report.add(of)
		if !ok {
			t.Logf("once more: SCHEMA_ONLY='%s' go test ./test/fault/schema -count=1 -v", f)
			p = nil // what the field left behind is nobody else's business
		}
	}
}
