package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

// stop ends the node. A node that is not there is stopped already; one whose RPC
// answers although its process cannot be seen is an error, because then nothing
// that follows would be safe.
func (t *Tasks) stop(ctx context.Context, task engine.Task, _ wire.StopSeid) (any, error) {
	var result wire.Stopped
	if _, err := notes.Find(task, stopped, &result); err != nil {
		return nil, err
	}
	running, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	if running == nil {
		return result, nil
	}
	result.WasRunning = true
	if err := notes.Keep(task, stopped, result); err != nil {
		return nil, err
	}
	return result, t.end(ctx, running)
}

// The kinds of notes that the tasks of this package keep.
const (
	stopped   = "stopped node"
	signalled = "process to end"
	met       = "condition met"
	measured  = "data size"
)

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
	return nil, nil
}

// endOnce ends the node that runs when a task first comes here, and no other: a
// task that is run again after a crash must not end the node that took its
// place. The process is noted before anything is done to it; whoever is killed
// during the farewell begins it anew, because meanwhile nobody said it.
func (t *Tasks) endOnce(ctx context.Context, task engine.Task, farewell time.Duration) error {
	running, err := t.find(ctx)
	if err != nil {
		return err
	}
	var target string
	noted, err := notes.Find(task, signalled, &target)
	if err != nil {
		return err
	}
	if !noted {
		if running != nil {
			target = running.Identity()
		}
		if err := notes.Keep(task, signalled, target); err != nil {
			return err
		}
	}
	if running == nil || running.Identity() != target {
		return nil
	}
	if farewell > 0 {
		task.Progress(api.Progress{Message: fmt.Sprintf("clients have %s to go elsewhere", farewell)})
		return t.endAfter(ctx, running, farewell)
	}
	return t.end(ctx, running)
}
