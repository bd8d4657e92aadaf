package reasons_test

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

	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/reasons"
)

// declared are the string constants of api/v1alpha1/conditions.go whose name starts with prefix.
func declared(t *testing.T, prefix string) []string {
	t.Helper()
	path := filepath.Join("..", "..", "api", "v1alpha1", "conditions.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, value)
		return true
	})
	return found
}

func sorted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

func conditions(t *testing.T) []reasons.Condition {
	t.Helper()
	all, err := reasons.Conditions()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConditions_HoldEveryConstant_AndNothingElse(t *testing.T) {
	var types, listed []string
	for _, c := range conditions(t) {
		types = append(types, c.Types...)
		for _, s := range c.States {
			listed = append(listed, s.Reasons...)
		}
	}
	if diff := cmp.Diff(sorted(declared(t, "Condition")), sorted(types)); diff != "" {
		t.Errorf("types of conditions (-constants +explained):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(append(declared(t, "Reason"), node.Reasons()...)), sorted(listed)); diff != "" {
		t.Errorf("reasons (-constants +explained):\n%s", diff)
	}
}

func TestConditions_EachState_SaysWhatIsWhyAndWhatToDo(t *testing.T) {
	for _, c := range conditions(t) {
		if !strings.HasSuffix(c.About, ".") {
			t.Errorf("%s %v: about is not a sentence: %q", c.Kind, c.Types, c.About)
		}
		for _, s := range c.States {
			if s.Status != "True" && s.Status != "False" && s.Status != "Unknown" {
				t.Errorf("%s %v %v: status %q", c.Kind, c.Types, s.Reasons, s.Status)
			}
			checkWords(t, c.Kind+" "+strings.Join(append(c.Types, s.Reasons...), " "), s.Words)
		}
	}
}

func checkWords(t *testing.T, of string, w reasons.Words) {
	t.Helper()
	for _, text := range []string{w.Meaning, w.Action, w.Cause} {
		if text != "" && !strings.HasSuffix(text, ".") {
			t.Errorf("%s: not a sentence: %q", of, text)
		}
	}
	if w.Meaning == "" || w.Action == "" {
		t.Errorf("%s: meaning and action are needed: %+v", of, w)
	}
	asksForNothing := strings.HasPrefix(w.Action, "Nothing") || strings.HasPrefix(w.Action, "Wait") || strings.HasPrefix(w.Action, "As for")
	if w.Cause == "" && !asksForNothing {
		t.Errorf("%s: asks for %q and does not say why it happens", of, w.Action)
	}
}

func TestEvents_EveryWarning_SaysWhyAndWhatToDo(t *testing.T) {
	all, err := reasons.Events()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(events.Catalogue()) {
		t.Errorf("explained %d events of %d", len(all), len(events.Catalogue()))
	}
	for _, e := range all {
		checkWords(t, e.Reason, e.Words)
		if (e.Type == "Warning") != (e.Cause != "") {
			t.Errorf("%s is %s with the cause %q: warnings have a cause and others none", e.Reason, e.Type, e.Cause)
		}
	}
}

func TestExplain_AReasonOfConditionsAndEvents_ListsAllUses(t *testing.T) {
	got, known, err := reasons.Explain("imagepullfailed")
	if err != nil || !known {
		t.Fatalf("known %v: %v", known, err)
	}
	uses := make([]string, 0, len(got.Uses))
	for _, u := range got.Uses {
		uses = append(uses, u.Of+" "+u.Status)
	}
	want := []string{"SeiNode InSync, Ready False", "SeiNode UpgradeScheduled True", "event Warning"}
	if diff := cmp.Diff(want, uses); got.Name != "ImagePullFailed" || diff != "" {
		t.Errorf("%s (-want +got):\n%s", got.Name, diff)
	}
}

func TestExplain_EveryName_IsKnownAndHasNoLinks(t *testing.T) {
	names, err := reasons.Names()
	if err != nil || len(names) < 150 {
		t.Fatalf("%d names: %v", len(names), err)
	}
	for _, name := range names {
		got, known, err := reasons.Explain(name)
		if err != nil || !known || got.Name != name {
			t.Errorf("%s: known %v as %q: %v", name, known, got.Name, err)
		}
		for _, use := range got.Uses {
			if text := use.Meaning + use.Cause + use.Action; strings.Contains(text, "](") {
				t.Errorf("%s has a link in %q", name, text)
			}
		}
	}
	if _, known, _ := reasons.Explain("NoSuchReason"); known {
		t.Error("NoSuchReason is known")
	}
}
