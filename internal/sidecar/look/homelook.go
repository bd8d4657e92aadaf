package look

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// homeLook is the home directory of this moment.
func (l *Look) homeLook(set settings, process api.Seid) api.Home {
	configured := l.Configuration()
	reset := l.lastReset()
	emptied := process.State != api.SeidRunning && reset.Empty(process.Starts)
	h := api.Home{
		Stage: l.stage(set, process, emptied), Emptied: emptied && !l.left(leftovers.RestoredHeight),
		PartlyDeleted: reset != nil && !reset.Done, GenesisHash: l.genesisHash(),
		StateSync:  set.StateSync && (!emptied || l.left(stateSyncMark)),
		ConfigHash: configured.ConfigHash, Validation: configured.Validation, Refused: configured.Refused,
		NodeID:           l.nodeID.get(func() string { return nodeID(set.NodeKeyFile) }, set.NodeKeyFile),
		ConsensusAddress: l.consensusAddress(set.KeyFile),
	}
	h.Signs = set.signs(h.ConsensusAddress != "")
	return h
}

// stage is how far the home has come.
func (l *Look) stage(set settings, process api.Seid, emptied bool) api.HomeStage {
	synced, err := stage.Synced(string(l.home))
	if err != nil {
		l.Log.Warn("looking for the sync mark", "error", err)
	}
	initialized, err := l.home.Initialized()
	switch {
	case err != nil || !initialized || !set.Present:
		return api.HomeEmpty
	case synced:
		return api.HomeSynced
	case emptied:
		return api.HomePrepared
	case process.Starts > 0 || process.State == api.SeidRunning || started(l.home):
		return api.HomeFirstSync
	}
	// `seid init` leaves a genesis too, its own default for chains it does not know; only a
	// home whose genesis was configured is the chain's.
	if configured, err := durable.Exists(l.home.Path(genesisMark)); err != nil || !configured {
		return api.HomeEmpty
	}
	return api.HomePrepared
}

// lastReset is the last deletion of the data; nil when there was none, or it cannot be determined.
func (l *Look) lastReset() *stage.Reset {
	reset, err := stage.LastReset(string(l.home))
	if err != nil {
		l.Log.Warn("looking for the last reset", "error", err)
	}
	return reset
}

// left reports whether a task has left a file in the home. reset-data removes those that go with
// the data.
func (l *Look) left(name string) bool {
	exists, err := durable.Exists(l.home.Path(name))
	return exists || err != nil
}

// What configure-genesis and configure-state-sync leave when they are done.
const (
	genesisMark   = ".sei-sidecar-genesis-done"
	stateSyncMark = ".sei-sidecar-statesync-done"
)

// started recognises a home that seid has run on although nobody counted, such as one that
// was imported: seid makes its block store as soon as it starts.
func started(dir home.Dir) bool {
	exists, err := durable.Exists(dir.Path("data", "blockstore.db"))
	return exists || err != nil
}

// inlineHash is the size up to which a genesis is hashed within a look. That of a public
// chain takes seconds.
const inlineHash = 4 << 20

// genesisHash is the hash of the genesis file.
func (l *Look) genesisHash() string {
	path := l.home.Genesis()
	found := fingerprintOf(path)
	if found.size < 0 {
		return ""
	}
	if found.size <= inlineHash {
		return l.genesis.get(func() string {
			hash, _ := hashFile(path) // unknown is empty
			return hash
		}, path)
	}
	return l.largeGenesis.get(fmt.Sprint(found), func() (string, error) { return hashFile(path) })
}

func hashFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // in the home we were given
	if err != nil {
		return "", fmt.Errorf("hashing the genesis: %w", err)
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("hashing the genesis: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// nodeID is empty while there is no usable key; GET /v0/node-id says why.
func nodeID(path string) string {
	data, err := os.ReadFile(path) //nolint:gosec // named by the node's configuration
	if err != nil {
		return ""
	}
	key, err := keys.ParseNodeKey(data)
	if err != nil {
		return ""
	}
	return key.ID
}

// consensusAddress is that of the key that seid would sign with.
func (l *Look) consensusAddress(path string) string {
	if l.ConsensusAddress != nil {
		if address, known := l.ConsensusAddress(); known {
			return address
		}
	}
	return l.address.get(func() string { return consensusAddress(path) }, path)
}

func consensusAddress(path string) string {
	data, err := os.ReadFile(path) //nolint:gosec // named by the node's configuration
	if err != nil {
		return ""
	}
	key, err := keys.ParseConsensusKey(data)
	if err != nil {
		return ""
	}
	return key.Address
}
