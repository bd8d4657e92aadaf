package export_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/export"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// chain is a node's RPC with as many blocks as a test gives it.
type chain struct {
	mu             sync.Mutex
	url            string
	head, earliest int64
	// appHash and gas differ where a test wants two nodes to differ.
	appHash func(height int64) string
	gas     func(height int64) int64
	// network is the chain's id; a node without one does not answer.
	network string
	// balance answers the EVM side.
	balance string
	// onStatus is called when the node is asked how far it is.
	onStatus func()
}

func newChain(t *testing.T, head int64) *chain {
	t.Helper()
	c := &chain{head: head, earliest: 1, network: "test-1", balance: "0x1"}
	c.appHash = func(h int64) string { return fmt.Sprintf("%064X", h) }
	c.gas = func(int64) int64 { return 100 }
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.network == "" {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if r.Method == http.MethodPost {
		c.evm(w, r)
		return
	}
	var height int64
	_, _ = fmt.Sscan(r.URL.Query().Get("height"), &height)
	switch r.URL.Path {
	case "/status":
		if c.onStatus != nil {
			c.onStatus()
		}
		_, _ = fmt.Fprintf(w, `{"node_info":{"id":"n","network":%q},"sync_info":{"latest_block_height":"%d","earliest_block_height":"%d","max_peer_block_height":"0"}}`, c.network, c.head, c.earliest)
	case "/block":
		_, _ = fmt.Fprintf(w, `{"block_id":{"hash":"AB"},"block":{"header":{"height":"%d","app_hash":%q,"last_results_hash":"00"},"data":{"txs":[]}}}`, height, c.appHash(height))
	case "/block_results":
		_, _ = fmt.Fprintf(w, `{"height":"%d","txs_results":[{"code":0,"gas_used":"%d","gas_wanted":"200","log":"","events":[]}]}`, height, c.gas(height))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (c *chain) setNetwork(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.network = id
}

func (c *chain) setEarliest(height int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.earliest = height
}

func (c *chain) evm(w http.ResponseWriter, r *http.Request) {
	var call struct{ Method string }
	_ = json.NewDecoder(r.Body).Decode(&call)
	result := map[string]string{
		"debug_traceBlockByNumber": `[{"result":{"0xaa":{"storage":{"0x01":"0x02"}}}}]`,
		"eth_getBalance":           fmt.Sprintf("%q", c.balance), "eth_getTransactionCount": `"0x5"`, "eth_getCode": `"0x"`, "eth_getStorageAt": `"0x02"`,
	}[call.Method]
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result)
}

type fixture struct {
	*handlertest.Harness
	home   home.Dir
	bucket string
	shadow *chain
	tasks  *export.Tasks
}

func newFixture(t *testing.T, head int64) *fixture {
	t.Helper()
	f := &fixture{home: home.Dir(t.TempDir()), bucket: t.TempDir(), shadow: newChain(t, head)}
	f.tasks = &export.Tasks{
		Node: &node.Node{Home: f.home, ChainID: "test-1"}, RPC: func() *rpc.Client { return rpc.New(f.shadow.url) },
		Metrics: export.NewMetrics(nil), ExportPage: 10, ComparePage: 5, Poll: time.Millisecond,
		Patience: time.Millisecond, Pause: time.Millisecond,
	}
	f.Harness = handlertest.New(f.tasks.Handlers())
	return f
}

func (f *fixture) params(extra string) string {
	return fmt.Sprintf(`{"bucket":"file://%s","prefix":"out/"%s}`, f.bucket, extra)
}

// pages lists the objects with the heights in them.
func (f *fixture) pages(t *testing.T) map[string][]int64 {
	t.Helper()
	found := map[string][]int64{}
	files, err := filepath.Glob(filepath.Join(f.bucket, "out", "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, line := range f.lines(t, filepath.Base(file)) {
			var entry struct{ Height int64 }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			found[filepath.Base(file)] = append(found[filepath.Base(file)], entry.Height)
		}
	}
	return found
}

func (f *fixture) lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.Open(filepath.Join(f.bucket, "out", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	zipped, err := gzip.NewReader(data)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	scanner := bufio.NewScanner(zipped)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func heights(from, to int64) []int64 {
	var list []int64
	for h := from; h <= to; h++ {
		list = append(list, h)
	}
	return list
}

func TestExport_WritesFullPagesAndGoesOnWhereItLeftOff(t *testing.T) {
	f := newFixture(t, 25)
	got := handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, f.params(""))
	if diff := cmp.Diff(wire.Exported{Pages: 2, LastHeight: 20}, got); diff != "" {
		t.Errorf("first export (-want +got):\n%s", diff)
	}
	f.shadow.head = 31
	got = handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, f.params(""))
	if diff := cmp.Diff(wire.Exported{Pages: 1, LastHeight: 30}, got); diff != "" {
		t.Errorf("second export (-want +got):\n%s", diff)
	}
	want := map[string][]int64{"1-10.ndjson.gz": heights(1, 10), "11-20.ndjson.gz": heights(11, 20), "21-30.ndjson.gz": heights(21, 30)}
	if diff := cmp.Diff(want, f.pages(t)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if line := f.lines(t, "1-10.ndjson.gz")[0]; !strings.Contains(line, `"block_results":{"height":"1","txs_results":`) {
		t.Errorf("first line is %s", line)
	}
}

func TestExport_BeginsAfterTheSnapshotAndAnewForAnotherPlace(t *testing.T) {
	f := newFixture(t, 120)
	if err := os.WriteFile(f.home.Path(".sei-sidecar-snapshot-height"), []byte("100"), 0o600); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, f.params(""))
	handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, strings.Replace(f.params(""), "out/", "out/other-", 1))
	want := []string{"101-110.ndjson.gz", "111-120.ndjson.gz", "other-101-110.ndjson.gz", "other-111-120.ndjson.gz"}
	got := slices.Sorted(maps.Keys(f.pages(t)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestExport_GoesOnAfterAPublicSidecar(t *testing.T) {
	f := newFixture(t, 40)
	if err := os.WriteFile(f.home.Path(".sei-sidecar-last-export.json"), []byte(`{"lastExportedHeight":20}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, f.params(""))
	if diff := cmp.Diff(wire.Exported{Pages: 2, LastHeight: 40}, got); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
}

func TestExport_OfASilentNode_IsDoneAndOfAPrunedOneIsAnError(t *testing.T) {
	f := newFixture(t, 25)
	got := handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport, f.params(`,"rpcEndpoint":"http://127.0.0.1:1"`))
	if got.Pages != 0 {
		t.Errorf("export = %+v", got)
	}
	f.shadow.earliest = 5
	_, err := f.Run(t, api.ResultExport, f.params(""))
	if err == nil || api.DetailOf(err).Code != api.CodePrecondition {
		t.Errorf("export of a pruned node = %v", err)
	}
}

func TestCompare_StopsAtTheFirstDifferenceWithAReport(t *testing.T) {
	f := newFixture(t, 50)
	canonical := newChain(t, 50)
	canonical.appHash = func(h int64) string {
		if h >= 8 {
			return "FORK"
		}
		return f.shadow.appHash(h)
	}
	canonical.gas = func(int64) int64 { return 101 }
	id, params := uuid.NewString(), f.params(`,"canonicalRpc":"`+canonical.url+`"`)
	raw, err := f.RunAs(t, id, api.ResultExport, params)
	if want := `{"pages":2,"lastHeight":8,"divergedAt":8}`; err != nil || string(raw) != want {
		t.Errorf("result is %s, %v, want %s", raw, err, want)
	}
	// A run after a crash between the end and the storing of the result.
	if again, err := f.RunAs(t, id, api.ResultExport, params); err != nil || string(again) != string(raw) {
		t.Errorf("the repeat gave %s, %v, first it was %s", again, err, raw)
	}
	want := map[string][]int64{"1-5.compare.ndjson.gz": heights(1, 5), "6-8.compare.ndjson.gz": heights(6, 8), "divergence-8.report.json.gz": {8}}
	if diff := cmp.Diff(want, f.pages(t)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	var report struct{ Differences []export.Difference }
	if err := json.Unmarshal([]byte(f.lines(t, "divergence-8.report.json.gz")[0]), &report); err != nil {
		t.Fatal(err)
	}
	differences := []export.Difference{
		{Layer: 0, Field: "app_hash", Shadow: fmt.Sprintf("%064X", 8), Canonical: "FORK"},
		{Layer: 1, Field: "txs[0].gas_used", Shadow: "100", Canonical: "101"},
	}
	if diff := cmp.Diff(differences, report.Differences); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestCompare_EVMState(t *testing.T) {
	f := newFixture(t, 3)
	canonical := newChain(t, 3)
	canonical.balance = "0x2"
	got := handlertest.Must[wire.Exported](t, f.Harness, api.ResultExport,
		f.params(fmt.Sprintf(`,"canonicalRpc":%q,"shadowEvmRpc":%q,"canonicalEvmRpc":%q`, canonical.url, f.shadow.url, canonical.url)))
	if got.DivergedAt != 1 || !strings.Contains(f.lines(t, "divergence-1.report.json.gz")[0], `"layer":2,"field":"eth_getBalance[0xaa]","shadow":"0x1","canonical":"0x2"`) {
		t.Errorf("result = %+v", got)
	}
}

func TestSurvey_Cancelled_KeepsWhatItHasAndGoesOnThere(t *testing.T) {
	f := newFixture(t, 7)
	canonical := newChain(t, 7)
	// The results are the last thing that is asked of a block. After those of the last one the
	// survey asks for the next.
	var last atomic.Bool
	canonical.gas = func(h int64) int64 {
		last.Store(h == 7)
		return 101
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.Context = ctx
	f.shadow.onStatus = func() {
		if last.Load() {
			cancel()
		}
	}
	params := f.params(`,"migrationMode":true,"continueOnDivergence":true,"canonicalRpc":"` + canonical.url + `"`)
	_, err := f.Run(t, api.ResultExport, params)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("survey = %v, want cancelled", err)
	}
	want := map[string][]int64{"1-5.compare.ndjson.gz": heights(1, 5), "6-7.compare.ndjson.gz": heights(6, 7)}
	if diff := cmp.Diff(want, f.pages(t)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if line := f.lines(t, "1-5.compare.ndjson.gz")[0]; !strings.Contains(line, `"match":false`) {
		t.Errorf("first line is %s, want one that does not match", line)
	}
}

func TestExport_RefusesBadAddresses(t *testing.T) {
	f := newFixture(t, 1)
	for params, field := range map[string]string{
		`{}`: "bucket", `{"bucket":"b","canonicalRpc":"host:26657"}`: "canonicalRpc", `{"bucket":"b","rpcEndpoint":"file:///etc"}`: "rpcEndpoint",
		`{"bucket":"b","shadowEvmRpc":"http://a"}`: "canonicalEvmRpc",
	} {
		_, err := f.Run(t, api.ResultExport, params)
		if err == nil || api.DetailOf(err).Field != field {
			t.Errorf("%s: %v, want a fault of %s", params, err, field)
		}
	}
}
