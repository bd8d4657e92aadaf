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
	// seen is the process in the process table; nil behind a gate.
	seen *process.Node
}

// ageError is by how much the age of a process that no gate watches may be wrong.
const ageError = 100 * time.Millisecond

// youngerThan reports whether the process was started after a moment.
func (r *running) youngerThan(at time.Time) bool {
	return !at.IsZero() && !r.started.IsZero() && r.started.After(at)
}

// find is the running node, or nil. Where there is a gate its record is all that counts: no process
// of seid's container is visible from here.
func (t *Tasks) find(ctx context.Context) (*running, error) {
	if err := t.letStart(ctx); err != nil {
		return nil, err
	}
	found, watched, err := t.visible()
	if err != nil || found != nil || !t.serving(ctx) {
		return found, err
	}
	if watched {
		return nil, api.Retryable(api.CodePrecondition, errors.New("seid RPC is serving but the gate has not started it")).
			WithHint("another process listens on the port of the node's RPC")
	}
	return nil, api.Retryable(api.CodePrecondition, errors.New("seid RPC is serving but its process was not found in /proc")).
		WithHint("run seid behind the gate; without one the pod needs shareProcessNamespace")
}

// visible is the node's process if there is one to be seen, and whether a gate is there; its RPC is
// not asked. Without a gate it is the pod of an older operator, whose gate has become seid and whose
// containers share their processes.
func (t *Tasks) visible() (found *running, watched bool, err error) {
	recorded, err := t.recorded()
	if err != nil || recorded != nil {
		return recorded, recorded != nil && recorded.watched, err
	}
	if watched, err = supervision.Watched(string(t.Node.Home)); err != nil || watched {
		return nil, watched, err
	}
	seen, err := t.Processes.Find()
	if errors.Is(err, process.ErrNotRunning) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("looking for seid: %w", err)
	}
	r := &running{identity: seen.Identity(), pid: seen.PID, seen: seen}
	if age, ok := seen.Age(); ok {
		r.started = time.Now().Add(-age - ageError)
	}
	return r, false, nil
}

// recorded is the process that the gate's record shows as running, or nil. That a process has
// outlived its gate can only be where containers share their processes.
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
	found := &running{
		identity: r.Identity(), pid: r.PID, started: r.Since, configHash: r.ConfigHash, termAt: r.TermAt, watched: watched,
	}
	if !watched {
		found.seen = r.Process()
	}
	return found, nil
}

// startDelay is how long a gate may take from letting seid through to its start: it may have to clear
// away what an interrupted state sync has left.
const startDelay = 30 * time.Second

var errAboutToStart = errors.New("the gate is about to start seid")

// letStart waits while the gate is about to start seid, which it may do whatever it is told now.
func (t *Tasks) letStart(ctx context.Context) error {
	home := string(t.Node.Home)
	ctx, cancel := context.WithTimeoutCause(ctx, startDelay, api.Retryable(api.CodePrecondition, errAboutToStart))
	defer cancel()
	for {
		r, err := supervision.Read(home)
		if err != nil || !r.Starting {
			return err
		}
		if watched, err := supervision.Watched(home); err != nil || !watched {
			return err
		}
		if err := pause(ctx, aliveCheck); err != nil {
			return err
		}
	}
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
