package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// groupGate keeps mark-ready and mark-not-ready in the order of submission.
const groupGate Group = "gate"

// Conditions are what the engine asks about the node before it moves the gate.
type Conditions interface {
	// Check says what the gate is opened for, or why it must not be opened.
	Check(ctx context.Context, p wire.MarkReady) (api.Opening, error)
	// Permit leaves the permission that came with an opening, or revokes an earlier one
	// when none came.
	Permit(p wire.MarkReady, o api.Opening) error
	// Revoke revokes a permission.
	Revoke() error
	// Refusal says why seid is not started although the gate is open.
	Refusal() string
}

// gate is the one thing the engine knows about a node: whether it may start.
// It lives in memory, so that every new process begins with a closed gate.
type gate struct {
	mu     sync.Mutex
	state  api.GateState
	since  time.Time
	opened *api.Opening
	// heldBy is the mark-not-ready task that holds the gate.
	heldBy string
}

func (g *gate) move(to api.GateState, at time.Time, opened *api.Opening) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != to {
		g.since = at
	}
	g.state, g.opened, g.heldBy = to, opened, ""
}

// hold has a task hold the gate.
func (g *gate) hold(task string, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != api.GateHeld {
		g.since = at
	}
	g.state, g.opened, g.heldBy = api.GateHeld, nil, task
}

func (g *gate) look() api.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	since := g.since
	view := api.Gate{State: g.state, Since: &since, HeldBy: g.heldBy}
	if g.opened != nil {
		opened := *g.opened
		view.Opened = &opened
	}
	return view
}

// Ready reports whether the gate is open.
func (e *Engine) Ready() bool { return e.gate.look().State == api.GateOpen }

// Gate is the gate as the node document shows it.
func (e *Engine) Gate() api.Gate {
	view := e.gate.look()
	if e.rules != nil && view.State == api.GateOpen {
		view.Refusal = e.rules.Refusal()
	}
	return view
}

// OpenStanding opens a gate that nobody has moved yet, on the permission of an operator that
// is not heard of. It reports whether it did.
func (e *Engine) OpenStanding(o api.Opening) bool {
	e.write.Lock()
	defer e.write.Unlock()
	if e.gate.look().State != api.GateClosed || e.ctx.Err() != nil {
		return false
	}
	o.ByPermission = true
	e.gate.move(api.GateOpen, e.clock.Now().UTC(), &o)
	return true
}

// holds reports whether a row is a mark-not-ready that holds the gate, or may yet do so. One that failed
// has left the gate as it was, unless it was given up: then it is unknown how far it came.
func (r row) holds() bool {
	return r.Type == api.MarkNotReady && (r.Status != api.TaskFailed || r.endsProcesses())
}

// approves reports whether a row is a mark-ready that was carried out, or may yet be.
func (r row) approves() bool { return r.Type == api.MarkReady && r.Status != api.TaskFailed }

func isGateTask(t api.TaskType) bool { return t == api.MarkReady || t == api.MarkNotReady }

func (e *Engine) gateHandlers() []Handler {
	type none struct{}
	groups := []Group{groupGate}
	return []Handler{
		NewHandler(api.MarkReady, groups, func(ctx context.Context, _ Task, p wire.MarkReady) (any, error) {
			return nil, e.open(ctx, p)
		}),
		NewHandler(api.MarkNotReady, groups, func(_ context.Context, task Task, _ none) (any, error) {
			return nil, e.hold(task.ID)
		}),
	}
}

// open opens the gate if what the caller expects is what is there. Otherwise it stays as
// it is. The permission comes first: one that must not be used any more is gone before seid
// may start.
func (e *Engine) open(ctx context.Context, p wire.MarkReady) error {
	var opening api.Opening
	if e.rules == nil && p.Expect != nil {
		opening = api.Opening{ConfigHash: p.Expect.ConfigHash, ConsensusAddress: p.Expect.ConsensusAddress}
	}
	if e.rules != nil {
		var err error
		if opening, err = e.rules.Check(ctx, p); err != nil {
			return err
		}
		if err := e.rules.Permit(p, opening); err != nil {
			return storeError("storing the permission", err)
		}
	}
	e.gate.move(api.GateOpen, e.clock.Now().UTC(), &opening)
	return nil
}

// hold closes the gate. The moves that it makes void are forgotten, all at once.
func (e *Engine) hold(task string) error {
	e.write.Lock()
	defer e.write.Unlock()
	if _, found, err := e.store.get(task); err == nil && !found {
		return errGone // nobody could release the gate any more
	}
	if e.rules != nil {
		if err := e.rules.Revoke(); err != nil {
			return storeError("revoking the permission", err)
		}
	}
	spent, err := e.spentMoves()
	if err != nil {
		return storeError("reading earlier moves of the gate", err)
	}
	if err := e.store.remove(spent...); err != nil {
		return storeError(fmt.Sprintf("forgetting %d earlier moves of the gate", len(spent)), err)
	}
	e.gate.hold(task, e.clock.Now().UTC())
	return nil
}

// spentMoves are the moves of the gate that a new hold makes void: every mark-ready that has ended, so
// that none can be taken for an approval given after the hold, and the holds that these had ended, so
// that none of them holds again once nothing says that it has ended. Tasks that are still queued
// were submitted later and stay.
func (e *Engine) spentMoves() ([]string, error) {
	var spent, holds []string
	unreadable, err := e.store.each(func(r row) {
		switch {
		case !r.Status.Terminal():
		case r.Type == api.MarkNotReady:
			holds = append(holds, r.ID)
		case r.Type == api.MarkReady:
			spent = append(spent, r.ID)
			if r.approves() {
				spent, holds = append(spent, holds...), nil
			}
		}
	})
	if unreadable > 0 {
		e.log.Warn("some stored tasks cannot be read", "count", unreadable)
	}
	return spent, err
}

// release gives the gate back after the task that holds it was deleted: it is closed, as that of a
// new process, unless another task holds it too.
func (e *Engine) release(deleted string) error {
	if e.gate.look().HeldBy != deleted {
		return nil
	}
	left, err := e.leftBehind()
	switch {
	case err != nil:
		return storeError("looking for other holds", err)
	case left.held():
		e.gate.hold(left.holder, e.clock.Now().UTC())
	default:
		e.gate.move(api.GateClosed, e.clock.Now().UTC(), nil)
	}
	return nil
}
