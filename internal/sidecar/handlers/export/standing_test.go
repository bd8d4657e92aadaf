package export_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// sidecar is a process that sees to the standing export until it is killed.
func (f *fixture) sidecar(t *testing.T) (kill func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.tasks.Stand(ctx, f.Records) })
	kill = func() { cancel(); running.Wait() }
	t.Cleanup(kill)
	return kill
}

func (f *fixture) set(t *testing.T, hash, canonical, extra string) {
	t.Helper()
	handlertest.Must[any](t, f.Harness, api.SetResultExport,
		fmt.Sprintf(`{"export":%s,"hash":%q%s}`, f.params(`,"canonicalRpc":"`+canonical+`"`), hash, extra))
}

// until waits for the document to say what a test waits for.
func (f *fixture) until(t *testing.T, what string, is func(*api.StandingExport) bool) *api.StandingExport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		doc := f.tasks.Standing.Document()
		if is(doc) {
			return doc
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waiting for %s: the document says %+v", what, doc)
		}
	}
}

func at(height int64) func(*api.StandingExport) bool {
	return func(doc *api.StandingExport) bool { return doc != nil && doc.Height == height && doc.Problem == "" }
}

func diverged(doc *api.StandingExport) bool { return doc != nil && doc.Divergence != nil }

// forked makes a chain differ at one height.
func forked(c *chain, height int64) *chain {
	was := c.appHash
	c.appHash = func(h int64) string {
		if h == height {
			return "FORK"
		}
		return was(h)
	}
	return c
}

