// Package stage knows how far a node's home has come with its first sync. The mark on the
// volume is made once and outlives pods; nothing that can be asked of a running seid
// belongs here.
package stage

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

func mark(home string) string { return filepath.Join(home, ".sei-sidecar", "synced") }

// Synced reports whether the node was in sync at least once.
func Synced(home string) (bool, error) { return durable.Exists(mark(home)) }

// MarkSynced records that the node is in sync.
func MarkSynced(home string) error {
	synced, err := Synced(home)
	if synced || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(mark(home)), 0o750); err != nil {
		return fmt.Errorf("recording that the node is in sync: %w", err)
	}
	return durable.WriteFile(mark(home), nil, 0o640)
}

// Forget removes the mark: the node's data is gone and its first sync begins anew.
func Forget(home string) error { return durable.Remove(mark(home)) }
