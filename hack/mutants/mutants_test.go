package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// Every mutant applies to the current source. One that does not was left behind by a change: find its place in the
// new code, or remove it from the table.
func TestTable_FitsTheSource(t *testing.T) {
	mutants, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(root, mutants); err != nil {
		t.Error(err)
	}
	if len(mutants) < 100 {
		t.Errorf("%d mutants, want 100 at least", len(mutants))
	}
	if _, _, err := all(root, t.TempDir(), mutants); err != nil {
		t.Error(err)
	}
}

func TestCheck_SaysWhatIsWrongWithATable(t *testing.T) {
	good := mutant{ID: "an-id", What: "it", Touches: "gate", File: "hack/mutants/doc.go", Old: "package main", New: "package m"}
	for want, change := range map[string]func(*mutant){
		"":                   func(*mutant) {},
		"words with hyphens": func(m *mutant) { m.ID = "one" },
		"what is wrong":      func(m *mutant) { m.What = "" },
		"touches":            func(m *mutant) { m.Touches = "nothing" },
		"0 times":            func(m *mutant) { m.Old = "something else" },
		"want once":          func(m *mutant) { m.Old = "a" },
		"changes nothing":    func(m *mutant) { m.New = m.Old },
		"is no package":      func(m *mutant) { m.Tests = []string{"rm"} },
		"reading the source": func(m *mutant) { m.File = "nowhere.go" },
	} {
		m := good
		change(&m)
		err := check(root, []*mutant{&m})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("check = %v, want an error with %q, or none for nothing", err, want)
		}
	}
	if err := check(root, []*mutant{&good, &good}); err == nil {
		t.Error("the same id twice is accepted")
	}
}

// A function with defects selects between its variants, whatever its signature is.
func TestChoosing_FunctionsOfEveryShape(t *testing.T) {
	dir := t.TempDir()
	text := `package p

var table = []int{1}

type box[E any] struct{ e E }

func plain(_ int, names ...string) (n int, err error) { return len(names), nil }

func (b *box[E]) set(e E) { b.e = e }

func generic[T any](of []T) T { return of[0] }
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	made := func(id, old, replacement string) *mutant {
		return &mutant{ID: id, File: "p.go", Old: old, New: replacement}
	}
	s, outside, err := read(dir, "p.go", []*mutant{
		made("a-one", "len(names)", "0"), made("a-two", ", nil", ", err"), made("a-set", "b.e = e", "_ = e"), made("a-first", "of[0]", "of[1]"), made("a-var", "1}", "2}"),
	})
	if err != nil || len(outside) != 1 || outside[0].ID != "a-var" {
		t.Fatalf("%v, outside %v", err, outside)
	}
	got, err := s.choosing()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"func plain(arg0 int, arg1 ...string) (n int, err error) {", "return plain__a_one(arg0, arg1...)", "return plain__0(arg0, arg1...)",
		"func (self *box[E]) set(arg0 E) {", "self.set__a_set(arg0)", "func (b *box[E]) set__a_set(e E) { _ = e }",
		"func generic[T any](arg0 []T) T {", "func generic__a_first[T any](of []T) T { return of[1] }", "var table = []int{1}",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
}

func TestName_FindsTheTestThatFailed(t *testing.T) {
	for said, want := range map[string]string{
		"=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/inner (0.00s)\n": "TestA/inner",
		"=== RUN   TestA\n--- PASS: TestA\n=== RUN   TestB\npanic: nil map\n":           "TestB",
		"=== RUN   TestA\npanic: test timed out after 1s\n":                             hung,
		"signal: killed\n": "",
	} {
		got, err := name(said, errors.New("exit status 1"))
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %v and an error: %t", said, got, err, want, want == "")
		}
	}
}

// An unnoticed vital mutant fails the run however many others were noticed; so does a mistake in the table.
func TestSum_VitalMutantsMustBeNoticed(t *testing.T) {
	hundred := func(change func(*verdict)) error {
		verdicts := make([]verdict, 100)
		for i := range verdicts {
			verdicts[i] = verdict{mutant: &mutant{ID: "x", Touches: "plan"}, By: "TestX"}
		}
		change(&verdicts[0])
		return sum(io.Discard, verdicts)
	}
	for name, c := range map[string]struct {
		change func(*verdict)
		fails  bool
	}{
		"all noticed":       {func(*verdict) {}, false},
		"one not":           {func(v *verdict) { v.By = "" }, false},
		"one that is vital": {func(v *verdict) { v.By, v.Touches = "", "key" }, true},
		"a mistake":         {func(v *verdict) { v.Err = errors.New("it does not compile") }, true},
	} {
		if err := hundred(c.change); (err != nil) != c.fails {
			t.Errorf("%s: %v, want an error: %t", name, err, c.fails)
		}
	}
	few := []verdict{{mutant: &mutant{ID: "x"}, By: "TestX"}, {mutant: &mutant{ID: "y"}}}
	if err := sum(io.Discard, few); err == nil {
		t.Error("one of two is enough")
	}
}
