package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/wire"
)

// stop ends the node. A node that is not there is stopped already; one whose RPC
// answers although its process cannot be seen is an error, because then nothing
// that follows would be safe.
func (t *Tasks) stop(ctx context.Context, _ engine.Task, _ wire.StopSeid) (any, error) {
	running, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	if running == nil {
		return wire.Stopped{}, nil
	}
	if err := t.end(ctx, running); err != nil {
		return nil, err
	}
	return wire.Stopped{WasRunning: true}, nil
}

// find is the running node, or nil.
func (t *Tasks) find(ctx context.Context) (*process.Node, error) {
	running, err := t.Processes.Find()
	switch {
	case err == nil:
		return running, nil
	case !errors.Is(err, process.ErrNotRunning):
		return nil, fmt.Errorf("looking for seid: %w", err)
	case t.serving(ctx):
		return nil, api.Retryable(api.CodePrecondition, errors.New("seid RPC is serving but its process was not found in /proc")).
			WithHint("the pod needs shareProcessNamespace")
	}
	return nil, nil //nolint:nilnil // no process is an answer, not an error
}

// endOnce ends the node that runs when a task first comes here, and no other: a
// task that is run again after a crash must not end the node that took its
// place. The process is noted before it is signalled.
func (t *Tasks) endOnce(ctx context.Context, task engine.Task) error {
	key := "signalled/" + task.ID
	noted, err := task.Records.Get(key)
	if err != nil {
		return fmt.Errorf("reading which process to end: %w", err)
	}
	running, err := t.find(ctx)
	if err != nil {
		return err
	}
	if noted == nil {
		noted = []byte("none")
		if running != nil {
			noted = []byte(running.Identity())
		}
		if err := task.Records.Put(key, noted); err != nil {
			return fmt.Errorf("noting which process to end: %w", err)
		}
	}
	if running == nil || running.Identity() != string(noted) {
		return nil
	}
	return t.end(ctx, running)
}

func forgetEnded(task engine.Task) error {
	if err := task.Records.Delete("signalled/" + task.ID); err != nil {
		return fmt.Errorf("forgetting which process was ended: %w", err)
	}
	return nil
}
