package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// orderDelay is how long a gate may take to follow an order.
const orderDelay = 10 * time.Second

// end asks a process to end, unless that was done by whomever, and waits until it is gone.
func (t *Tasks) end(ctx context.Context, task engine.Task, r *running, by api.TaskType) error {
	asked, err := t.asked(task, r)
	if err != nil {
		return err
	}
	if !asked {
		if err := t.ask(ctx, task, r, by); err != nil {
			return err
		}
	}
	task.Progress(api.Progress{Message: fmt.Sprintf("waiting for seid (process %d) to exit", r.pid)})
	limit := t.Timing.withDefaults().Stop
	err = t.awaitEnd(ctx, r, limit)
	if errors.Is(err, errStillRunning) {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("seid (process %d) was asked to exit once and is still running after %s more", r.pid, limit)).
			WithHint("it may be writing a snapshot; it is not asked a second time, which would kill it: try again later")
	}
	return err
}

// asked reports whether a process was asked to end. What the gate asked is in its record;
// what this sidecar asked a process of an older pod is in its own.
func (t *Tasks) asked(task engine.Task, r *running) (bool, error) {
	if r.termAt != nil {
		return true, nil
	}
	last, err := task.Records.Get(recordAsked)
	return string(last) == r.identity, err
}

// recordAsked is the record of the process that this sidecar asked to end itself.
const recordAsked = "process asked to end"

// ask asks a process to end: through its gate where there is one.
func (t *Tasks) ask(ctx context.Context, task engine.Task, r *running, by api.TaskType) error {
	if r.watched {
		return t.order(ctx, r, by)
	}
	if r.seen == nil {
		return nil // gone with its gate
	}
	// Noted first: one that is asked twice is killed, one that is not asked can be.
	if err := task.Records.Put(recordAsked, []byte(r.identity)); err != nil {
		return err
	}
	if err := r.seen.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, process.ErrNotRunning) {
		return fmt.Errorf("stopping seid: %w", err)
	}
	return nil
}

// order has the gate ask, and waits until it has. An order is never backed up by a signal
// from here: the gate could follow it later.
func (t *Tasks) order(ctx context.Context, r *running, by api.TaskType) error {
	if err := t.giveOrder(supervision.Order{Target: r.identity, By: string(by), At: time.Now().UTC()}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, orderDelay, errStillRunning)
	defer cancel()
	for {
		now, err := t.recorded()
		if err != nil {
			return err
		}
		if now == nil || now.identity != r.identity || now.termAt != nil {
			return nil
		}
		err = pause(waiting, aliveCheck)
		if errors.Is(err, errStillRunning) {
			return api.Retryable(api.CodeUnavailable, fmt.Errorf("the gate has not asked seid (process %d) to exit within %s", r.pid, orderDelay))
		}
		if err != nil {
			return err
		}
	}
}

// giveOrder leaves an order, one at a time: await-condition runs beside all other tasks.
func (t *Tasks) giveOrder(o supervision.Order) error {
	t.orders.Lock()
	defer t.orders.Unlock()
	return supervision.GiveOrder(string(t.Node.Home), o)
}

var errStillRunning = errors.New("still running")

// awaitEnd waits until a process is gone, at most for a time.
func (t *Tasks) awaitEnd(ctx context.Context, r *running, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errStillRunning)
	defer cancel()
	for {
		alive, err := t.alive(r)
		if err != nil || !alive {
			return err
		}
		if err := pause(ctx, aliveCheck); err != nil {
			return err
		}
	}
}
