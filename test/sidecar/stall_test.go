package sidecar_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// stallEnv makes the test wait until the state sync counts as stalled, which takes two minutes.
const stallEnv = "SEI_TEST_AWAIT_STALL"

// Peers and witnesses are there, and none of them makes snapshots.
func TestStateSync_NobodyOffersASnapshot_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	v := newNode(t, "stall-1", "v", "")
	genesis := ceremony([]*node{v}, nil)
	v.start()
	follower := newNode(t, "stall-1", "follower", "")
	n := newNode(t, "stall-1", "newcomer", "")
	for _, joins := range []*node{follower, n} {
		joins.identity()
		joins.join(genesis)
		joins.configure("full", map[string]string{
			"state_sync.discovery_time": "5s", "metrics.enabled": "true",
			"metrics.prometheus_listen_addr": fmt.Sprintf("127.0.0.1:%d", freePort(t)),
		})
	}
	follower.connect([]*node{v})
	follower.start()
	follower.awaitHeight(2)
	n.connect([]*node{v, follower})
	do[wire.StateSync](n, api.ConfigureStateSync, wire.ConfigureStateSync{RPCServers: []string{v.witness(), follower.witness()}})
	n.start()
	doc, _ := n.awaitDocument("the wait for a snapshot", func(d api.Node) bool {
		return d.Sync.Message == "state sync waits for a peer that offers a snapshot" && d.Sync.Peers == 2
	})
	if doc.Sync.Stalled || doc.Sync.State != api.SyncStateSyncing || !doc.Home.StateSync {
		t.Errorf("%+v; home %+v", doc.Sync, doc.Home)
	}
	if os.Getenv(stallEnv) == "" {
		return
	}
	began := time.Now()
	doc, states := n.awaitDocumentWithin(3*time.Minute, "the stall", func(d api.Node) bool { return d.Sync.Stalled })
	t.Logf("stalled after %s: %+v; states %v", time.Since(began).Round(time.Second), doc.Sync, states)
	if doc.Sync.State != api.SyncStateSyncing || doc.Sync.Message != "state sync found no usable snapshot: no peer offers one" {
		t.Errorf("stalled: %+v", doc.Sync)
	}
}
