package look

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// servedMetrics are in the form in which a real seid serves them during a state sync.
const servedMetrics = `# HELP tendermint_p2p_peers Number of peers.
# TYPE tendermint_p2p_peers gauge
tendermint_p2p_peers{chain_id="four-1"} 2
# HELP tendermint_statesync_back_fill_blocks_total The total number of blocks that need to be back-filled.
# TYPE tendermint_statesync_back_fill_blocks_total gauge
tendermint_statesync_back_fill_blocks_total{chain_id="four-1"} 9
tendermint_statesync_back_filled_blocks{chain_id="four-1"} 2
tendermint_statesync_chunk_process_avg_time{chain_id="four-1"} 2.919446341e+09
tendermint_statesync_snapshot_chunk{chain_id="four-1"} 1
tendermint_statesync_snapshot_chunk_total{chain_id="four-1"} 4
tendermint_statesync_snapshot_height{chain_id="four-1"} 8
tendermint_statesync_total_snapshots{chain_id="four-1"} 3
tendermint_p2p_peer_receive_bytes_total{chID="0x60",chain_id="four-1",message_type="x y"} 1.2e+06
go_goroutines 12
`

func TestParseMetrics(t *testing.T) {
	want := &StateSyncMetrics{Peers: new(2), Snapshots: 3, Chunks: 1, ChunksTotal: 4, Backfilled: 2, BackfilledTotal: 9}
	if diff := cmp.Diff(want, parseMetrics(strings.NewReader(servedMetrics))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&StateSyncMetrics{}, parseMetrics(strings.NewReader("rubbish\n\n{} x\n"))); diff != "" {
		t.Errorf("rubbish (-want +got):\n%s", diff)
	}
}

func TestStateSync_GathersMetricsAndFiles(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(servedMetrics)) }))
	defer srv.Close()
	dir := home.Dir(t.TempDir())
	fill(t, string(dir), map[string]string{
		"tmp/tm-statesync1/0": "old", "tmp/tm-statesync2/0": "x", "tmp/tm-statesync2/1": "x",
		"data/committer.db/snapshot-9-tmp/bank/kvs": "12345", "data/committer.db/changelog/1": "",
	})
	earlier := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir.Path("tmp/tm-statesync1"), earlier, earlier); err != nil {
		t.Fatal(err)
	}
	l := New(Config{Home: string(dir)})
	set := settings{StateSync: true, LocalSnapshot: true, ChunkDir: dir.Tmp(), MetricsURL: srv.URL}
	got := l.stateSync(t.Context(), set)
	want := &StateSync{Local: true, ChunkFiles: 2, Restored: 5, Metrics: &StateSyncMetrics{Peers: new(2), Snapshots: 3, Chunks: 1, ChunksTotal: 4, Backfilled: 2, BackfilledTotal: 9}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	srv.Close()
	if got := l.stateSync(t.Context(), set); got.Metrics != nil {
		t.Errorf("metrics of a closed port: %+v", got.Metrics)
	}
	if got := l.stateSync(t.Context(), settings{}); got != nil {
		t.Errorf("a node without state sync: %+v", got)
	}
}

func TestAddListeners_PicksListeningSockets(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:6821 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65532        0 1 1 0 100 0 0 10 0
   1: 0100007F:1E61 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 00000000000000000000000000000000:6820 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 3
rubbish
`
	got := map[int]bool{}
	addListeners(got, []byte(table))
	if diff := cmp.Diff(map[int]bool{26657: true, 26656: true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKernelListeners_SeeASocketOfThisProcess(t *testing.T) {
	srv := httptest.NewServer(nil)
	port := portOf(srv.URL)
	open, err := kernelListeners()
	if err != nil || !open[port] {
		t.Errorf("port %d is not among %v, %v", port, open, err)
	}
	srv.Close()
	if open, err := kernelListeners(); err != nil || open[port] {
		t.Errorf("port %d is still open, %v", port, err)
	}
}

func TestCountChunks_WithoutADirectory_IsNone(t *testing.T) {
	if got := countChunks(filepath.Join(t.TempDir(), "missing")); got != 0 {
		t.Errorf("%d chunks", got)
	}
}
