package metrics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/metrics"
)

func declaration(t *testing.T, name string) metrics.Declaration {
	t.Helper()
	for _, d := range metrics.Declarations() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("%s is not declared", name)
	return metrics.Declaration{}
}

func TestDeclarations_EveryLabelButNames_HasKnownValues(t *testing.T) {
	free := []string{"namespace", "name", "version", "commit", "go_version"}
	for _, d := range metrics.Declarations() {
		for _, label := range d.Labels {
			if slices.Contains(free, label) == (len(d.Values[label]) > 0) {
				t.Errorf("%s: label %s has values %v", d.Name, label, d.Values[label])
			}
		}
		for label := range d.Values {
			if !slices.Contains(d.Labels, label) {
				t.Errorf("%s has values of %s, which is no label of it", d.Name, label)
			}
		}
	}
}

// A reason or a task that is new in the code would be counted as Other.
func TestDeclarations_ReasonsAndTasks_AreThoseOfThePlans(t *testing.T) {
	for prefix, got := range map[string][]string{
		"Reason":    declaration(t, metrics.NamePlanDuration).Values["reason"],
		"Step|Task": declaration(t, metrics.NameTaskDuration).Values["task"],
	} {
		of := func(file string) []string { return constants(t, filepath.Join("..", filepath.FromSlash(file)), prefix) }
		want := slices.Concat([]string{"Other"}, of("node/reasons.go"), of("node/steps.go"), of("fleet/ceremony.go"))
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s constants and label values differ (-constants +values):\n%s", prefix, diff)
		}
	}
}

func hasAnyPrefix(name, prefixes string) bool {
	return slices.ContainsFunc(strings.Split(prefixes, "|"), func(p string) bool { return strings.HasPrefix(name, p) })
}

// constants are the string constants of a file whose names begin with one of the prefixes.
func constants(t *testing.T, path, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !hasAnyPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, value)
		}
		return true
	})
	return found
}
