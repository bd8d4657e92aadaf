package fault

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What passed is not made again; what failed, or was being written down when the test ended, is.
func TestResults_Interrupted_GoOnWithWhatIsMissing(t *testing.T) {
	folder := t.TempDir()
	kept, earlier, err := openResults(folder, "a")
	if err != nil || len(earlier) > 0 {
		t.Fatal(earlier, err)
	}
	for _, one := range []result{
		{Run: "init/api-500/x 1", Took: 7}, {Run: "init/api-500/x 2", Failed: true},
		{Run: "init/api-500/x 3", Failed: true}, {Run: "init/api-500/x 3", Missed: true},
	} {
		if err := kept.add(one); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kept.file.WriteString(`{"run":"init/api-500/x 4","to`); err != nil {
		t.Fatal(err)
	}
	if err := kept.close(); err != nil {
		t.Fatal(err)
	}
	again, earlier, err := openResults(folder, "a")
	want := []result{{Run: "init/api-500/x 1", Took: 7}, {Run: "init/api-500/x 3", Missed: true}}
	if err != nil || !cmp.Equal(earlier, want) {
		t.Errorf("%v, %v, want no error and %v", earlier, err, want)
	}
	ref, d := &reference{scenario: scenarios[0]}, disturbanceNamed("api-500")
	left := missing([]plan{{ref, d, "x 1"}, {ref, d, "x 2"}, {ref, d, "x 3"}, {ref, d, "x 4"}}, earlier)
	if len(left) != 2 || left[0].at != "x 2" || left[1].at != "x 4" {
		t.Errorf("%v, want 2 of them, at %q and at %q", left, "x 2", "x 4")
	}
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
}

// A selection that is made again continues with other runs.
func TestSelected_WithEarlierResults_TakesOthers(t *testing.T) {
	ref := &reference{scenario: scenarios[0], calls: []call{{toAPI: true, verb: "create", object: "leases a", nth: 1, changes: true}}}
	few := choice{runs: 3, seed: 1}
	earlier := make([]result, 0, 2*few.runs)
	seen := map[string]bool{}
	for range 2 {
		for _, p := range few.selected([]*reference{ref}, earlier...) {
			if seen[p.name()] {
				t.Errorf("%s is made again", p.name())
			}
			seen[p.name()] = true
			earlier = append(earlier, result{Run: p.name()})
		}
	}
	if len(seen) != 6 {
		t.Errorf("%v, want 6 of them", seen)
	}
}

// A line that was cut off does not spoil the one that is written after it.
func TestResults_CutOff_TheNextLineIsWhole(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.jsonl"), []byte(`{"run":"init/api-5`), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, _, err := openResults(folder, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.add(result{Run: "init/api-500/x 1"}); err != nil {
		t.Fatal(err)
	}
	if err := kept.close(); err != nil {
		t.Fatal(err)
	}
	again, earlier, err := openResults(folder, "a")
	if err != nil || len(earlier) != 1 {
		t.Errorf("%v, %v, want no error and 1 of them", earlier, err)
	}
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
}

// Other code starts over.
func TestResults_OfOtherCode_AreRemoved(t *testing.T) {
	folder := t.TempDir()
	kept, _, err := openResults(folder, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.add(result{Run: "init/api-500/x 1"}); err != nil {
		t.Fatal(err)
	}
	if err := kept.close(); err != nil {
		t.Fatal(err)
	}
	other, earlier, err := openResults(folder, "b")
	if err != nil || len(earlier) > 0 {
		t.Errorf("%v, %v, want no error and none", earlier, err)
	}
	if err := other.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "a.jsonl")); !os.IsNotExist(err) {
		t.Errorf("reading the results for a: %v, want them gone", err)
	}
}
