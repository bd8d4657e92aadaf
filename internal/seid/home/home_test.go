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
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
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

func TestStateWithoutStore_IsTrueOnlyForCommittedStateWithoutOne(t *testing.T) {
	tests := map[string]struct {
		files []string
		want  bool
	}{
		"fresh home":            {[]string{"data/priv_validator_state.json"}, false},
		"committed, no store":   {[]string{"data/committer.db/current/x"}, true},
		"committed, with store": {[]string{"data/committer.db/current/x", "data/pebbledb/CURRENT"}, false},
		"store directory empty": {[]string{"data/application.db/CURRENT"}, true},
	}
	for name, tc := range tests {
		got, err := makeHome(t, tc.files...).StateWithoutStore()
		if err != nil || got != tc.want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, tc.want)
		}
	}
}
