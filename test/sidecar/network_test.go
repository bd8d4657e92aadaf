package sidecar_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// snapshotting makes a node keep snapshots that others can sync from.
var snapshotting = map[string]string{
	"storage.state_store.enable":   "true",
	"storage.snapshot_interval":    "4",
	"storage.snapshot_keep_recent": "20",
}

// A chain of four validators serves all tests that need peers.
func TestFourValidators_WithoutABucket(t *testing.T) {
	bucket := "file://" + t.TempDir()
	validators := make([]*node, 4)
	for i := range validators {
		validators[i] = newNode(t, "four-1", fmt.Sprintf("v%d", i), bucket)
	}
	genesis := ceremony(validators, snapshotting)
	validators[0].start()
	validators[0].awaitInSync(http.StatusServiceUnavailable, "no block yet") // to itself it is not behind anybody
	for _, v := range validators[1:] {
		v.start()
	}
	for _, v := range validators {
		v.awaitHeight(5)
		v.awaitInSync(http.StatusOK, "")
	}
	t.Run("a fifth node joins by state sync", func(t *testing.T) { stateSync(t, validators, genesis) })
	t.Run("a snapshot moves through a bucket", func(t *testing.T) { moveSnapshot(t, validators, genesis, bucket) })
	t.Run("a comparison finds no difference", func(t *testing.T) { compare(t, validators, bucket) })
}

func stateSync(t *testing.T, validators []*node, genesis wire.AssembledGenesis) {
	t.Helper()
	validators[0].awaitHeight(10) // two snapshots and some blocks on top
	n := newNode(t, "four-1", "fifth", "")
	n.identity()
	n.join(genesis)
	metrics := freePort(t)
	n.configure("full", map[string]string{
		"state_sync.discovery_time": "5s", "metrics.enabled": "true",
		"metrics.prometheus_listen_addr": fmt.Sprintf("127.0.0.1:%d", metrics),
	})
	n.connect(validators)
	found := do[wire.StateSync](n, api.ConfigureStateSync, wire.ConfigureStateSync{
		RPCServers: []string{validators[0].witness(), validators[1].witness()},
	})
	if found.TrustHeight < 1 || len(found.TrustHash) != 64 || len(found.RPCServers) != 2 || len(found.Warnings) != 0 {
		t.Errorf("state sync is set to %+v", found)
	}
	n.start()
	n.documentStateSync(t)
	do[wire.ConditionMet](n, api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionCatchingUp, Timeout: "120s"})
	status, err := n.rpc().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.SyncInfo.EarliestBlockHeight < 4 {
		t.Errorf("the node has block %d, so it did not begin with a snapshot", status.SyncInfo.EarliestBlockHeight)
	}
	t.Logf("first block %d, now at %d", status.SyncInfo.EarliestBlockHeight, status.SyncInfo.LatestBlockHeight)
	if _, there := gaugesAt(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics))[seid.MetricMempool+"/"+n.chainID]; !there {
		t.Errorf("seid does not export %s, which dashboards show", seid.MetricMempool)
	}
	n.pod.kill()
}

func moveSnapshot(t *testing.T, validators []*node, genesis wire.AssembledGenesis, bucket string) {
	t.Helper()
	up := do[wire.UploadedSnapshot](validators[0], api.SnapshotUploadOnce, nil)
	if up.Outcome != wire.OutcomeUploaded || up.Height < 4 {
		t.Fatalf("upload: %+v", up)
	}
	if got := restoreNewest(t, validators, genesis, bucket); got != up.Height {
		t.Errorf("restored %d, want %d", got, up.Height)
	}
}

