package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

var errLeaving = errors.New("the node is about to be restarted")

// InSync says why no client should be sent to the node: it is about to be ended, or it
// is not in sync. nil means that all is well.
func (t *Tasks) InSync(ctx context.Context) error {
	if t.leaving.Load() {
		return errLeaving
	}
	at, err := t.RPC().Sync(ctx, time.Now())
	if err == nil && !at.InSync() {
		err = errors.New(at.Why)
	}
	return err
}

// drainThenStop ends a process when those who ask for its readiness had time to hear no. They
// hear it until the process is gone: one that still answers while it ends would be given
// clients again. Whoever is killed meanwhile starts over, because nobody said no meanwhile.
func (t *Tasks) drainThenStop(ctx context.Context, task engine.Task, r *running, drain time.Duration) error {
	if drain > 0 && r.termAt == nil {
		task.Progress(api.Progress{Message: fmt.Sprintf("draining: clients have %s to reconnect elsewhere", drain)})
		t.leaving.Store(true)
		defer t.leaving.Store(false)
		if err := t.awaitEnd(ctx, r, drain); !errors.Is(err, errStillRunning) {
			return err // it ended by itself, or the task is called off
		}
	}
	return t.end(ctx, task, r, api.RestartSeid)
}
