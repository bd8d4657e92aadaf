package sidecar_test

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// old is how many blocks the newest snapshot of the chain lies behind the head.
const old = 2050

// A chain whose newest snapshot is more than 2000 blocks old is joined by a node that
// verifies it through a witness that only talks TLS, below a path, and one on IPv6.
func TestStateSync_OldSnapshotAndATLSWitness_Joins(t *testing.T) {
	v := newNode(t, "old-1", "v", "")
	genesis := ceremony([]*node{v}, map[string]string{
		"consensus.unsafe_commit_timeout_override": "1ms", "storage.state_store.enable": "true",
		"storage.snapshot_interval": "100", "storage.snapshot_keep_recent": "5",
	})
	v.start()
	v.awaitHeight(105)
	v.reconfigure(map[string]string{"storage.snapshot_interval": "0"})
	newest := v.newestSnapshot()
	follower := newNode(t, "old-1", "follower", "")
	follower.identity()
	follower.join(genesis)
	follower.configure("full", onIPv6(t, follower))
	follower.connect([]*node{v})
	follower.start()
	v.awaitHeight(newest + old)
	// The chain goes on slowly, so that the newcomer gets a share of the processor.
	v.reconfigure(map[string]string{"consensus.unsafe_commit_timeout_override": "1s"})
	follower.awaitHeight(newest + old)

	witness, env := tlsWitness(t, v)
	n := newNode(t, "old-1", "newcomer", "", env)
	n.identity()
	n.join(genesis)
	n.configure("full", map[string]string{"state_sync.discovery_time": "5s"})
	n.connect([]*node{v, follower})
	found := do[wire.StateSync](n, api.ConfigureStateSync, wire.ConfigureStateSync{RPCServers: []string{witness.URL + "/sei/rpc", v6(follower.witness())}})
	if found.TrustHeight >= newest || !strings.HasPrefix(found.RPCServers[0], "https://") || len(found.Warnings) > 0 {
		t.Fatalf("state sync is set to %+v", found)
	}
	asked := witness.asked()
	n.run(podSpec{restart: true, env: []string{env}})
	do[any](n, api.MarkReady, nil)
	do[wire.ConditionMet](n, api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: newest + old, Timeout: "100s"})
	status, err := n.rpc().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first := status.SyncInfo.EarliestBlockHeight; first < newest-2 || first > newest+2 {
		t.Errorf("the node has block %d, so it did not begin with the snapshot of %d", first, newest)
	}
	if witness.asked() == asked {
		t.Error("seid never asked the TLS witness")
	}
	t.Logf("snapshot %d, head %d, trusted block %d, first block %d, %d questions over TLS",
		newest, status.SyncInfo.LatestBlockHeight, found.TrustHeight, status.SyncInfo.EarliestBlockHeight, witness.asked()-asked)
}

// newestSnapshot is the height of the newest snapshot of a node that makes no more.
func (n *node) newestSnapshot() int64 {
	n.t.Helper()
	heights, err := home.Dir(n.home).SnapshotHeights()
	if err != nil || len(heights) == 0 {
		n.t.Fatalf("%s has snapshots %v: %v", n.name, heights, err)
	}
	return heights[len(heights)-1]
}

// onIPv6 lets a node listen on all families, as in a pod that has IPv6 alone.
func onIPv6(t *testing.T, n *node) map[string]string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		t.Fatalf("this test needs an IPv6 loopback: %v", err)
	}
	_ = l.Close()
	return map[string]string{
		"network.rpc.listen_address": fmt.Sprintf("tcp://[::]:%d", n.rpcPort),
		"network.p2p.listen_address": fmt.Sprintf("tcp://[::]:%d", n.p2pPort),
	}
}

// v6 is the same port on the IPv6 loopback.
func v6(address string) string { return strings.Replace(address, "127.0.0.1", "[::1]", 1) }

// reconfigure changes settings of a running node and restarts it.
func (n *node) reconfigure(change map[string]string) {
	n.t.Helper()
	do[wire.ConfigChanges](n, api.ConfigApply, wire.ConfigApply{Incremental: true, Overrides: change})
	do[any](n, api.RestartSeid, nil)
}

// tlsProxy forwards what comes over TLS to below /sei/rpc.
type tlsProxy struct {
	*httptest.Server
	questions atomic.Int64
}

func (p *tlsProxy) asked() int64 { return p.questions.Load() }

// tlsWitness puts a proxy before a node's RPC and gives the environment in which its
// certificate is trusted.
func tlsWitness(t *testing.T, v *node) (*tlsProxy, string) {
	t.Helper()
	target, err := url.Parse("http://" + v.witness())
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	p := &tlsProxy{}
	p.Server = httptest.NewTLSServer(http.StripPrefix("/sei/rpc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.questions.Add(1)
		forward.ServeHTTP(w, r)
	})))
	t.Cleanup(p.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return p, "SSL_CERT_FILE=" + file
}