func TestStanding_RunsWithoutATask_AndEndsWithAReport(t *testing.T) {
	f := newFixture(t, 50)
	canonical := forked(newChain(t, 50), 8)
	f.sidecar(t)
	f.set(t, "a", canonical.url, "")
	got := f.until(t, "the divergence", diverged)
	want := &api.StandingExport{
		Hash: "a", Bucket: "file://" + f.bucket, Prefix: "out/", CanonicalRPC: canonical.url, Height: 8,
		Divergence: &api.Divergence{Height: 8, Layer: 0, Field: "app_hash", Report: "out/divergence-8.report.json.gz"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	pages := map[string][]int64{"1-5.compare.ndjson.gz": heights(1, 5), "6-8.compare.ndjson.gz": heights(6, 8), "divergence-8.report.json.gz": {8}}
	if diff := cmp.Diff(pages, f.pages(t)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestStanding_AnotherProcess_GoesOnAndKeepsADivergence(t *testing.T) {
	f := newFixture(t, 12)
	canonical := forked(newChain(t, 50), 23)
	kill := f.sidecar(t)
	f.set(t, "a", canonical.url, "")
	f.until(t, "two pages", at(10))
	kill()

	f.shadow.mu.Lock()
	f.shadow.head = 50
	f.shadow.mu.Unlock()
	kill = f.sidecar(t)
	f.until(t, "the divergence", diverged)
	kill()

	// What has ended does not begin again: not by another process, and not because the same was asked for.
	f.sidecar(t)
	f.set(t, "a", canonical.url, "")
	if got := f.until(t, "the divergence", diverged); got.Divergence.Height != 23 {
		t.Errorf("document = %+v, want the divergence at 23", got)
	}
	if _, again := f.pages(t)["divergence-24.report.json.gz"]; again {
		t.Error("the export went on after its end")
	}
}

func TestStanding_AskedAgain_ComparesTheBlockThatDifferedOnceMore(t *testing.T) {
	f := newFixture(t, 20)
	canonical := forked(newChain(t, 20), 8)
	f.sidecar(t)
	f.set(t, "a", canonical.url, "")
	f.until(t, "the divergence", diverged)
	canonical.mu.Lock()
	canonical.appHash = f.shadow.appHash
	canonical.mu.Unlock()
	f.set(t, "a", canonical.url, `,"again":true`)
	f.until(t, "the blocks after it", at(17))
	if got := f.pages(t)["8-12.compare.ndjson.gz"]; !cmp.Equal(got, heights(8, 12)) {
		t.Errorf("the page after the divergence has %v", got)
	}
}

func TestStanding_OtherNodeOrNone(t *testing.T) {
	f := newFixture(t, 20)
	wrong, right := forked(newChain(t, 20), 3), newChain(t, 20)
	f.sidecar(t)
	f.set(t, "a", wrong.url, "")
	f.until(t, "the divergence", diverged)
	f.set(t, "b", right.url, "")
	doc := f.until(t, "the comparison with the other node", at(17))
	if doc.Hash != "b" || doc.CanonicalRPC != right.url {
		t.Errorf("document = %+v", doc)
	}
	handlertest.Must[any](t, f.Harness, api.SetResultExport, `{}`)
	f.until(t, "the end of the export", func(doc *api.StandingExport) bool { return doc == nil })
}

func TestStanding_BeginsWithTheFirstBlockOfTheNode(t *testing.T) {
	f := newFixture(t, 30)
	f.shadow.earliest = 21
	f.sidecar(t)
	f.set(t, "a", newChain(t, 30).url, "")
	f.until(t, "all blocks", at(30))
	want := map[string][]int64{"21-25.compare.ndjson.gz": heights(21, 25), "26-30.compare.ndjson.gz": heights(26, 30)}
	if diff := cmp.Diff(want, f.pages(t)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestStanding_TellsOfTroubleAndGoesOnAfterIt(t *testing.T) {
	for name, tc := range map[string]struct {
		harm, heal func(*fixture, *chain) error
		words      string
	}{
		"the other node is silent": {
			func(_ *fixture, c *chain) error { c.setNetwork(""); return nil },
			func(_ *fixture, c *chain) error { c.setNetwork("test-1"); return nil }, "does not answer",
		},
		"the other node is of another chain": {
			func(_ *fixture, c *chain) error { c.setNetwork("other-1"); return nil },
			func(_ *fixture, c *chain) error { c.setNetwork("test-1"); return nil }, "is a node of other-1, not of test-1",
		},
		"the other node has pruned": {
			func(_ *fixture, c *chain) error { c.setEarliest(4); return nil },
			func(_ *fixture, c *chain) error { c.setEarliest(1); return nil }, "has no block 1, its first is 4",
		},
		"the bucket is gone": {
			func(f *fixture, _ *chain) error { return os.RemoveAll(f.bucket) },
			func(f *fixture, _ *chain) error { return os.Mkdir(f.bucket, 0o750) }, "the store is busy or unreachable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 20)
			canonical := newChain(t, 20)
			if err := tc.harm(f, canonical); err != nil {
				t.Fatal(err)
			}
			f.sidecar(t)
			f.set(t, "a", canonical.url, "")
			f.until(t, "the trouble", func(doc *api.StandingExport) bool { return doc != nil && strings.Contains(doc.Problem, tc.words) })
			if err := tc.heal(f, canonical); err != nil {
				t.Fatal(err)
			}
			f.until(t, "all blocks", at(20))
		})
	}
}

// A killed process must not lose the end of an export: whatever record it could not write, the
// next one ends at the same block.
func TestStanding_KilledAtAnyRecord_EndsAtTheSameBlock(t *testing.T) {
	for fails := range 6 {
		f := newFixture(t, 20)
		canonical := forked(newChain(t, 20), 8)
		f.set(t, "a", canonical.url, "")
		puts := 0
		f.Records.FailPut = func(string) error {
			puts++
			if puts == fails+1 {
				return os.ErrClosed
			}
			return nil
		}
		f.sidecar(t)
		if got := f.until(t, "the divergence", diverged); got.Divergence.Height != 8 {
			t.Errorf("record %d lost: the export ends at %d", fails, got.Divergence.Height)
		}
	}
}

func TestSetResultExport_RefusesWhatCannotStand(t *testing.T) {
	f := newFixture(t, 1)
	for params, field := range map[string]string{
		`{"export":{"bucket":"b","canonicalRpc":"http://a"}}`:                                        "hash",
		`{"hash":"a","export":{"bucket":"b"}}`:                                                       "export.canonicalRpc",
		`{"hash":"a","export":{"bucket":"b","canonicalRpc":"http://a","continueOnDivergence":true}}`: "export.continueOnDivergence",
		`{"hash":"a","export":{"canonicalRpc":"http://a"}}`:                                          "bucket",
	} {
		_, err := f.Run(t, api.SetResultExport, params)
		if err == nil || api.DetailOf(err).Field != field {
			t.Errorf("%s: %v, want a fault of %s", params, err, field)
		}
	}
}
