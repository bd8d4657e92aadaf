package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
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
	places, err := t.places()
	if err != nil {
		return nil, err
	}
	size, err := sizeOnce(task, places)
	if err != nil {
		return nil, err
	}
	record, err := supervision.Read(string(t.Node.Home))
	if err != nil {
		return nil, err
	}
	// From here on seid does not start until the reset is complete.
	if err := stage.BeginReset(string(t.Node.Home), record.Starts); err != nil {
		return nil, err
	}
	if err := t.forgetDependents(task.Records); err != nil {
		return nil, err
	}
	if err := t.wipe(ctx, places, p.ResetSigningState); err != nil {
		return nil, err
	}
	return wire.WipedData{WipedBytes: size}, stage.EndReset(string(t.Node.Home), record.Starts)
}

// places is where the node's configuration puts what a reset has to do with.
type places struct {
	data, wasm, snapshots string
	signingState          string
	// kept are files that a reset never deletes, wherever they are.
	kept []string
}

// places reads the configuration. A file that cannot be read may name a place for the
// signing state that would then be deleted, so it stops the reset.
func (t *Tasks) places() (places, error) {
	dir := t.Node.Home
	files, err := config.Read(dir.Config())
	if err != nil {
		return places{}, api.Terminal(api.CodePrecondition, fmt.Errorf("finding out where the signing state is: %w", err)).
			WithHint("correct the configuration file first, so that nothing is deleted that must stay")
	}
	snapshots, err := config.SnapshotDir(files, dir)
	if err != nil {
		return places{}, api.Terminal(api.CodePrecondition, err)
	}
	p := places{data: dir.Data(), wasm: dir.Wasm(), snapshots: snapshots, signingState: config.SigningState(files, dir)}
	p.kept = config.Irreplaceable(files, dir)
	return p, nil
}

// sizeOnce measures before the first byte is deleted and remembers it for a run
// after a crash.
func sizeOnce(task engine.Task, p places) (int64, error) {
	var size int64
	noted, err := notes.Find(task, measured, &size)
	if noted || err != nil {
		return size, err
	}
	size = treeSize(p.data) + treeSize(p.wasm)
	if !leftovers.Within(p.snapshots, p.data) {
		size += treeSize(p.snapshots)
	}
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
	for _, name := range leftovers.NotesOnData {
		if err := durable.Remove(t.Node.Home.Path(name)); err != nil {
			return err
		}
	}
	if err := errors.Join(stage.Forget(string(t.Node.Home)), upgrades.Forget(string(t.Node.Home))); err != nil {
		return err
	}
	return completion.Forget(records, dependents...)
}

func (t *Tasks) wipe(ctx context.Context, p places, signingState bool) error {
	if err := os.MkdirAll(p.data, 0o750); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if err := leftovers.RemoveExcept(ctx, p.data, leftovers.RealPaths(p.kept)); err != nil {
		return fmt.Errorf("emptying the data directory: %w", err)
	}
	if err := durable.Remove(p.wasm); err != nil {
		return err
	}
	if err := leftovers.Snapshots(p.snapshots); err != nil {
		return err
	}
	if err := leftovers.StateSync(t.Node.Home); err != nil {
		return err
	}
	kept, err := durable.Exists(p.signingState)
	if err != nil {
		return err
	}
	if !kept || signingState {
		if err := os.MkdirAll(filepath.Dir(p.signingState), 0o750); err != nil {
			return fmt.Errorf("making the directory of the signing state: %w", err)
		}
		if err := durable.WriteFile(p.signingState, []byte(emptySigningState), 0o600); err != nil {
			return err
		}
	}
	return durable.SyncDir(p.data)
}
