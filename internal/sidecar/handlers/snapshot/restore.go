package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// restoreInputs is everything a restore depends on.
type restoreInputs struct {
	Bucket, ChainID string
	TargetHeight    int64
	// RequireVerified is left out of the records of those who did not ask for it.
	RequireVerified bool `json:",omitempty"`
}

// restore puts the chosen snapshot into the node's snapshot directory. The same
// inputs again give the same result without a download; other inputs restore
// again. Homes that the public sidecar restored are left alone.
func (t *Tasks) restore(ctx context.Context, task engine.Task, p wire.SnapshotRestore) (any, error) {
	inputs := restoreInputs{Bucket: t.Node.SnapshotBucket, ChainID: t.Node.ChainID, TargetHeight: p.TargetHeight, RequireVerified: p.RequireVerified}
	rec, err := completion.Find(task.Records, api.SnapshotRestore)
	if err != nil {
		return nil, err
	}
	target, err := t.snapshots()
	if err != nil {
		return nil, err
	}
	if rec.Matches(inputs) {
		return rec.Result, t.cleared(target)
	}
	if rec == nil {
		if result, done, err := t.restoredBefore(p.RequireVerified); done || err != nil {
			return result, err
		}
	}
	result, err := t.restoreAnew(ctx, task, p, target)
	if err != nil {
		return nil, err
	}
	height := []byte(strconv.FormatInt(result.Height, 10))
	if err := durable.WriteFile(t.Node.Home.Path(leftovers.RestoredHeight), height, 0o600); err != nil {
		return nil, err
	}
	// The archive goes last: a kill before costs nothing but unpacking it again.
	if err := completion.Save(task.Records, api.SnapshotRestore, inputs, result); err != nil {
		return nil, err
	}
	return result, t.cleared(target)
}

// cleared does what comes after the record of a restore, also for a run that was killed
// right after it.
func (t *Tasks) cleared(target string) error {
	return errors.Join(t.Node.Mark(doneMark), durable.Remove(leftovers.Download(target)))
}

// restoredBefore recognises the mark of a sidecar that kept no records, and verified nothing.
func (t *Tasks) restoredBefore(requireVerified bool) (any, bool, error) {
	marked, err := t.Node.Marked(doneMark)
	if err != nil || !marked {
		return nil, false, err
	}
	if requireVerified {
		return nil, false, api.Terminal(api.CodePrecondition, errors.New("this home was restored before, but it is unknown whether the snapshot was verified")).
			WithHint("run reset-data first, which keeps keys and signing state")
	}
	data, err := os.ReadFile(t.Node.Home.Path(leftovers.RestoredHeight))
	if err != nil {
		return nil, false, fmt.Errorf("reading the restored height: %w", err)
	}
	height, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return nil, false, fmt.Errorf("reading the restored height: %w", err)
	}
	return wire.RestoredSnapshot{Height: height, Warnings: []string{"this home was restored before; run reset-data to restore again"}}, true, nil
}

func (t *Tasks) restoreAnew(ctx context.Context, task engine.Task, p wire.SnapshotRestore, target string) (wire.RestoredSnapshot, error) {
	if err := t.CheckStopped(ctx); err != nil {
		return wire.RestoredSnapshot{}, err
	}
	if err := t.refuseState(); err != nil {
		return wire.RestoredSnapshot{}, err
	}
	bucket, err := node.Bucket(ctx, t.Node.SnapshotBucket, "snapshot bucket")
	if err != nil {
		return wire.RestoredSnapshot{}, err
	}
	defer func() { _ = bucket.Close() }()
	chosen, err := t.choose(ctx, bucket, p)
	if err != nil {
		return wire.RestoredSnapshot{}, node.BucketError(err)
	}
	result := wire.RestoredSnapshot{Height: chosen.height, Key: chosen.object.Key, Bytes: chosen.object.Size, Verified: chosen.manifest != nil}
	if result.Warnings, err = t.checkAge(chosen, p.TrustPeriod); err != nil {
		return result, err
	}
	if chosen.manifest == nil {
		result.Warnings = append(result.Warnings, "there is no manifest beside the snapshot; it was compared with its own index only")
	}
	if err := t.bring(ctx, task, bucket, chosen, target); err != nil {
		return result, explain(err, target)
	}
	return result, nil
}

// refuseState keeps a restore from being without success: seid skips state sync when it has
// blocks or state.
func (t *Tasks) refuseState() error {
	what, err := t.Node.Home.State()
	if err != nil || what == "" {
		return err
	}
	return api.Terminal(api.CodePrecondition, fmt.Errorf("the home has state in %s: seid would continue from it and ignore the snapshot", what)).
		WithHint("run reset-data first, which keeps keys and signing state")
}

// bring fetches, checks and unpacks a snapshot and puts it in the place of what is there.
func (t *Tasks) bring(ctx context.Context, task engine.Task, bucket *objectstore.Bucket, from choice, target string) error {
	dir := leftovers.Download(target)
	if err := dropUseless(dir, target); err != nil {
		return err
	}
	tight, err := checkRoom(dir, from.object, from.manifest)
	if err != nil {
		return err
	}
	d := &download{dir: dir, bucket: bucket, task: task, pause: t.retryPause()}
	sum, err := d.fetch(ctx, from.object.Key)
	if err != nil {
		return err
	}
	if err := from.verify(sum, d.part.Size); err != nil {
		return err
	}
	staging, err := staging(target)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := unpack(ctx, task, from, dir, staging, tight); err != nil {
		return err
	}
	if err := checkLayout(ctx, staging, from.height, from.manifest == nil); err != nil {
		return err
	}
	if err := durable.SyncTree(staging); err != nil {
		return err
	}
	return durable.Swap(staging, target)
}

// explain tells the caller what an error means for it, and gives back the room of a
// download that cannot be continued.
func explain(err error, target string) error {
	switch {
	case errors.Is(err, archive.ErrUnsafe), errors.Is(err, archive.ErrCorrupt):
		err = api.Terminal(api.CodeIntegrity, err).WithHint("the archive is damaged or not a snapshot; upload it again")
	case errors.Is(err, archive.ErrTooLarge):
		err = api.Terminal(api.CodeIntegrity, err).WithHint("the archive unpacks to more than its manifest or the volume allows")
	case isFull(err):
		err = api.Terminal(api.CodePrecondition, err).WithHint("the volume is full; use a larger one")
	default:
		err = node.BucketError(err)
	}
	if api.DetailOf(err).Terminal {
		err = errors.Join(err, durable.Remove(leftovers.Download(target)))
	}
	return err
}
