package engine

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// maxBegun is in how many processes a task may begin that all end in the middle of it. Whatever
	// it is that ends them, the next would end as well, and the gate with it.
	maxBegun = 3
	// wentWell is how long a task has run when the end of the process is not put down to it.
	wentWell = 10 * time.Minute
)

// endsProcesses reports whether a task must not be run again, because processes have ended in the
// middle of it again and again.
func (r row) endsProcesses() bool { return r.Begun >= maxBegun }

// errEndsProcesses is how such a task ends.
func errEndsProcesses() error {
	return api.Terminal(api.CodeInternal, fmt.Errorf("the sidecar ended %d times while it ran this task", maxBegun)).
		WithHint("the end of the container's earlier logs says why; it may have been out of memory")
}

// began notes that a task begins in this process, until it has gone well for a while. The caller
// calls ended when the handler has returned.
func (e *Engine) began(j *job) (ended func()) {
	if j.resumed {
		e.note(j, j.row.Begun+1)
	}
	timer, over := e.clock.NewTimer(wentWell), make(chan struct{})
	e.wg.Go(func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			e.note(j, 0)
		case <-over:
		}
	})
	return sync.OnceFunc(func() { close(over) })
}

// note stores in how many processes a task has begun. One that cannot be noted is run nevertheless.
func (e *Engine) note(j *job, begun int) {
	e.write.Lock()
	defer e.write.Unlock()
	if e.job(j.row.ID) != j {
		return // it has ended, or was deleted
	}
	r := j.row
	r.Begun = begun
	if err := e.store.replace(r); err != nil && !errors.Is(err, errGone) {
		e.log.Error("noting the start of a task", "id", r.ID, "type", r.Type, "error", err)
	}
}
