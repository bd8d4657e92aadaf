package sidecar_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/fork"
)

// forked is a node's RPC that tells another app hash from one height on.
func forked(t *testing.T, n *node, height int64) string {
	t.Helper()
	srv := httptest.NewServer(fork.Handler(&url.URL{Scheme: "http", Host: n.witness()}, func() int64 { return height }))
	t.Cleanup(srv.Close)
	return srv.URL
}

// A node is compared with itself through a proxy that lies from one height on. On the way the
// sidecar is killed and seid restarted.
func TestStandingExport_FindsAPlantedDivergence(t *testing.T) {
	bucket := t.TempDir()
	v := newNode(t, "export-1", "v0", "")
	ceremony([]*node{v}, nil)
	v.start()
	v.awaitHeight(3)
	height := v.height() + 15
	set := wire.SetResultExport{Hash: "a", Export: &wire.ResultExport{
		Bucket: "file://" + bucket, Prefix: "export-1/results/ns/v0/", CanonicalRPC: forked(t, v, height),
	}}
	do[any](v, api.SetResultExport, set)
	if doc := v.document().ResultExport; doc == nil || doc.Hash != "a" || doc.Divergence != nil {
		t.Errorf("the document says %+v", doc)
	}
	v.Kill()
	v.Restart()
	if doc := v.document().ResultExport; doc == nil || doc.Hash != "a" {
		t.Errorf("a new process says %+v", doc)
	}
	do[any](v, api.MarkReady, nil)
	do[any](v, api.RestartSeid, nil)

	doc, _ := v.awaitDocument("the divergence", func(d api.Node) bool { return d.ResultExport != nil && d.ResultExport.Divergence != nil })
	want := &api.Divergence{Height: height, Layer: 0, Field: "app_hash", Report: fmt.Sprintf("%sdivergence-%d.report.json.gz", set.Export.Prefix, height)}
	if diff := cmp.Diff(want, doc.ResultExport.Divergence); diff != "" {
		t.Errorf("divergence (-want +got):\n%s", diff)
	}
	readReport(t, filepath.Join(bucket, want.Report), height)

	// Another process knows the end and does not continue behind it.
	v.Kill()
	v.Restart()
	if again := v.document().ResultExport; again == nil || !cmp.Equal(want, again.Divergence) {
		t.Errorf("after a restart the document says %+v", again)
	}
	if reports, _ := filepath.Glob(filepath.Join(bucket, set.Export.Prefix, "divergence-*.gz")); len(reports) != 1 {
		t.Errorf("reports: %v, want one", reports)
	}
}

func readReport(t *testing.T, file string, height int64) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		ChainID     string `json:"chain_id"`
		Height      int64
		Differences []struct {
			Layer                    int
			Field, Shadow, Canonical string
		}
		ShadowResults json.RawMessage `json:"shadow_block_results"`
	}
	if err := json.NewDecoder(zipped).Decode(&report); err != nil {
		t.Fatal(err)
	}
	if report.ChainID != "export-1" || report.Height != height || len(report.ShadowResults) == 0 || len(report.Differences) != 1 {
		t.Fatalf("the report is %+v", report)
	}
	d := report.Differences[0]
	if d.Layer != 0 || d.Field != "app_hash" || d.Canonical != fork.AppHash || len(d.Shadow) != 64 || strings.EqualFold(d.Shadow, fork.AppHash) {
		t.Errorf("the report names %+v", d)
	}
}
