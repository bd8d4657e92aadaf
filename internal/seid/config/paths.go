package config

import (
	"fmt"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// SnapshotDir is where the node with these files keeps its snapshots. seid takes a
// relative directory from wherever it was started, which nobody else can know.
func SnapshotDir(files Files, dir home.Dir) (string, error) {
	table, _ := files.App["state-sync"].(map[string]any)
	own, _ := table["snapshot-directory"].(string)
	switch {
	case own == "":
		return dir.Snapshots(), nil
	case !filepath.IsAbs(own):
		return "", fmt.Errorf("storage.snapshot_directory is %q, which depends on where seid is started: write an absolute path", own)
	}
	return filepath.Clean(own), nil
}

// SigningState is where the node with these files records what it signed last.
func SigningState(files Files, dir home.Dir) string {
	return underHome(files.text("priv-validator", "state-file"), dir, dir.ConsensusState())
}

// SigningKey is the key that the node with these files signs blocks with.
func SigningKey(files Files, dir home.Dir) string {
	return underHome(files.text("priv-validator", "key-file"), dir, dir.ConsensusKey())
}

// NodeKey is the key by which the peers of the node with these files know it.
func NodeKey(files Files, dir home.Dir) string {
	name, _ := files.Config["node-key-file"].(string)
	return underHome(name, dir, dir.NodeKey())
}

// Irreplaceable are the files that must outlive the chain data: keys, and what was signed last.
func Irreplaceable(files Files, dir home.Dir) []string {
	return []string{SigningState(files, dir), dir.ConsensusState(), SigningKey(files, dir), dir.ConsensusKey(), NodeKey(files, dir)}
}

// StateSyncs reports whether the node with these files fetches its first state instead of starting from the genesis.
func StateSyncs(files Files) bool { return newView(files).flag("state_sync.enable") }

// underHome resolves a path of config.toml as seid does.
func underHome(path string, dir home.Dir, fallback string) string {
	switch {
	case path == "":
		return fallback
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return dir.Path(path)
}
