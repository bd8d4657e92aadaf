package fleet_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// paths are the JSON paths of a struct's fields.
func paths(t reflect.Type, prefix string) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		found[prefix+name] = f.Type
	}
	return found
}

// unclassified lists the fields of a spec that the table does not mention.
func unclassified(t *testing.T, spec reflect.Type, table map[string]fleet.Class) []string {
	t.Helper()
	var missing []string
	known := map[string]bool{}
	for path, typ := range paths(spec, "") {
		known[path] = true
		if _, ok := table[path]; ok {
			continue
		}
		if typ.Kind() != reflect.Pointer || typ.Elem().Kind() != reflect.Struct {
			missing = append(missing, path)
			continue
		}
		for part := range paths(typ.Elem(), path+".") {
			known[part] = true
			if _, ok := table[part]; !ok {
				missing = append(missing, part)
			}
		}
	}
	for path := range table {
		if !known[path] {
			t.Errorf("the table speaks of %s, which is no field", path)
		}
	}
	return missing
}

func TestFields_EveryFieldOfASpec_IsClassified(t *testing.T) {
	for _, path := range unclassified(t, reflect.TypeFor[v1alpha1.SeiNodeSpec](), fleet.Fields) {
		t.Errorf("fleet.Fields does not say how a change of %s reaches nodes that exist", path)
	}
}

// The test above must be able to fail: a field that nobody classified is found.
func TestFields_NewField_IsFound(t *testing.T) {
	type spec struct {
		ChainID string `json:"chainId"`
		Fresh   string `json:"fresh,omitempty"`
		Seed    *struct {
			NodeKey string `json:"nodeKey"`
			Other   string `json:"other"`
		} `json:"seed,omitempty"`
	}
	table := map[string]fleet.Class{"chainId": fleet.Immutable, "seed.nodeKey": fleet.Immutable}
	got := strings.Join(unclassified(t, reflect.TypeFor[spec](), table), " ")
	if !strings.Contains(got, "fresh") || !strings.Contains(got, "seed.other") {
		t.Errorf("found %q, want %q in it and %q in it", got, "fresh", "seed.other")
	}
}
