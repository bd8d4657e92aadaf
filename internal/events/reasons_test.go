package events_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/events"
)

var update = flag.Bool("update", false, "write docs/reference/events.md")

func TestCatalogue_HoldsEveryConstantOnce(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reasons.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Reason" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, value)
		return true
	})
	listed := make([]string, 0, len(events.Catalogue()))
	actions := map[string]bool{}
	word := regexp.MustCompile(`^[A-Z][A-Za-z]{1,127}$`)
	for _, e := range events.Catalogue() {
		listed = append(listed, string(e.Reason))
		if !word.MatchString(string(e.Reason)) || !word.MatchString(e.Action) || !strings.HasSuffix(e.Meaning, ".") {
			t.Errorf("%s: reason and action are CamelCase words, the meaning is a sentence: %+v", e.Reason, e)
		}
		if e.Type != "Normal" && e.Type != "Warning" {
			t.Errorf("%s: type %q", e.Reason, e.Type)
		}
		// Events that agree in reason and action are folded into one, without
		// the note of the second.
		if actions[e.Action] {
			t.Errorf("%s: action %s is used twice", e.Reason, e.Action)
		}
		actions[e.Action] = true
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if diff := cmp.Diff(declared, listed); diff != "" {
		t.Errorf("constants and catalogue differ (-constants +catalogue):\n%s", diff)
	}
}

func TestDocs_ListTheCatalogue(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "events.md")
	want := page(events.Catalogue())
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("docs/reference/events.md is out of date; run: go test ./internal/events -run Docs -update\n(-want +got):\n%s", diff)
	}
}

const intro = `# Events

<!-- Made by: go test ./internal/events -run Docs -update. Change internal/events/reasons.go instead. -->

The operator emits an event when something changes, once per change, and none while everything is as it should be:
conditions say how an object *is*, events say what *happened* to it. They are of API ` + "`events.k8s.io/v1`" + `; see them with

    kubectl events --for seinode/NAME

Each is also a line of the operator's log, with the reason under the key ` + "`event`" + `.

| reason | type | action | related object | meaning |
|---|---|---|---|---|
`

func page(list []events.Entry) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, e := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Reason, e.Type, e.Action, e.Related, e.Meaning)
	}
	return b.String()
}
