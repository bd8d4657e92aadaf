package docs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// sections of docs/reference/fields.md, and the types whose fields each lists. A field of one of the other
// types that has a section of its own is one row.
var sections = map[string]struct {
	prefix string
	of     reflect.Type
}{
	"SeiNode spec":             {"spec", reflect.TypeFor[v1alpha1.SeiNodeSpec]()},
	"SeiNode status":           {"status", reflect.TypeFor[v1alpha1.SeiNodeStatus]()},
	"SeiNodeDeployment spec":   {"spec", reflect.TypeFor[v1alpha1.SeiNodeDeploymentSpec]()},
	"SeiNodeDeployment status": {"status", reflect.TypeFor[v1alpha1.SeiNodeDeploymentStatus]()},
	"SeiNodeTask spec":         {"spec", reflect.TypeFor[v1alpha1.SeiNodeTaskSpec]()},
	"SeiNodeTask status":       {"status", reflect.TypeFor[v1alpha1.SeiNodeTaskStatus]()},
}

// leaves are the fields of a type that have no fields of ours below them. Types of Kubernetes are
// leaves: what is in them is not ours to act on.
func leaves(t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		return leaves(t.Elem(), path+"[]")
	}
	nested := path != "spec" && t == reflect.TypeFor[v1alpha1.SeiNodeSpec]()
	if t.Kind() != reflect.Struct || !strings.Contains(t.PkgPath(), "sei-operator") || t.NumField() == 0 || nested {
		return []string{path}
	}
	var found []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			found = append(found, leaves(f.Type, path)...)
			continue
		}
		found = append(found, leaves(f.Type, path+"."+name)...)
	}
	return found
}

// row is one row of docs/reference/fields.md.
type row struct{ field, acts, proof string }

// fieldRows are the rows of docs/reference/fields.md by section.
func fieldRows(t *testing.T) map[string][]row {
	t.Helper()
	found, section := map[string][]row{}, ""
	for line := range strings.Lines(read(t, "docs/reference/fields.md")) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) == 3 && strings.HasPrefix(strings.TrimSpace(cells[0]), "`") {
			found[section] = append(found[section], row{
				strings.Trim(strings.TrimSpace(cells[0]), "`"), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]),
			})
		}
	}
	return found
}

// names reports whether a row names a field. In a status a row may cover all that is below
// a field; what users set is listed one by one.
func (r row) names(field string) bool {
	below, all := strings.CutSuffix(r.field, ".*")
	return r.field == field || all && strings.HasPrefix(field, "status") && strings.HasPrefix(field, below+".")
}

// No field of the API is inert without saying so: each is named with what it acts on and the test
// that proves it.
func TestFields_EveryOne_ActsAndIsProved(t *testing.T) {
	rows, tests := fieldRows(t), testFunctions(t)
	for name, s := range sections {
		fields := leaves(s.of, s.prefix)
		for _, field := range fields {
			n := len(slices.DeleteFunc(slices.Clone(rows[name]), func(r row) bool { return !r.names(field) }))
			if n != 1 {
				t.Errorf("docs/reference/fields.md, %s: %s is named %d times, want once", name, field, n)
			}
		}
		for _, r := range rows[name] {
			if !slices.ContainsFunc(fields, r.names) {
				t.Errorf("docs/reference/fields.md, %s: %s is no field", name, r.field)
			}
			r.check(t, name, tests)
		}
	}
}

func (r row) check(t *testing.T, section string, tests map[string]bool) {
	t.Helper()
	proofs := testName.FindAllStringSubmatch(r.proof, -1)
	if r.acts == "" || len(proofs) == 0 {
		t.Errorf("docs/reference/fields.md, %s: %s needs what it acts on, and a test", section, r.field)
	}
	for _, proof := range proofs {
		if !tests[proof[1]] {
			t.Errorf("docs/reference/fields.md, %s: %s is to be proved by %s, which does not exist", section, r.field, proof[1])
		}
	}
}

// The walk must not miss a field: it finds those without fields of their own, in lists and in
// inlined structs, and stops at types of Kubernetes.
func TestLeaves_FindsEveryKindOfField(t *testing.T) {
	spec := slices.Concat(
		leaves(reflect.TypeFor[v1alpha1.SeiNodeSpec](), "spec"), leaves(reflect.TypeFor[v1alpha1.SeiNodeDeploymentSpec](), "spec"),
		leaves(reflect.TypeFor[v1alpha1.SeiNodeTaskSpec](), "spec"),
	)
	for _, want := range []string{
		"spec.fullNode.snapshot.stateSync", "spec.peers[].static.addresses[]", "spec.resources", "spec.overrides",
		"spec.template.spec", "spec.networking.http", "spec.govVote.fees",
	} {
		if !slices.Contains(spec, want) {
			t.Errorf("the walk does not find %s", want)
		}
	}
}
