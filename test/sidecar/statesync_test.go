package sidecar_test

import (
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
	t.Parallel()
	// The validator is never restarted: a lone one that signed a vote and forgot the block
	// waits forever. The follower is the one that makes snapshots, for a while.
	v := newNode(t, "old-1", "v", "")
	genesis := ceremony([]*node{v}, map[string]string{"consensus.unsafe_commit_timeout_override": "2ms", "logging.level": "error"})
	v.start()
	follower := newNode(t, "old-1", "follower", "")
	follower.identity()
	follower.join(genesis)
	making := onIPv6(t, follower)
	maps.Copy(making, map[string]string{"storage.snapshot_interval": "100", "storage.snapshot_keep_recent": "0", "logging.level": "error"})
	follower.configure("full", making)
	follower.connect([]*node{v})
	follower.start()
	follower.awaitHeight(250)
	do[wire.ConfigChanges](follower, api.ConfigApply, wire.ConfigApply{Incremental: true, Overrides: map[string]string{"storage.snapshot_interval": "0"}})
	do[any](follower, api.RestartSeid, nil)
	made, err := home.Dir(follower.home).SnapshotHeights()
	if err != nil || len(made) == 0 {
		t.Fatalf("the follower has snapshots %v: %v", made, err)
	}
	newest := made[len(made)-1]
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
	asked, head := witness.asked(), v.height()
	n.run(podSpec{restart: true, env: []string{env}})
	do[any](n, api.MarkReady, nil)
	do[wire.ConditionMet](n, api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: newest + old, Timeout: "100s"})
	status, err := n.rpc().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := status.SyncInfo.EarliestBlockHeight
	if !slices.ContainsFunc(made, func(h int64) bool { return first >= h-2 && first <= h+2 }) {
		t.Errorf("the node has block %d, so it did not begin with one of the snapshots %v", first, made)
	}
	if witness.asked() == asked {
		t.Error("seid never asked the TLS witness")
	}
	t.Logf("newest snapshot %d, witnesses' head %d, trusted block %d, first block %d, %d questions over TLS",
		newest, head, found.TrustHeight, first, witness.asked()-asked)
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
