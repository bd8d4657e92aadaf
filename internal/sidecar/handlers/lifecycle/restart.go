package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

var errNoAnswer = errors.New("no answer")

// restart ends the node, after a farewell if one is asked for, and waits until the
// next one answers.
func (t *Tasks) restart(ctx context.Context, task engine.Task, p wire.RestartSeid) (any, error) {
	if err := t.endOnce(ctx, task, p.FarewellDuration()); err != nil {
		return nil, err
	}
	serving, err := t.awaitAnswer(ctx)
	if err != nil {
		return nil, err
	}
	return wire.Restarted{RPCServing: serving}, nil
}

// awaitAnswer waits for the RPC. A node that syncs its state from peers opens it
// only afterwards; that it runs has to do then. As with await, the limit ends a
// pause and never a look.
func (t *Tasks) awaitAnswer(ctx context.Context) (serving bool, err error) {
	timing := t.Timing.withDefaults()
	waiting, cancel := context.WithTimeoutCause(ctx, timing.Restart, errNoAnswer)
	defer cancel()
	for !t.serving(ctx) {
		err := pause(waiting, jittered(timing.Poll))
		if errors.Is(err, errNoAnswer) {
			return false, t.explainSilence(timing.Restart.String())
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (t *Tasks) explainSilence(waited string) error {
	running, err := t.Processes.Find()
	if err != nil {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("seid did not come back within %s: %w", waited, err)).
			WithHint("look at the log of the seid container")
	}
	syncing, err := t.StateSyncEnabled()
	if err != nil {
		return err
	}
	if syncing {
		return nil
	}
	return api.Retryable(api.CodeUnavailable, fmt.Errorf("seid runs (process %d) but its RPC did not answer within %s", running.PID, waited)).
		WithHint("look at the log of the seid container")
}
