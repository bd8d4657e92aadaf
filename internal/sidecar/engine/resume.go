package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// pruneEvery is how often finished tasks are checked for their age.
const pruneEvery = time.Hour

// stale is what a previous process left behind.
type stale struct {
	rows []row
	// hold is the newest mark-not-ready, whether it ended well or not.
	hold uint64
	// holding is the newest one that holds the gate, and holder its id.
	holding uint64
	holder  string
	// approval is the newest mark-ready that was carried out, or may yet be.
	approval uint64
	// unreadable rows may hide a hold.
	unreadable int
}

// held reports whether the last move of the gate was to hold it.
func (s stale) held() bool { return s.holding > s.approval }

// superseded reports whether a mark-ready must not be run again, because a hold
// came after it, or may have.
func (s stale) superseded(r row) bool {
	return r.Type == api.MarkReady && (s.hold > r.Seq || s.unreadable > 0)
}

// resume takes up every task that was running when the last process ended:
// holds first and before anything else is served, then the rest in the order of
// submission.
func (e *Engine) resume() error {
	left, err := e.leftBehind()
	if err != nil {
		return err
	}
	for _, r := range left.rows {
		if r.Type == api.MarkNotReady {
			if err := e.resumeHold(r); err != nil {
				return err
			}
		}
	}
	if left.held() {
		e.gate.hold(left.holder, e.clock.Now().UTC())
	}
	e.write.Lock()
	defer e.write.Unlock()
	for _, r := range left.rows {
		h, known := e.handlers[r.Type]
		switch {
		case r.Type == api.MarkNotReady:
		case !known:
			err = e.giveUp(r, api.Terminal(api.CodeInvalidParams, fmt.Errorf("no handler registered for task type %s", r.Type)))
		case left.superseded(r):
			err = e.giveUp(r, api.Terminal(api.CodeSuperseded, errors.New("superseded by hold")))
		case r.endsProcesses():
			err = e.giveUp(r, errEndsProcesses())
		default:
			e.logAgain(r)
			j := e.newJob(h, r)
			j.resumed = true
			e.start(j)
		}
		if err != nil {
			return err
		}
	}
	if err := e.store.prune(e.keep, e.clock.Now()); err != nil {
		return fmt.Errorf("removing old tasks: %w", err)
	}
	e.wg.Go(e.pruneForever)
	return nil
}

func (e *Engine) leftBehind() (stale, error) {
	var left stale
	var err error
	left.unreadable, err = e.store.each(func(r row) {
		if r.Type == api.MarkNotReady {
			left.hold = max(left.hold, r.Seq)
		}
		if r.holds() && r.Seq > left.holding {
			left.holding, left.holder = r.Seq, r.ID
		}
		if r.approves() {
			left.approval = max(left.approval, r.Seq)
		}
		if r.Status == api.TaskRunning {
			left.rows = append(left.rows, r)
		}
	})
	if err != nil {
		return stale{}, fmt.Errorf("reading stored tasks: %w", err)
	}
	if left.unreadable > 0 {
		e.log.Error("some stored tasks cannot be read; interrupted approvals are not taken up", "count", left.unreadable)
	}
	return left, nil
}

// resumeHold runs an interrupted mark-not-ready to its end before it returns. The gate is held also
// when it is not run again.
func (e *Engine) resumeHold(r row) error {
	if r.endsProcesses() {
		return e.giveUp(r, errEndsProcesses())
	}
	e.logAgain(r)
	r.Begun++
	if err := e.store.replace(r); err != nil { // to hold the gate matters more
		e.log.Error("noting the start of a task", "id", r.ID, "type", r.Type, "error", err)
	}
	j := e.newJob(e.handlers[r.Type], r)
	defer j.cancel()
	outcome, _ := e.execute(j)
	if err := e.store.replace(outcome); err != nil {
		return fmt.Errorf("storing the hold %s: %w", r.ID, err)
	}
	return nil
}

func (e *Engine) logAgain(r row) {
	e.log.Info("running an interrupted task again", "id", r.ID, "type", r.Type, "run", r.Run)
}

func (e *Engine) giveUp(r row, cause error) error {
	e.log.Warn("an interrupted task is not run again", "id", r.ID, "type", r.Type, "reason", cause)
	if err := e.store.replace(r.ended(e.clock.Now().UTC(), nil, cause)); err != nil {
		return fmt.Errorf("storing the end of task %s: %w", r.ID, err)
	}
	e.metrics.failures.WithLabelValues(string(r.Type)).Inc()
	return nil
}

func (e *Engine) pruneForever() {
	for {
		select {
		case <-e.clock.After(pruneEvery):
		case <-e.ctx.Done():
			return
		}
		if err := e.store.prune(e.keep, e.clock.Now()); err != nil {
			e.log.Error("removing old tasks", "error", err)
		}
	}
}
