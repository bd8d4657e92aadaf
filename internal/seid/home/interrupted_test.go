package home_test

import (
	"os"
	"testing"
)

// The trees are those that the real seid leaves behind.
func TestStateWithoutBlocks_IsTrueOnlyWhereAStateSyncWasInterrupted(t *testing.T) {
	const (
		blocks    = "data/blockstore.db/000002.log"
		commitLog = "data/committer.db/changelog/00000000000000000001"
		storeData = "data/pebbledb/000002.log"
		none      = "snapshot-00000000000000000000"
		restored  = "snapshot-00000000000000000210"
	)
	for name, tc := range map[string]struct {
		files   map[string]string
		current string
		want    bool
	}{
		"fresh home":                     {map[string]string{"data/priv_validator_state.json": "{}"}, "", false},
		"started, no block yet":          {map[string]string{blocks: "", commitLog: "", storeData: ""}, none, false},
		"in the middle of the restore":   {map[string]string{blocks: "", commitLog: "", storeData: "x"}, none, true},
		"restored, not taken over":       {map[string]string{blocks: "", commitLog: "", storeData: "x"}, restored, true},
		"restored, no state store":       {map[string]string{blocks: "", commitLog: ""}, restored, true},
		"restored, and the commit":       {map[string]string{blocks: "x", commitLog: "", storeData: "x"}, restored, false},
		"blocks in a table":              {map[string]string{blocks: "", "data/blockstore.db/000004.ldb": "x", commitLog: "x"}, restored, false},
		"blocks are somewhere else":      {map[string]string{commitLog: "x", storeData: "x"}, restored, false},
		"blocks from the genesis on":     {map[string]string{blocks: "x", commitLog: "x", storeData: "x"}, none, false},
		"imported, with an old database": {map[string]string{blocks: "x", "data/application.db/000004.ldb": "x"}, "", false},
	} {
		d := makeHome(t)
		for file, content := range tc.files {
			write(t, d.Path(file), content)
		}
		if tc.current != "" {
			if err := os.Symlink(tc.current, d.Path("data/committer.db/current")); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.StateWithoutBlocks(); err != nil || got != tc.want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, tc.want)
		}
	}
}
