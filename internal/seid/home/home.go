// Package home knows the layout of a node's home directory: where things are,
// and what can be told about the node's data by looking at the names alone.
//
// Paths and read-only looks. Whoever writes a file does it elsewhere.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// DefaultPath is where a node's volume is mounted in its pod.
const DefaultPath = "/home/nonroot/.sei"

// Dir is a node's home directory.
type Dir string

// Path joins names onto the home.
func (d Dir) Path(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// Config is the directory of the configuration, genesis and key files.
func (d Dir) Config() string { return d.Path("config") }

// ConfigFile is one file in Config.
func (d Dir) ConfigFile(name string) string { return d.Path("config", name) }

// ConfigToml is the consensus engine's configuration.
func (d Dir) ConfigToml() string { return d.ConfigFile("config.toml") }

// AppToml is the application's configuration.
func (d Dir) AppToml() string { return d.ConfigFile("app.toml") }

// ClientToml is the configuration of the command line.
func (d Dir) ClientToml() string { return d.ConfigFile("client.toml") }

// Genesis is the genesis file.
func (d Dir) Genesis() string { return d.ConfigFile("genesis.json") }

// NodeKey is the node's peer-to-peer key.
func (d Dir) NodeKey() string { return d.ConfigFile("node_key.json") }

// ConsensusKey is the key the node signs blocks with.
func (d Dir) ConsensusKey() string { return d.ConfigFile("priv_validator_key.json") }

// Gentx is the directory of the node's own genesis transaction.
func (d Dir) Gentx() string { return d.ConfigFile("gentx") }

// Data is the directory of everything the chain writes.
func (d Dir) Data() string { return d.Path("data") }

// Snapshots is the directory of state snapshots, one sub-directory per height.
func (d Dir) Snapshots() string { return d.Path("data", "snapshots") }

// SnapshotMetadata is the index of Snapshots.
func (d Dir) SnapshotMetadata() string { return d.Path("data", "snapshots", "metadata.db") }

// ConsensusState is the record of what was signed last. Losing it is how a
// validator signs twice.
func (d Dir) ConsensusState() string { return d.Path("data", "priv_validator_state.json") }

// Wasm is the directory of the contract code, which lies outside Data.
func (d Dir) Wasm() string { return d.Path("wasm") }

// KeyringTest is the directory of the unencrypted keyring.
func (d Dir) KeyringTest() string { return d.Path("keyring-test") }

// KeyringFile is the directory of the encrypted keyring.
func (d Dir) KeyringFile() string { return d.Path("keyring-file") }

// Tmp is the directory for temporary files, on the volume of the home.
func (d Dir) Tmp() string { return d.Path("tmp") }

// Initialized reports whether `seid init` has run here.
func (d Dir) Initialized() (bool, error) {
	_, err := os.Stat(d.Genesis())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("looking for the genesis file: %w", err)
}

// SnapshotHeights lists the heights of the local snapshots, ascending. The
// highest may still be in the making.
func (d Dir) SnapshotHeights() ([]int64, error) { return SnapshotsIn(d.Snapshots()) }

// SnapshotsIn is SnapshotHeights for a node that keeps its snapshots in another
// directory.
func SnapshotsIn(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing snapshots: %w", err)
	}
	var heights []int64
	for _, e := range entries {
		height, err := strconv.ParseInt(e.Name(), 10, 64)
		if err == nil && height > 0 && e.IsDir() {
			heights = append(heights, height)
		}
	}
	slices.Sort(heights)
	return heights, nil
}
