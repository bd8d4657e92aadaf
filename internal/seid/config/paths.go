package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// SnapshotDir is where the node with these files keeps its snapshots. seid takes a
// relative directory from wherever it was started, which nobody else can know. A restore replaces
// the directory with all that is in it, so one that has more in it than snapshots is refused.
func SnapshotDir(files Files, dir home.Dir) (string, error) {
	table, _ := files.App["state-sync"].(map[string]any)
	own, _ := table["snapshot-directory"].(string)
	switch {
	case own == "":
		own = dir.Snapshots()
	case !filepath.IsAbs(own):
		return "", fmt.Errorf("storage.snapshot_directory is %q, which depends on where seid is started: write an absolute path", own)
	}
	own = filepath.Clean(own)
	var kept []string
	for _, path := range append(ownDirs(dir), Irreplaceable(files, dir)...) {
		kept = append(kept, path, resolved(path))
	}
	for _, place := range []string{own, resolved(own)} {
		if err := refuseAround(own, place, kept); err != nil {
			return "", err
		}
	}
	return own, nil
}

// placeSnapshotDir is what storage.snapshot_directory is in the files.
var placeSnapshotDir = Place{AppToml, "state-sync.snapshot-directory"}

// checkSnapshotDir refuses an override that would have a restore replace a directory of the home, where
// a pod has it.
func checkSnapshotDir(key Key, value string) error {
	if !slices.Contains(key.Places, placeSnapshotDir) || !filepath.IsAbs(value) {
		return nil
	}
	dir := home.Dir(home.DefaultPath)
	return refuseAround(value, filepath.Clean(value), append(ownDirs(dir), Irreplaceable(Files{}, dir)...))
}

// ownDirs are the directories of a home that hold what no snapshot brings back.
func ownDirs(dir home.Dir) []string {
	return []string{dir.Path(), dir.Config(), dir.Data(), dir.Wasm(), dir.KeyringTest(), dir.KeyringFile()}
}

// refuseAround refuses a directory for snapshots whose place is, or has in it, one of the kept paths.
func refuseAround(dir, place string, kept []string) error {
	for _, path := range kept {
		if below, err := filepath.Rel(place, path); err == nil && filepath.IsLocal(below) {
			return fmt.Errorf("storage.snapshot_directory is %q, which is or contains %s: a restore replaces that directory with all that is in it; "+
				"write the path of a directory for snapshots alone, or leave the key out", dir, path)
		}
	}
	return nil
}

// resolved is a path without symbolic links, as far as it exists.
func resolved(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
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
