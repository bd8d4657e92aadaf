package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// groupGate keeps mark-ready and mark-not-ready in the order of submission.
const groupGate Group = "gate"

// gate is the one thing the engine knows about a node: whether it may start.
// It lives in memory, so that every new process begins with a closed gate.
type gate struct{ open atomic.Bool }

func isGateTask(t api.TaskType) bool { return t == api.MarkReady || t == api.MarkNotReady }

func (e *Engine) gateHandlers() []Handler {
	type none struct{}
	groups := []Group{groupGate}
	return []Handler{
		NewHandler(api.MarkReady, groups, func(_ context.Context, _ Task, p wire.MarkReady) (any, error) {
			if e.mayOpen != nil {
				if err := e.mayOpen(p); err != nil {
					return nil, err
				}
			}
			e.gate.open.Store(true)
			return nil, nil
		}),
		NewHandler(api.MarkNotReady, groups, func(context.Context, Task, none) (any, error) {
			return nil, e.hold()
		}),
	}
}

// hold closes the gate. The mark-ready tasks that opened it are forgotten, so
// that none of them can be taken for an approval given after the hold. Those
// that are still queued were submitted later and stay.
func (e *Engine) hold() error {
	e.write.Lock()
	defer e.write.Unlock()
	var spent []string
	unreadable, err := e.store.each(func(r row) {
		if r.Type == api.MarkReady && r.Status.Terminal() {
			spent = append(spent, r.ID)
		}
	})
	if err != nil {
		return storeError("reading approvals", err)
	}
	if unreadable > 0 {
		e.log.Warn("some stored tasks cannot be read", "count", unreadable)
	}
	if err := e.store.remove(spent...); err != nil {
		return storeError(fmt.Sprintf("forgetting %d approvals", len(spent)), err)
	}
	e.gate.open.Store(false)
	return nil
}
