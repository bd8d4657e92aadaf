package sidecar_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/look"
)

// document looks at a node.
func (n *node) document() api.Node {
	n.t.Helper()
	doc, err := n.Client().Node(n.t.Context())
	if err != nil {
		n.t.Fatalf("%s: %v", n.name, err)
	}
	return doc
}

// awaitDocument looks until the document is as it should be, and gives the states on the way. A sidecar that does not
// answer in time on a busy machine is asked again.
func (n *node) awaitDocument(what string, done func(api.Node) bool) (api.Node, []api.SyncState) {
	n.t.Helper()
	return n.awaitDocumentWithin(2*time.Minute, what, done)
}

func (n *node) awaitDocumentWithin(timeout time.Duration, what string, done func(api.Node) bool) (api.Node, []api.SyncState) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), timeout)
	defer cancel()
	var doc api.Node
	var states []api.SyncState
	var problem error
	for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		if doc, problem = n.Client().Node(ctx); problem != nil {
			continue
		}
		if len(states) == 0 || states[len(states)-1] != doc.Sync.State {
			states = append(states, doc.Sync.State)
		}
		if done(doc) {
			return doc, states
		}
	}
	n.t.Fatalf("%s: %s did not come; states %v, last document: %+v, last problem: %v", n.name, what, states, doc, problem)
	return doc, nil
}

// gauges are the node's metrics by name, and by label where they have one.
func (n *node) gauges() map[string]float64 {
	n.t.Helper()
	return gaugesAt(n.t, n.URL()+"/v0/metrics")
}

func gaugesAt(tb testing.TB, url string) map[string]float64 {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		tb.Fatal(err)
	}
	found := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += "/" + l.GetValue()
			}
			found[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return found
}

// lone makes a chain of one validator on which a vote takes seconds.
func (n *node) lone() wire.AssembledGenesis {
	n.t.Helper()
	overrides := maps.Clone(slowChain)
	overrides["gov.voting_params.voting_period"] = json.RawMessage(`"3s"`)
	overrides["gov.voting_params.expedited_voting_period"] = json.RawMessage(`"2s"`)
	n.identity()
	genesis := do[wire.AssembledGenesis](n, api.AssembleGenesis, wire.AssembleGenesis{
		AccountBalance: balance, Overrides: overrides, Gentxs: []json.RawMessage{n.gentx().Gentx},
	})
	n.join(genesis)
	return genesis
}

func TestDocument_OfALoneValidator_FollowsItFromTheGateToTheStop(t *testing.T) {
	v := newNode(t, "document-1", "v0", "")
	prepared(t, v)
	v.start()
	doc, states := v.awaitDocument("inSync", func(d api.Node) bool { return d.Sync.State == api.SyncInSync })
	t.Logf("states until in sync: %v", states)
	if doc.Home.Stage != api.HomeSynced || doc.Seid.State != api.SeidRunning || doc.Sync.Height < 1 || doc.Sync.BlockTime == nil {
		t.Errorf("in sync: %+v", doc)
	}
	if states[0] != api.SyncNotRunning && states[0] != api.SyncStarting {
		t.Errorf("states %v", states)
	}
	v.awaitDocument("a higher block", func(d api.Node) bool { return d.Sync.Height > doc.Sync.Height })
	v.awaitInSync(http.StatusOK, "")

	t.Run("shows the upgrade that the chain has planned", func(t *testing.T) { planned(t, v) })
	t.Run("shows finished snapshots while seid runs", func(t *testing.T) { snapshotted(t, v) })
	t.Run("says the same in metrics", func(t *testing.T) { measured(t, v) })
	t.Run("is not running when it is stopped", func(t *testing.T) { notRunning(t, v) })
}

