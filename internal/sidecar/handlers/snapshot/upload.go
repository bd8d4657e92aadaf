package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

const uploadedNote = "uploaded snapshot"

// uploadState is what is remembered of the last upload. The format is the public
// sidecar's.
type uploadState struct {
	LastUploadedHeight int64 `json:"lastUploadedHeight"`
	LastUploadedAt     int64 `json:"lastUploadedAt"`
}

// uploadOnce uploads the newest snapshot that is surely finished: the one before
// the highest. The archive comes first, then its manifest, then the pointer to
// it, then our own note, so a killed upload is done again.
func (t *Tasks) uploadOnce(ctx context.Context, task engine.Task, _ wire.SnapshotUploadOnce) (any, error) {
	var done wire.UploadedSnapshot
	noted, err := notes.Find(task, uploadedNote, &done)
	if err != nil {
		return nil, err
	}
	if noted {
		return done, t.remember(done.Height)
	}
	return t.uploadNow(ctx, task, func(done wire.UploadedSnapshot) error { return notes.Keep(task, uploadedNote, done) })
}

// uploadNow makes one upload, bounded in time and counted. The result is handed to note
// before it is remembered for all later tasks.
func (t *Tasks) uploadNow(ctx context.Context, task engine.Task, note func(wire.UploadedSnapshot) error) (wire.UploadedSnapshot, error) {
	result, err := t.upload(ctx, task, note)
	err = t.explainTimeout(err)
	if err != nil {
		t.Metrics.uploaded(t.Node.ChainID, wire.OutcomeError, 0)
		return wire.UploadedSnapshot{Outcome: wire.OutcomeError}, err
	}
	t.Metrics.uploaded(t.Node.ChainID, result.Outcome, result.Height)
	return result, nil
}

func (t *Tasks) uploadTimeout() time.Duration { return cmp.Or(t.UploadTimeout, DefaultUploadTimeout) }

func (t *Tasks) explainTimeout(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return api.Retryable(api.CodeUnavailable, fmt.Errorf("uploading took longer than %s: %w", t.uploadTimeout(), err))
}

func (t *Tasks) upload(ctx context.Context, task engine.Task, note func(wire.UploadedSnapshot) error) (wire.UploadedSnapshot, error) {
	ctx, release, err := t.uploading.begin(ctx, t.uploadTimeout())
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	defer release()
	dir, err := t.snapshots()
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	heights, reason, err := t.due(dir)
	if err != nil || reason.Outcome == wire.OutcomeNoop {
		return reason, err
	}
	held, err := hold(dir, heights)
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	defer held.release()
	if held.height == 0 {
		return wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopNoneComplete}, nil
	}
	bucket, err := node.Bucket(ctx, t.Node.SnapshotBucket, "snapshot bucket")
	if err != nil {
		return wire.UploadedSnapshot{}, err
	}
	defer func() { _ = bucket.Close() }()
	manifest, err := t.store(ctx, task, bucket, held)
	if err != nil {
		return wire.UploadedSnapshot{}, whyEnded(ctx, node.BucketError(err))
	}
	done := wire.UploadedSnapshot{
		Outcome: wire.OutcomeUploaded, Height: held.height, Key: t.key(held.height), SHA256: manifest.SHA256, Bytes: manifest.Size,
	}
	return done, t.uploading.note(ctx, func() error {
		if err := held.check(); err != nil {
			return err
		}
		return errors.Join(note(done), t.remember(done.Height))
	})
}

// due are the heights that may be uploaded, newest first, or why there are none. The
// highest may still be in the making.
func (t *Tasks) due(dir string) ([]int64, wire.UploadedSnapshot, error) {
	heights, err := home.SnapshotsIn(dir)
	if err != nil {
		return nil, wire.UploadedSnapshot{}, err
	}
	if len(heights) < 2 {
		return nil, wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopFewSnapshots}, nil
	}
	state, err := t.uploadState()
	if err != nil {
		return nil, wire.UploadedSnapshot{}, err
	}
	var due []int64
	for i := len(heights) - 2; i >= 0 && heights[i] > state.LastUploadedHeight; i-- {
		due = append(due, heights[i])
	}
	if len(due) == 0 {
		return nil, wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopAlreadyUploaded, Height: state.LastUploadedHeight}, nil
	}
	return due, wire.UploadedSnapshot{}, nil
}

// remember notes for all later tasks which snapshot is in the bucket.
func (t *Tasks) remember(height int64) error {
	return t.writeNote(leftovers.LastUpload, uploadState{LastUploadedHeight: height, LastUploadedAt: time.Now().Unix()})
}

func (t *Tasks) uploadState() (uploadState, error) {
	var state uploadState
	err := t.readNote(leftovers.LastUpload, &state)
	return state, err
}
