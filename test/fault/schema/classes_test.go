package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// Every field has one class, a reason where it is left out, and an object on which it is walked. What
// the tables say is about fields that exist.
func TestSchema_EveryField_HasAClass(t *testing.T) {
	fields := allFields(t, envtest.Shared(t))
	if len(fields) == 0 {
		t.Fatal("the CRDs have no fields")
	}
	for _, f := range fields {
		n := about(f)
		switch n.class {
		case walked, refused:
			if _, ok := baseOf(f); !ok {
				t.Errorf("%s is walked on no object", f)
			}
			if fit, _ := n.valuesOf(t, f); len(fit) == 0 {
				t.Errorf("no value of %s can be generated: give some in table_test.go", f)
			}
		case immutable:
		case excluded:
			if n.why == "" {
				t.Errorf("%s is left out without a reason", f)
			}
		default:
			t.Errorf("%s has no class", f)
		}
	}
	for _, n := range notes {
		if !slices.ContainsFunc(fields, n.covers) {
			t.Errorf("table_test.go speaks of %s, and no field is called so", n.of)
		}
	}
	for of := range samples {
		if !slices.ContainsFunc(fields, func(f field) bool { return isAround(of, f) }) {
			t.Errorf("place_test.go has a sample of %s, and nothing is called so", of)
		}
	}
}

// isAround reports whether something of a name is around a field.
func isAround(of string, f field) bool {
	path := f.steps[0].name
	for _, s := range f.steps[1:] {
		if (note{of: of}).matches(path) {
			return true
		}
		switch {
		case s.name != "":
			path += "." + s.name
		case strings.HasPrefix(f.path, path+"[]"):
			path += "[]"
		default:
			path += "{}"
		}
	}
	return false
}