// prepared makes a home ready to start.
func prepared(t *testing.T, v *node) {
	t.Helper()
	if doc := v.document(); doc.Home.Stage != api.HomeEmpty || doc.Sync.State != api.SyncNotRunning || doc.Gate.State == api.GateOpen {
		t.Errorf("an empty home: %+v", doc)
	}
	genesis := v.lone()
	v.configure("validator", map[string]string{"storage.snapshot_interval": "5", "storage.state_store.enable": "true"})
	key := do[wire.Identity](v, api.GenerateIdentity, wire.GenerateIdentity{ChainID: v.chainID, Moniker: v.name}).ConsensusAddress
	doc := v.document()
	if doc.Home.Stage != api.HomePrepared || doc.Home.GenesisHash != genesis.GenesisHash || doc.Home.NodeID != v.nodeID ||
		doc.Home.ConsensusAddress != key || !doc.Home.Signs || doc.Disk == nil || doc.Disk.Size <= doc.Disk.Free {
		t.Errorf("a prepared home: %+v, disk %+v; want genesis %s, node %s, key %s", doc.Home, doc.Disk, genesis.GenesisHash, v.nodeID, key)
	}
}

func snapshotted(t *testing.T, v *node) {
	t.Helper()
	doc, _ := v.awaitDocument("a snapshot", func(d api.Node) bool { return len(d.Snapshots) > 0 })
	t.Logf("snapshots: %+v", doc.Snapshots)
	if s := doc.Snapshots[0]; s.Height < 5 || s.Height%5 != 0 || s.Chunks < 1 {
		t.Errorf("snapshot %+v", s)
	}
}

func notRunning(t *testing.T, v *node) {
	t.Helper()
	do[any](v, api.MarkNotReady, nil)
	do[wire.Stopped](v, api.StopSeid, nil)
	doc, _ := v.awaitDocument("notRunning", func(d api.Node) bool { return d.Sync.State == api.SyncNotRunning })
	if doc.Seid.State == api.SeidRunning || doc.Home.Stage != api.HomeSynced || doc.Gate.State == api.GateOpen {
		t.Errorf("stopped: %+v, want State not %v, Stage %v and State not %v", doc, api.SeidRunning, api.HomeSynced, api.GateOpen)
	}
	v.awaitInSync(http.StatusServiceUnavailable, "seid ") // it has ended, and then waits behind the gate
}

// vote makes the chain plan an upgrade.
func (n *node) vote(name string, height int64, info string) {
	n.t.Helper()
	n.awaitHeight(n.height() + 1) // before its first block after a start seid refuses every signature
	tx := wire.Transaction{ChainID: n.chainID, KeyName: "validator", Fees: "20000usei", Gas: 500000}
	proposal := wire.Proposal{Title: "Upgrade", Description: "To " + name, InitialDeposit: "2000000usei"}
	made := do[wire.GovTxResult](n, api.GovSoftwareUpgrade, wire.GovSoftwareUpgrade{
		Transaction: tx, Proposal: proposal, UpgradeName: name, UpgradeHeight: height, UpgradeInfo: info,
	})
	do[wire.GovTxResult](n, api.GovVote, wire.GovVote{Transaction: tx, ProposalID: made.ProposalID, Option: "yes"})
}

func planned(t *testing.T, v *node) {
	t.Helper()
	const info = `{"upgradeType":"minor"}`
	v.vote("v99", 100000, info)
	// The plan is made when the voting is over. It is asked for twice a minute, and at once
	// by a new sidecar, which finds seid running.
	v.awaitHeight(v.height() + 5)
	v.Kill()
	v.Restart()
	do[any](v, api.MarkReady, nil)
	doc, _ := v.awaitDocument("the plan", func(d api.Node) bool { return d.Upgrade != nil })
	if want := (api.Upgrade{Name: "v99", Height: 100000, Info: info, Minor: true}); *doc.Upgrade != want {
		t.Errorf("upgrade %+v, want %+v", *doc.Upgrade, want)
	}
	if doc.Sync.State != api.SyncInSync || doc.Home.Stage != api.HomeSynced {
		t.Errorf("a new sidecar finds %+v", doc)
	}
}

