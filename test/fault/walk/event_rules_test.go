package walk

import (
	"testing"

	"pgregory.net/rapid"
)

// A walk that is drawn can be written down and read again, and every event is drawn.
func TestPlan_AsText_IsTheSameWalk(t *testing.T) {
	seen := map[string]bool{}
	for seed := range 2000 {
		p := rapid.Custom(func(t *rapid.T) plan { return draw(t, subjectNames()) }).Example(seed)
		again, err := parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q was read as %q, %v", p, again, err)
		}
		for _, e := range p.events {
			seen[e.what] = true
		}
	}
	for _, a := range alphabet {
		if !seen[a.name] {
			t.Errorf("%s was never drawn", a.name)
		}
	}
}

func TestPlan_ThatCannotBe_IsRefused(t *testing.T) {
	for _, text := range []string{"", "nobody image/0/rest", "full image", "full image/9/rest", "full image/0/soon", "full scale/0/rest", "fleet earthquake/0/rest"} {
		if p, err := parse(text); err == nil {
			t.Errorf("%q was read as %q", text, p)
		}
	}
}

// Where something is wrong in both, or in one of them only, is shown line by line.
func TestDifference_ShowsWhatOnlyOneHas(t *testing.T) {
	want := facts{"Pod a": {"x: 1", "y: 2"}, "Pod b": {"z: 3"}}
	is := facts{"Pod a": {"x: 1", "y: 3"}, "Pod c": {"z: 3"}}
	if got := difference(want, is); got != "+ Pod a y: 3\n+ Pod c\n- Pod a y: 2\n- Pod b\n" {
		t.Error(got)
	}
	if got := difference(want, want); got != "" {
		t.Error(got)
	}
}
