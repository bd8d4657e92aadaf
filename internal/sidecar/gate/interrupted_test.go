package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

const (
	syncs    = "[statesync]\nenable = true\nuse-local-snapshot = true\n"
	restored = "data/committer.db/snapshot-00000000000000000210/acc/kvs"
)

// interrupted is the home of a node whose seid was ended after it had restored a snapshot.
func interrupted(t *testing.T, home string) {
	t.Helper()
	for name, content := range map[string]string{
		"config/config.toml": syncs, "config/priv_validator_key.json": "{}", "data/priv_validator_state.json": "{}",
		"data/snapshots/210/1/0": "chunk", "data/snapshots/metadata.db/000001.log": "x", "data/.sei-sidecar-download/archive": "x",
		"data/blockstore.db/000002.log": "", "data/state.db/000002.log": "x", "data/pebbledb/000022.log": "x", restored: "x",
		"wasm/wasm/state": "x", "tmp/tm-statesync1/0": "x",
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("snapshot-00000000000000000210", filepath.Join(home, "data/committer.db/current")); err != nil {
		t.Fatal(err)
	}
}

func filesIn(t *testing.T, home string, dirs ...string) []string {
	t.Helper()
	var found []string
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(home, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				name, _ := filepath.Rel(home, path)
				found = append(found, name)
			}
			return nil // what is not there has no files
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return found
}

// seid restores a snapshot once: on what is left of a restore that was interrupted it would end at every start.
func TestRun_StateSyncThatWasInterrupted_BeginsAnewWithTheSnapshotsThereAre(t *testing.T) {
	g, _ := gateAt(t, opened)
	interrupted(t, g.Home)
	seen := filepath.Join(t.TempDir(), "seen")
	if err := g.Run(t.Context(), []string{"sh", "-c", "ls " + filepath.Join(g.Home, "data") + " > " + seen}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"data/.sei-sidecar-download/archive", "data/blockstore.db/000002.log", "data/priv_validator_state.json",
		"data/snapshots/210/1/0", "data/snapshots/metadata.db/000001.log",
	}
	if diff := cmp.Diff(want, filesIn(t, g.Home, "data", "wasm", "tmp")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if listed, err := os.ReadFile(seen); err != nil || string(listed) != "blockstore.db\npriv_validator_state.json\nsnapshots\n" {
		t.Errorf("seid was started on %q, %v", listed, err)
	}
}

func TestRun_StateThatIsNotLeftByAnInterruptedStateSync_Stays(t *testing.T) {
	for name, change := range map[string]func(home string) error{
		"state sync is off": func(home string) error {
			return os.WriteFile(filepath.Join(home, "config/config.toml"), []byte("[statesync]\nenable = false\n"), 0o600)
		},
		"there are blocks": func(home string) error {
			return os.WriteFile(filepath.Join(home, "data/blockstore.db/000002.log"), []byte("x"), 0o600)
		},
		"blocks are somewhere else": func(home string) error { return os.RemoveAll(filepath.Join(home, "data/blockstore.db")) },
		"in sync once":              func(home string) error { return stage.MarkSynced(home, stage.Mark{Height: 7}) },
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := gateAt(t, opened)
			interrupted(t, g.Home)
			if err := change(g.Home); err != nil {
				t.Fatal(err)
			}
			before := filesIn(t, g.Home, "data", "wasm", "tmp")
			if err := g.Run(t.Context(), []string{"true"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, filesIn(t, g.Home, "data", "wasm", "tmp")); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}
