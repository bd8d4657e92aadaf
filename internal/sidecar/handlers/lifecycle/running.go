package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// running is the node's process as it was found.
type running struct {
	identity string
	// pid is the number by which the process's own container knows it.
	pid     int
	started time.Time
	// configHash is what the process was started with, and termAt when it was asked to
	// end; both only if a gate watches it.
	configHash string
	termAt     *time.Time
	// watched: there is a gate that takes orders.
	watched bool
	// seen is the process in the process table; nil if it is not visible from here.
	seen *process.Node
}

// ageError is by how much the age of a process that no gate watches may be wrong.
const ageError = 100 * time.Millisecond

// youngerThan reports whether the process was started after a moment.
func (r *running) youngerThan(at time.Time) bool {
	return !at.IsZero() && !r.started.IsZero() && r.started.After(at)
}

// find is the running node, or nil. The gate's record comes first; a process without one
// belongs to the gate of an older pod, which has become it.
func (t *Tasks) find(ctx context.Context) (*running, error) {
	recorded, err := t.recorded()
	if err != nil || recorded != nil {
		return recorded, err
	}
	found, err := t.Processes.Find()
	switch {
	case err == nil:
		return t.unwatched(ctx, found)
	case !errors.Is(err, process.ErrNotRunning):
		return nil, fmt.Errorf("looking for seid: %w", err)
	case t.serving(ctx):
		return nil, api.Retryable(api.CodePrecondition, errors.New("seid RPC is serving but its process was not found in /proc")).
			WithHint("the pod needs shareProcessNamespace")
	}
	return nil, nil
}

// recorded is the process that the gate's record shows as running, or nil.
func (t *Tasks) recorded() (*running, error) {
	home := string(t.Node.Home)
	r, err := supervision.Read(home)
	if err != nil || r.State != api.SeidRunning {
		return nil, err
	}
	watched, err := supervision.Watched(home)
	if err != nil {
		return nil, err
	}
	return &running{
		identity: r.Identity(), pid: r.PID, started: r.Since, configHash: r.ConfigHash, termAt: r.TermAt,
		watched: watched, seen: r.Process(),
	}, nil
}

// recordDelay is how long a gate may take to record the process that it has just started.
const recordDelay = 5 * time.Second

// unwatched is a process that the record does not show. While a gate is there it may have
// been started a moment ago.
func (t *Tasks) unwatched(ctx context.Context, found *process.Node) (*running, error) {
	waiting, cancel := context.WithTimeout(ctx, recordDelay)
	defer cancel()
	for {
		watched, err := supervision.Watched(string(t.Node.Home))
		if err != nil {
			return nil, err
		}
		if !watched || pause(waiting, aliveCheck) != nil {
			break
		}
		if recorded, err := t.recorded(); err != nil || recorded != nil {
			return recorded, err
		}
		if !found.Alive() {
			return nil, nil
		}
	}
	r := &running{identity: found.Identity(), pid: found.PID, seen: found}
	if age, ok := found.Age(); ok {
		r.started = time.Now().Add(-age - ageError)
	}
	return r, ctx.Err()
}

// alive reports whether a process still runs.
func (t *Tasks) alive(r *running) (bool, error) {
	if r.seen != nil && r.seen.Alive() {
		return true, nil
	}
	now, err := t.recorded()
	if err != nil {
		return true, err
	}
	return now != nil && now.identity == r.identity, nil
}
