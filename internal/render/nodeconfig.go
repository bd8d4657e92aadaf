package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Configuration keys the operator sets by itself.
const (
	keyMoniker         = "chain.moniker"
	keyExternalAddress = "network.p2p.external_address"
	keyPersistentPeers = "network.p2p.persistent_peers"
)

// snapshotInterval is how many blocks lie between two snapshots.
const snapshotInterval = "2000"

// Config is what the sidecar's config-apply is told: the mode's profile and
// what differs from it, by unified key.
type Config struct {
	Mode      string            `json:"mode"`
	Overrides map[string]string `json:"overrides,omitempty"`

	// peersResolved: the peers were looked up, and not written down by the user.
	peersResolved bool
}

// Hash identifies the configuration: the whole, and after a dash what of it comes from the
// spec. Two that share the second part differ in the addresses of peers alone.
func (c Config) Hash() string {
	// A struct of strings always encodes.
	whole, _ := hashOf(c)
	spec := Config{Mode: c.Mode, Overrides: maps.Clone(c.Overrides)}
	if c.peersResolved {
		delete(spec.Overrides, keyPersistentPeers)
	}
	wish, _ := hashOf(spec)
	return whole + "-" + wish
}

// NodeConfig is the configuration of a node: what every node gets, what its mode
// gets, its addresses, and last the user's overrides, which win. Keys that have
// nothing to say are left out.
func NodeConfig(in Input, peers []string) Config {
	spec := &in.Node.Spec
	overrides := map[string]string{keyMoniker: in.Node.Name}
	maps.Copy(overrides, modeOverrides(spec))
	if spec.ExternalAddress != "" {
		overrides[keyExternalAddress] = spec.ExternalAddress
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(peers))); len(unique) > 0 {
		overrides[keyPersistentPeers] = strings.Join(unique, ",")
	}
	maps.Copy(overrides, spec.Overrides)
	_, byUser := spec.Overrides[keyPersistentPeers]
	return Config{Mode: string(modeOf(in.Node)), Overrides: overrides, peersResolved: !byUser}
}

func modeOverrides(spec *v1alpha1.SeiNodeSpec) map[string]string {
	if spec.Replayer != nil {
		return map[string]string{
			"storage.state_commit.async_commit_buffer":                "100",
			"storage.state_commit.memiavl.snapshot_keep_recent":       "2",
			"storage.state_commit.memiavl.snapshot_min_time_interval": "3600",
		}
	}
	snapshots := spec.TendermintSnapshots()
	if snapshots == nil {
		return nil
	}
	overrides := map[string]string{
		"storage.snapshot_interval":    snapshotInterval,
		"storage.snapshot_keep_recent": strconv.Itoa(int(snapshots.KeepRecent)),
	}
	if spec.Archive == nil {
		maps.Copy(overrides, snapshotServer)
	}
	return overrides
}

// snapshotServer makes a full node that takes snapshots a good source of them:
// little history to carry, many connections to serve. An archive keeps its
// history, which is what it is for.
var snapshotServer = map[string]string{
	"storage.pruning_keep_recent": "50000",
	"storage.pruning_keep_every":  "0",
	"chain.min_retain_blocks":     "50000",
	"network.p2p.max_connections": "500",
	"network.p2p.send_rate":       "20971520",
	"network.p2p.recv_rate":       "20971520",
}
