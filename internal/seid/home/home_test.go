package home_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

func makeHome(t *testing.T, files ...string) home.Dir {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		write(t, filepath.Join(dir, f), "")
	}
	return home.Dir(dir)
}

func TestPaths_AreTheOnesOfTheRealHome(t *testing.T) {
	d := home.Dir("/h")
	got := []string{
		d.ConfigToml(), d.AppToml(), d.ClientToml(), d.Genesis(), d.NodeKey(), d.ConsensusKey(), d.Gentx(), d.Config(),
		d.Data(), d.Snapshots(), d.SnapshotMetadata(), d.ConsensusState(), d.Wasm(), d.KeyringTest(), d.KeyringFile(), d.Tmp(),
	}
	want := []string{
		"/h/config/config.toml", "/h/config/app.toml", "/h/config/client.toml", "/h/config/genesis.json",
		"/h/config/node_key.json", "/h/config/priv_validator_key.json", "/h/config/gentx", "/h/config",
		"/h/data", "/h/data/snapshots", "/h/data/snapshots/metadata.db", "/h/data/priv_validator_state.json",
		"/h/wasm", "/h/keyring-test", "/h/keyring-file", "/h/tmp",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInitialized_MeansThereIsAGenesis(t *testing.T) {
	for want, d := range map[bool]home.Dir{true: makeHome(t, "config/genesis.json"), false: makeHome(t, "config/app.toml")} {
		got, err := d.Initialized()
		if err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func TestSnapshotHeights_AreNumericDirectoriesInOrder(t *testing.T) {
	d := makeHome(t, "data/snapshots/2000/1/0", "data/snapshots/10000/1/0", "data/snapshots/metadata.db/CURRENT", "data/snapshots/77", "data/snapshots/-5/x")
	got, err := d.SnapshotHeights()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{2000, 10000}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none, err := makeHome(t).SnapshotHeights()
	if err != nil || len(none) != 0 {
		t.Errorf("without a directory: %v, %v", none, err)
	}
}

// The trees are those that the real seid leaves behind.
func TestStateWithoutStore_IsTrueOnlyForCommittedStateWithoutOne(t *testing.T) {
	const (
		commitLog = "data/committer.db/changelog/00000000000000000001"
		storeLog  = "data/pebbledb/changelog/00000000000000000001"
		storeData = "data/pebbledb/000002.log"
		manifest  = "data/pebbledb/MANIFEST-000001"
	)
	tests := map[string]struct {
		files   map[string]string
		current string
		want    bool
	}{
		"fresh home":                        {map[string]string{"data/priv_validator_state.json": "{}"}, "", false},
		"started, no block yet":             {map[string]string{commitLog: "", storeLog: "", storeData: "", manifest: "x"}, "snapshot-00000000000000000000", false},
		"blocks, store off":                 {map[string]string{commitLog: "x"}, "snapshot-00000000000000000000", true},
		"blocks, store on":                  {map[string]string{commitLog: "x", storeLog: "x", storeData: "x"}, "snapshot-00000000000000000000", false},
		"blocks, store left by a panic":     {map[string]string{commitLog: "x", storeLog: "", storeData: "", manifest: "x"}, "snapshot-00000000000000000000", true},
		"snapshot, log cut, store off":      {map[string]string{commitLog: ""}, "snapshot-00000000000000010000", true},
		"state synced, store has data only": {map[string]string{commitLog: "", "data/pebbledb/000004.sst": "x"}, "snapshot-00000000000000002000", false},
		"rocksdb store":                     {map[string]string{commitLog: "x", "data/rocksdb/000004.sst": "x"}, "", false},
		"old store only":                    {map[string]string{"data/application.db/000004.log": "x"}, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := makeHome(t)
			for file, content := range tc.files {
				write(t, d.Path(file), content)
			}
			if tc.current != "" {
				if err := os.Symlink(tc.current, d.Path("data/committer.db/current")); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.StateWithoutStore()
			if err != nil || got != tc.want {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
