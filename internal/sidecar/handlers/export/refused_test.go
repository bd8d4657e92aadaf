package export_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const refusedLine = "panic: +2/3 committed an invalid block: validateBlock(): wrong Block.Header.AppHash.  Expected AA, got BB"

func refusing(height int64) func() *api.Divergence {
	return func() *api.Divergence {
		return &api.Divergence{Height: height, Field: "app_hash", Message: refusedLine}
	}
}

// A node whose seid refuses a block never has it: that ends the comparison, whether the node
// answers, does not, or the canonical node is away.
func TestStanding_SeidRefusesABlock_EndsWithAReport(t *testing.T) {
	for name, tc := range map[string]struct {
		height int64
		change func(shadow, canonical *chain)
		header string
	}{
		"it answers":                     {8, func(*chain, *chain) {}, "0000000000000000000000000000000000000000000000000000000000000008"},
		"it answers, and named no block": {0, func(*chain, *chain) {}, "0000000000000000000000000000000000000000000000000000000000000008"},
		"it is down":                     {8, func(shadow, _ *chain) { shadow.setNetwork("") }, "0000000000000000000000000000000000000000000000000000000000000008"},
		"the canonical node is away too": {8, func(shadow, canonical *chain) { shadow.setNetwork(""); canonical.setNetwork("") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 7)
			f.tasks.ComparePage = 1
			canonical := newChain(t, 50)
			f.set(t, "a", canonical.url, "")
			kill := f.sidecar(t)
			f.until(t, "the blocks before it", at(7))
			kill()
			tc.change(f.shadow, canonical)
			f.tasks.Refused = refusing(tc.height)
			f.sidecar(t)
			got := f.until(t, "the divergence", diverged)
			want := &api.Divergence{Height: 8, Layer: 0, Field: "app_hash", Report: "out/divergence-8.report.json.gz", Message: refusedLine}
			if diff := cmp.Diff(want, got.Divergence); diff != "" {
				t.Errorf("divergence (-want +got):\n%s", diff)
			}
			var report struct {
				Differences []struct {
					Layer                    int
					Field, Shadow, Canonical string
				}
				Says   string `json:"shadow_says"`
				Header struct {
					AppHash string `json:"app_hash"`
				} `json:"canonical_header"`
			}
			if err := json.Unmarshal([]byte(f.lines(t, "divergence-8.report.json.gz")[0]), &report); err != nil {
				t.Fatal(err)
			}
			if d := report.Differences; len(d) != 1 || d[0].Field != "app_hash" || d[0].Shadow != "AA" || d[0].Canonical != "BB" ||
				report.Says != refusedLine || report.Header.AppHash != tc.header {
				t.Errorf("the report says %+v", report)
			}
		})
	}
}

// What was refused at another height says nothing of the block that is waited for, and a node that
// has the block has not refused it.
func TestStanding_RefusalOfAnotherBlock_IsNotTakenForThisOne(t *testing.T) {
	f := newFixture(t, 20)
	f.tasks.Refused = refusing(8)
	f.sidecar(t)
	f.set(t, "a", newChain(t, 20).url, "")
	if got := f.until(t, "all blocks", at(20)); got.Divergence != nil {
		t.Errorf("document = %+v", got)
	}
}
