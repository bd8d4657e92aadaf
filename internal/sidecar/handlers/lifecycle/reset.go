package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// emptySigningState is what `seid init` writes for a key that signed nothing.
const emptySigningState = "{\"height\":\"0\",\"round\":0,\"step\":0}\n"

// dependents are the tasks whose work lies in the data directory.
var dependents = []api.TaskType{api.SnapshotRestore, api.ConfigureStateSync}

// reset empties the data directory and the contract code beside it. What a
// validator signed last stays, unless the caller says otherwise: a key that
// forgets it may sign the same height twice. What depended on the data is
// forgotten before the data goes, so that no later task believes it is there.
func (t *Tasks) reset(ctx context.Context, task engine.Task, p wire.ResetData) (any, error) {
	if err := t.CheckStopped(ctx); err != nil {
		return nil, err
	}
	size, err := t.sizeOnce(task)
	if err != nil {
		return nil, err
	}
	if err := t.forgetDependents(task.Records); err != nil {
		return nil, err
	}
	if err := t.wipe(ctx, p.ResetSigningState); err != nil {
		return nil, err
	}
	return wire.WipedData{WipedBytes: size}, nil
}

// sizeOnce measures before the first byte is deleted and remembers it for a run
// after a crash.
func (t *Tasks) sizeOnce(task engine.Task) (int64, error) {
	var size int64
	noted, err := notes.Find(task, measured, &size)
	if noted || err != nil {
		return size, err
	}
	size = treeSize(t.Node.Home.Data()) + treeSize(t.Node.Home.Wasm())
	return size, notes.Keep(task, measured, size)
}

func treeSize(root string) int64 {
	var total int64
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // the size is for people; what cannot be read does not count
		}
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

func (t *Tasks) forgetDependents(records engine.Records) error {
	// Marks first: a mark without a record would pass for another sidecar's.
	if err := t.Node.Unmark("snapshot", "statesync"); err != nil {
		return err
	}
	if err := durable.Remove(t.Node.Home.Path(".sei-sidecar-snapshot-height")); err != nil {
		return err
	}
	if err := stage.Forget(string(t.Node.Home)); err != nil {
		return err
	}
	return completion.Forget(records, dependents...)
}

func (t *Tasks) wipe(ctx context.Context, signingState bool) error {
	data := t.Node.Home.Data()
	if err := os.MkdirAll(data, 0o750); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		return fmt.Errorf("reading the data directory: %w", err)
	}
	keep := filepath.Base(t.Node.Home.ConsensusState())
	for _, e := range entries {
		if e.Name() == keep {
			continue
		}
		if err := errors.Join(ctx.Err(), os.RemoveAll(filepath.Join(data, e.Name()))); err != nil {
			return fmt.Errorf("emptying the data directory: %w", err)
		}
	}
	if err := durable.Remove(t.Node.Home.Wasm()); err != nil {
		return err
	}
	kept, err := durable.Exists(t.Node.Home.ConsensusState())
	if err != nil {
		return err
	}
	if !kept || signingState {
		if err := durable.WriteFile(t.Node.Home.ConsensusState(), []byte(emptySigningState), 0o600); err != nil {
			return err
		}
	}
	return durable.SyncDir(data)
}