// The old binary is started again and again, and ends each time. The document does not waver.
func TestDocument_OfANodeThatNeedsAnotherBinary_SaysSoAndStaysWithIt(t *testing.T) {
	v := newNode(t, "document-2", "v0", "")
	prepared(t, v)
	v.start()
	doc, _ := v.awaitDocument("inSync", func(d api.Node) bool { return d.Sync.State == api.SyncInSync })
	if doc.Seid.Starts == 0 {
		t.Fatal("the gate keeps no record of its process")
	}
	height := v.height() + 12
	v.vote("v99", height, "")
	doc, states := v.awaitDocument("upgradeNeeded", func(d api.Node) bool { return d.Sync.State == api.SyncUpgradeNeeded })
	if want := (api.Upgrade{Name: "v99", Height: height}); doc.Upgrade == nil || *doc.Upgrade != want || doc.Seid.LastExit == nil {
		t.Errorf("upgrade %+v, want %+v; seid %+v", doc.Upgrade, want, doc.Seid)
	}
	starts := doc.Seid.Starts
	_, after := v.awaitDocument("three more starts", func(d api.Node) bool { return d.Seid.Starts > starts+2 })
	t.Logf("states %v, then %v", states, after)
	if len(after) != 1 {
		t.Errorf("then it said %v", after)
	}
}

func measured(t *testing.T, v *node) {
	t.Helper()
	v.awaitDocument("the size of the home", func(d api.Node) bool { return d.Disk.Used > 0 })
	before, got, after := v.document(), v.gauges(), v.document()
	between := func(metric string, low, high float64) {
		t.Helper()
		if value, ok := got[metric]; !ok || value < low || value > high {
			t.Errorf("%s is %v (%v), want %v to %v", metric, value, ok, low, high)
		}
	}
	between(look.MetricHeight, float64(before.Sync.Height), float64(after.Sync.Height))
	between(look.MetricBlockAge, 0, 60)
	between(look.MetricLag, 0, 0)
	between(look.MetricPeers, 0, 0)
	between(look.MetricDiverged, 0, 0)
	between(look.MetricJailed, 0, 0)
	between(look.MetricTombstoned, 0, 0)
	between(look.MetricMissed, 0, float64(after.Sync.Height))
	between(look.MetricAllowed, 1, 1e9)
	between(look.MetricSnapshotInterval, 5, 5)
	between(look.MetricSnapshotTime, float64(time.Now().Add(-time.Hour).Unix()), float64(time.Now().Unix()))
	between(look.MetricSyncState+"/inSync", 1, 1)
	between(look.MetricSyncState+"/behind", 0, 0)
	between(look.MetricDiskSize, float64(after.Disk.Size), float64(after.Disk.Size))
	between(look.MetricHome, float64(before.Disk.Used), float64(before.Disk.Used))
	between(look.MetricSnapshotHeight, float64(before.Snapshots[0].Height), float64(after.Snapshots[0].Height))
	between(look.MetricUpgradeHeight+"/v99", 100000, 100000)
	t.Logf("height %v, block age %v s, home %v bytes", got[look.MetricHeight], got[look.MetricBlockAge], got[look.MetricHome])
}

// documentStateSync watches a state sync, whose RPC is closed until it is done.
func (n *node) documentStateSync(t *testing.T) {
	t.Helper()
	var sentences []string
	_, states := n.awaitDocument("inSync", func(d api.Node) bool {
		if d.Sync.State == api.SyncStateSyncing && !slices.Contains(sentences, d.Sync.Message) {
			sentences = append(sentences, d.Sync.Message)
			t.Logf("%s; peers %d, progress %+v", d.Sync.Message, d.Sync.Peers, d.Sync.Progress)
		}
		return d.Sync.State == api.SyncInSync
	})
	t.Logf("states: %v", states)
	if !slices.Contains(states, api.SyncStateSyncing) || slices.Contains(states, api.SyncReplaying) || slices.Contains(states, api.SyncNotAnswering) {
		t.Errorf("states %v, want %q in it, no %q in it and no %q in it", states, api.SyncStateSyncing, api.SyncReplaying, api.SyncNotAnswering)
	}
	// seid may open its peer-to-peer port a moment before its metrics.
	sentences = slices.DeleteFunc(sentences, func(s string) bool { return s == "seid syncs its state from its peers" })
	if len(sentences) == 0 {
		t.Error("seid's metrics were not used")
	}
}
