package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestNodeConfig_PerMode(t *testing.T) {
	tests := map[string]struct {
		node *v1alpha1.SeiNode
		mode string
		want map[string]string
	}{
		"full node that makes snapshots": {fullNode(), "full", map[string]string{
			"chain.moniker": "rpc", "network.p2p.external_address": "p2p.example.com:26656",
			"storage.snapshot_interval": "2000", "storage.snapshot_keep_recent": "5",
			"storage.pruning_keep_recent": "50000", "storage.pruning_keep_every": "0", "chain.min_retain_blocks": "50000",
			"network.p2p.max_connections": "500", "network.p2p.send_rate": "20971520", "network.p2p.recv_rate": "20971520",
		}},
		"archive that makes snapshots keeps its history": {archive(), "archive", map[string]string{
			"chain.moniker": "history", "storage.snapshot_interval": "2000", "storage.snapshot_keep_recent": "2",
		}},
		"replayer": {replayer(), "full", map[string]string{
			"chain.moniker": "replay", "storage.state_commit.async_commit_buffer": "100",
			"storage.state_commit.memiavl.snapshot_keep_recent":       "2",
			"storage.state_commit.memiavl.snapshot_min_time_interval": "3600",
		}},
		"validator": {validator(), "validator", map[string]string{"chain.moniker": "val"}},
		"seed":      {seed(), "seed", map[string]string{"chain.moniker": "seed"}},
	}
	for name, tt := range tests {
		got := render.NodeConfig(input(tt.node), nil)
		if diff := cmp.Diff(render.Config{Mode: tt.mode, Overrides: tt.want}, got, cmpopts.IgnoreUnexported(render.Config{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNodeConfig_UserOverrides_Win(t *testing.T) {
	n := fullNode()
	n.Spec.Overrides = map[string]string{
		"chain.moniker": "mine", "storage.snapshot_interval": "10", "network.p2p.external_address": "x:1",
		"network.p2p.persistent_peers": "me@mine:1", "config.toml:p2p.pex": "false",
	}
	got := render.NodeConfig(input(n), []string{"a@b:1"}).Overrides
	for key, want := range n.Spec.Overrides {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

func TestNodeConfig_Peers_AreSortedAndUnique(t *testing.T) {
	a := render.NodeConfig(input(seed()), []string{"b@b:1", "a@a:1", "b@b:1"})
	b := render.NodeConfig(input(seed()), []string{"a@a:1", "b@b:1"})
	if got := a.Overrides["network.p2p.persistent_peers"]; got != "a@a:1,b@b:1" {
		t.Errorf("peers %q, want %q", got, "a@a:1,b@b:1")
	}
	if a.Hash() != b.Hash() {
		t.Error("the order in which peers were found changes the hash")
	}
}

// The second part of the hash is what the spec asks for: peers that were looked up are no part of
// it, peers that the user wrote down are.
func TestConfigHash_SecondPart_LeavesOutResolvedPeers(t *testing.T) {
	wish := func(c render.Config) string { _, wish, _ := strings.Cut(c.Hash(), "-"); return wish }
	one, two := render.NodeConfig(input(fullNode()), []string{"a@a:1"}), render.NodeConfig(input(fullNode()), []string{"b@b:1"})
	if one.Hash() == two.Hash() || wish(one) != wish(two) {
		t.Errorf("hashes %s and %s, want the same second part only", one.Hash(), two.Hash())
	}
	byHand := func(peers string) render.Config {
		n := fullNode()
		n.Spec.Overrides = map[string]string{"network.p2p.persistent_peers": peers}
		return render.NodeConfig(input(n), []string{"a@a:1"})
	}
	if wish(byHand("a@a:1")) == wish(byHand("b@b:1")) {
		t.Error("peers that the user changed leave the second part as it was")
	}
}

func TestConfigHash_ChangesWithModeAndOverrides(t *testing.T) {
	base := render.Config{Mode: "full", Overrides: map[string]string{"a": "1"}}
	others := []render.Config{
		{Mode: "archive", Overrides: map[string]string{"a": "1"}},
		{Mode: "full", Overrides: map[string]string{"a": "2"}},
		{Mode: "full", Overrides: map[string]string{"a": "1", "b": ""}},
		{Mode: "full"},
	}
	same := render.Config{Mode: "full", Overrides: map[string]string{"a": "1"}}
	if len(base.Hash()) != 33 || base.Hash() != same.Hash() {
		t.Errorf("hashes %q and %q", base.Hash(), same.Hash())
	}
	for _, other := range others {
		if other.Hash() == base.Hash() {
			t.Errorf("%v has the hash of %v", other, base)
		}
	}
}

func TestNodeConfig_ExternalAddress_IsAnnounced(t *testing.T) {
	in := input(fullNode())
	in.Node.Spec.ExternalAddress = ""
	if got, set := render.NodeConfig(in, nil).Overrides["network.p2p.external_address"]; set {
		t.Errorf("a node without one announces %q", got)
	}
	in.Node.Spec.ExternalAddress = "n.example.com:26656"
	if got := render.NodeConfig(in, nil).Overrides["network.p2p.external_address"]; got != "n.example.com:26656" {
		t.Errorf("the node announces %q", got)
	}
}
