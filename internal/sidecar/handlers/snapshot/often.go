package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// retryUpload is the pause after an upload that failed or found nothing.
const retryUpload = time.Hour

// uploadOften uploads a snapshot every interval until the task is deleted. What was
// uploaded last is on the volume, so a new process continues where the last one was.
func (t *Tasks) uploadOften(ctx context.Context, task engine.Task, _ wire.SnapshotUpload) (any, error) {
	interval := cmp.Or(t.UploadInterval, DefaultUploadInterval)
	message := "waiting for the next upload"
	for {
		state, err := t.uploadState()
		if err != nil {
			return nil, err
		}
		pause := time.Until(time.Unix(state.LastUploadedAt, 0).Add(interval))
		if state.LastUploadedAt == 0 || pause <= 0 {
			message, pause = t.round(ctx, task, interval)
		}
		task.Progress(api.Progress{Message: fmt.Sprintf("%s; next upload at %s", message, time.Now().Add(pause).UTC().Format(time.RFC3339))})
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// round is one upload; what went wrong is told and tried again.
func (t *Tasks) round(ctx context.Context, task engine.Task, interval time.Duration) (message string, pause time.Duration) {
	done, err := t.uploadNow(ctx, task, func(wire.UploadedSnapshot) error { return nil })
	switch {
	case err != nil:
		return fmt.Sprintf("the last upload failed: %v", err), min(interval, retryUpload)
	case done.Outcome == wire.OutcomeUploaded:
		return fmt.Sprintf("uploaded %s", done.Key), interval
	default:
		return "nothing to upload: " + done.NoopReason, min(interval, retryUpload)
	}
}