// restoreNewest brings up a node from the newest snapshot in the bucket and gives its height.
func restoreNewest(t *testing.T, validators []*node, genesis wire.AssembledGenesis, bucket string) int64 {
	t.Helper()
	n := newNode(t, validators[0].chainID, "restored", bucket)
	n.identity()
	down := do[wire.RestoredSnapshot](n, api.SnapshotRestore, nil)
	if !down.Verified {
		t.Errorf("restore: %+v, want Verified true", down)
	}
	n.join(genesis)
	n.configure("full", nil)
	n.connect(validators)
	do[wire.StateSync](n, api.ConfigureStateSync, wire.ConfigureStateSync{
		UseLocalSnapshot: true, RPCServers: []string{validators[0].witness(), validators[1].witness()},
	})
	for _, when := range []string{"at once", "after an interruption"} {
		n.start()
		do[wire.ConditionMet](n, api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionCatchingUp, Timeout: "120s"})
		status, err := n.rpc().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.SyncInfo.EarliestBlockHeight <= down.Height-1 {
			t.Errorf("%s the node has block %d, so it did not begin with the snapshot of %d", when, status.SyncInfo.EarliestBlockHeight, down.Height)
		}
		t.Logf("%s: snapshot %d (%s), first block %d, now at %d", when, down.Height, down.Key, status.SyncInfo.EarliestBlockHeight, status.SyncInfo.LatestBlockHeight)
		n.pod.kill()
		n.forgetBlocks()
	}
	return down.Height
}

// forgetBlocks takes the home back to where seid leaves it when it is ended after it has restored a snapshot and before it has
// taken it over: there is state, and nothing in the stores of blocks.
func (n *node) forgetBlocks() {
	n.t.Helper()
	dir := home.Dir(n.home)
	err := stage.Forget(n.home)
	for _, name := range []string{"blockstore.db", "state.db"} {
		err = errors.Join(err, os.RemoveAll(dir.Path("data", name)), os.Mkdir(dir.Path("data", name), 0o750))
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

func compare(t *testing.T, validators []*node, bucket string) {
	t.Helper()
	v := validators[2]
	id := v.Submit(api.ResultExport, "", wire.ResultExport{
		Bucket: bucket, Prefix: "compare/", CanonicalRPC: "http://" + validators[3].witness(), MigrationMode: true,
	})
	var last int64
	for last < 10 {
		got, err := v.Client().Get(t.Context(), id, 0)
		if err != nil || got.Status != api.TaskRunning {
			t.Fatalf("comparison: %+v, %v", got, err)
		}
		if got.Progress != nil {
			last = got.Progress.Done
		}
	}
	if err := v.Client().Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// Three, because two never start: a node trusts itself to be in sync only with
// two peers.
func TestThreeValidators_WithABucket(t *testing.T) {
	bucket := "file://" + t.TempDir()
	validators := make([]*node, 3)
	for i := range validators {
		validators[i] = newNode(t, "three-1", fmt.Sprintf("v-%d", i), bucket)
	}
	assemble := wire.AssembleAndUploadGenesis{AccountBalance: balance, Namespace: "ns", Overrides: slowChain}
	for _, v := range validators {
		v.identity()
		v.gentx()
		do[any](v, api.UploadGenesisArtifacts, wire.UploadGenesisArtifacts{NodeName: v.name})
		assemble.Nodes = append(assemble.Nodes, wire.NodeRef{Name: v.name})
	}
	genesis := do[wire.UploadedGenesis](validators[0], api.AssembleAndUploadGenesis, assemble)
	for _, v := range validators {
		do[wire.ConfiguredGenesis](v, api.ConfigureGenesis, wire.ConfigureGenesis{ExpectedGenesisHash: genesis.GenesisHash})
		v.configure("validator", nil)
		peers := do[wire.Peers](v, api.SetGenesisPeers, nil)
		if len(peers.Peers) != 2 {
			t.Errorf("%s has peers %v, want the two others", v.name, peers.Peers)
		}
		// The bucket names pods of a cluster; here they are on this machine.
		v.connect(validators)
		v.start()
	}
	for _, v := range validators {
		v.awaitHeight(5)
	}
}
