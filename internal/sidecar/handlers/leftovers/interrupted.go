package leftovers

import (
	"context"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// InterruptedStateSync removes the state that a state sync has left which did not come to its end,
// and reports whether there was any. seid syncs again at its next start, and cannot restore a
// snapshot where one of the same height is. Snapshots stay: it may be one of them that is
// restored. seid must not be running.
func InterruptedStateSync(ctx context.Context, dir home.Dir) (bool, error) {
	files, err := config.Read(dir.Config())
	if err != nil || !config.StateSyncs(files) {
		return false, err
	}
	left, err := dir.StateWithoutBlocks()
	if err != nil || !left {
		return false, err
	}
	snapshots, err := config.SnapshotDir(files, dir)
	if err != nil {
		return false, err
	}
	// The committed state goes last: as long as it is there this is not done.
	kept := append(config.Irreplaceable(files, dir), snapshots, Download(snapshots), dir.Path("data", "blockstore.db"), dir.Commits())
	if err := RemoveExcept(ctx, dir.Data(), RealPaths(kept)); err != nil {
		return true, fmt.Errorf("emptying the data directory: %w", err)
	}
	if err := durable.Remove(dir.Wasm()); err != nil {
		return true, err
	}
	if err := StateSync(dir); err != nil {
		return true, err
	}
	return true, durable.Remove(dir.Commits())
}
