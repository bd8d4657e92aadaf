package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// The lines of seid, as the code that writes them has them.
const (
	wrongAppHash = "validateBlock(): wrong Block.Header.AppHash.  Expected AA11, got BB22"
	inBlockSync  = `time=x level=ERROR msg="Failed to validate block or verify commit" last_commit=SIGNATURES block_id=y height=43 err="` + wrongAppHash + `"`
	inProposal   = `time=x level=ERROR msg="prevote step: consensus deems this block invalid; prevoting nil" height=43 round=0 err="` + wrongAppHash + `"`
	inConsensus  = `time=x level=ERROR msg="CONSENSUS FAILURE!!!" err="precommit step: +2/3 prevoted for an invalid block ` + wrongAppHash + `; relocking" stack=z`
	finalized    = `time=x level=INFO msg="finalized block" height=43 block_app_hash=AA11`
	panicPrevote = "panic: precommit step: +2/3 prevoted for an invalid block " + wrongAppHash + "; relocking"
	panicCommit  = "panic: +2/3 committed an invalid block: " + wrongAppHash + " [recovered, repanicked]"
	panicOfOld   = "panic: Failed to process committed block (43:CC33): wrong Block.Header.AppHash.  Expected AA11, got BB22"
)

func TestFindings_BlockOfTheChainThatSeidRefuses(t *testing.T) {
	said := "wrong Block.Header.AppHash.  Expected AA11, got BB22"
	appHash := func(height int64, message string) *api.Divergence {
		return &api.Divergence{Height: height, Field: "app_hash", Message: message}
	}
	for name, tc := range map[string]struct {
		lines []string
		want  *api.Divergence
	}{
		"while it fetches blocks":           {[]string{inBlockSync}, appHash(43, said)},
		"the log is JSON":                   {[]string{`{"level":"ERROR","msg":"Failed to validate block or verify commit","height":43,"err":"` + wrongAppHash + `"}`}, appHash(43, said)},
		"the commit has many signatures":    {[]string{strings.Replace(inBlockSync, "SIGNATURES", strings.Repeat("s", 24<<10), 1)}, appHash(43, said)},
		"while it follows the chain":        {[]string{inProposal, panicPrevote}, appHash(43, panicPrevote)},
		"the panic is read first":           {[]string{panicPrevote, inProposal, inConsensus}, appHash(43, panicPrevote)},
		"it comes late":                     {[]string{inProposal, panicCommit}, appHash(43, panicCommit)},
		"it never saw the proposal":         {[]string{panicCommit}, appHash(0, panicCommit)},
		"an older one":                      {[]string{panicOfOld}, appHash(43, panicOfOld)},
		"it says so twice":                  {[]string{inBlockSync, panicPrevote}, appHash(43, panicPrevote)},
		"a single proposer is wrong":        {[]string{inProposal}, nil},
		"one was wrong and the chain right": {[]string{inProposal, finalized, panicCommit}, appHash(0, panicCommit)},
		"the results before differ": {
			[]string{strings.ReplaceAll(inBlockSync, "AppHash", "LastResultsHash")},
			&api.Divergence{Height: 43, Field: "last_results_hash", Message: "wrong Block.Header.LastResultsHash.  Expected AA11, got BB22"},
		},
		"a header of another chain": {[]string{strings.ReplaceAll(inBlockSync, "AppHash", "ChainID")}, nil},
		"another error":             {[]string{`level=ERROR msg="Failed to validate block or verify commit" height=43 err="VerifyCommit(): wrong signature"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := &output{}
			_, _ = o.stream(nil).Write([]byte(strings.Join(tc.lines, "\n") + "\n"))
			if diff := cmp.Diff(tc.want, o.finish().divergence); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A seid that fetches blocks refuses one and runs on. That is told while it runs, and by whoever
// finds that it has ended.
func TestRun_BlockRefused_IsToldWhileSeidRuns(t *testing.T) {
	g, _ := gateAt(t, opened)
	want := &api.Divergence{Height: 43, Field: "app_hash", Message: "wrong Block.Header.AppHash.  Expected AA11, got BB22"}
	ready := filepath.Join(t.TempDir(), "ready")
	script := "touch " + ready + "; echo '" + inBlockSync + "'; while [ -e " + ready + " ]; do sleep 0.02; done; exit 1"
	done := make(chan error, 1)
	go func() { done <- g.Run(t.Context(), []string{"sh", "-c", script}) }()
	r := awaitRecord(t, g, func(r supervision.Record) bool { return r.State == api.SeidRunning && r.Divergence != nil })
	if diff := cmp.Diff(want, r.Refused()); diff != "" || !cmp.Equal(want, r.Seid(g.now()).Divergence) || !cmp.Equal(want, r.Lost(g.now()).LastExit.Divergence) {
		t.Errorf("refused (-want +got):\n%s\nrecord %+v", diff, r)
	}
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	<-done
	if r := record(t, g); r.State != api.SeidExited || !cmp.Equal(want, r.Refused()) || r.Seid(g.now()).Divergence != nil {
		t.Errorf("after its end: %+v", r)
	}
}
