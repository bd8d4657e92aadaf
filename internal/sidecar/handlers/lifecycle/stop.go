package lifecycle

import (
	"context"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

// stop ends the node, also one that is still starting. A node that is not there is stopped
// already; one whose RPC answers although its process cannot be seen is an error, because
// then nothing that follows would be safe.
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
	return result, t.end(ctx, task, running, api.StopSeid)
}

// The kinds of notes that the tasks of this package keep.
const (
	stopped  = "stopped node"
	toEnd    = "process to end"
	met      = "condition met"
	measured = "data size"
)

// target is the process that one run of a task is about.
type target struct {
	Run      int    `json:"run"`
	Identity string `json:"identity"`
}

// claim makes the node that runs when a task first comes here the one that it ends, and
// reports whether it is still the same: a task that is run again after a crash must not end
// the node that took its place. The process is noted before anything is done to it.
func (t *Tasks) claim(task engine.Task, running *running) (bool, error) {
	var noted target
	found, err := notes.Find(task, toEnd, &noted)
	if err != nil {
		return false, err
	}
	now := target{Run: task.Run}
	if running != nil {
		now.Identity = running.identity
	}
	if found && noted.Run == task.Run {
		return running != nil && noted == now, nil
	}
	return running != nil, notes.Keep(task, toEnd, now)
}
