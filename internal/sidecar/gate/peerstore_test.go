package gate

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRun_PeerStoreThatSeidCannotOpen_IsMovedAsideBeforeTheNextStart(t *testing.T) {
	const damaged = `echo 'Error: unable to initialize peer store: leveldb: database entry point either missing or corrupted' >&2; exit 1`
	for name, tc := range map[string]struct {
		end   string
		moved bool
	}{
		"damaged":       {damaged, true},
		"another store": {`echo 'Error: opening state: database entry point either missing or corrupted' >&2; exit 1`, false},
		"another error": {`echo 'Error: unable to initialize peer store: resource temporarily unavailable' >&2; exit 1`, false},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := gateAt(t, opened)
			store := filepath.Join(g.Home, "data", "peerstore.db")
			if err := os.MkdirAll(store, 0o750); err != nil {
				t.Fatal(err)
			}
			_ = g.Run(t.Context(), []string{"sh", "-c", tc.end})
			if _, err := os.Stat(store); err != nil {
				t.Fatalf("moved while nobody starts: %v", err)
			}
			if err := g.Run(t.Context(), []string{"sh", "-c", "true"}); err != nil {
				t.Fatal(err)
			}
			_, gone := os.Stat(store)
			_, aside := os.Stat(store + ".damaged")
			if moved := gone != nil && aside == nil; moved != tc.moved {
				t.Errorf("moved is %v: %v, %v", moved, gone, aside)
			}
		})
	}
}
