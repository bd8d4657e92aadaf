package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The pause between two attempts to store an outcome.
const (
	saveRetryFirst = time.Second
	saveRetryMax   = 30 * time.Second
)

// job is a task in this process: queued, running, or waiting for its outcome to
// reach the disk.
type job struct {
	row      row
	resumed  bool // an earlier process has left it
	handler  Handler
	ctx      context.Context //nolint:containedctx // the task's own life; it outlasts the request
	cancel   context.CancelFunc
	ticket   *ticket
	progress atomic.Pointer[api.Progress]
	done     chan struct{} // closed when the outcome is on disk, or the task deleted
}

func (e *Engine) newJob(h Handler, r row) *job {
	ctx, cancel := context.WithCancel(e.ctx)
	return &job{row: r, handler: h, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// start puts the task in the queue. The caller holds e.write, so places are
// taken in the order in which tasks were stored.
func (e *Engine) start(j *job) {
	j.ticket = e.queue.join(j.handler.Groups)
	e.mu.Lock()
	e.jobs[j.row.ID] = j
	e.mu.Unlock()
	e.wg.Add(1)
	go e.run(j)
}

func (e *Engine) run(j *job) {
	defer e.wg.Done()
	defer j.cancel()
	// The groups stay taken until the handler has really returned and its
	// outcome is stored, also when the task was deleted meanwhile.
	defer e.queue.leave(j.ticket)
	// A process that is ended in order has not ended because of its tasks.
	putDown := func() { e.note(j, 0) }
	select {
	case <-j.ticket.turn:
	case <-j.ctx.Done():
		putDown()
		return
	}
	// The engine's context ends before those made from it do.
	if j.ctx.Err() != nil || e.ctx.Err() != nil {
		putDown()
		return
	}
	ended := e.began(j)
	outcome, interrupted := e.execute(j)
	ended()
	if interrupted {
		putDown()
		return
	}
	e.finish(j, outcome)
}

// execute runs the handler and returns the row of its outcome. A task that was
// interrupted has none: it was deleted, or is to be run again by the next
// process.
func (e *Engine) execute(j *job) (outcome row, interrupted bool) {
	begin := e.clock.Now()
	result, err := e.call(j)
	if err != nil && j.ctx.Err() != nil {
		return row{}, true
	}
	outcome = j.row.ended(e.clock.Now().UTC(), result, err)
	e.metrics.finished(outcome.Type, outcome.Status, e.clock.Since(begin))
	return outcome, false
}

func (e *Engine) call(j *job) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.metrics.panics.WithLabelValues(string(j.row.Type)).Inc()
			e.log.Error("task handler panicked", "id", j.row.ID, "type", j.row.Type, "panic", p, "stack", string(debug.Stack()))
			err = api.Terminal(api.CodeInternal, fmt.Errorf("task handler panicked: %v", p))
		}
	}()
	return j.handler.Run(j.ctx, Task{
		ID:          j.row.ID,
		Run:         j.row.Run,
		SubmittedAt: j.row.SubmittedAt,
		Progress:    func(p api.Progress) { j.progress.Store(&p) },
		Records:     boltRecords{e.store},
	}, j.row.Params)
}

// ended is the row of a task that returned result and err.
func (r row) ended(at time.Time, result any, err error) row {
	r.Status, r.CompletedAt = api.TaskCompleted, &at
	if raw, encodeErr := json.Marshal(result); encodeErr != nil {
		err = errors.Join(err, fmt.Errorf("encoding the result: %w", encodeErr))
	} else if result != nil && !isEmpty(raw) {
		r.Result = raw
	}
	if err != nil {
		detail := api.DetailOf(err)
		r.Status, r.Error, r.ErrorDetail = api.TaskFailed, err.Error(), &detail
	}
	return r
}

// finish stores the outcome. Until that succeeds the task stays running and its
// progress says why: an outcome that the disk does not know must not be acted
// upon, because a crash would run the task again.
func (e *Engine) finish(j *job, outcome row) {
	for pause := saveRetryFirst; ; pause = min(2*pause, saveRetryMax) {
		stored, err := e.save(j, outcome)
		if err == nil && !stored {
			return
		}
		if err == nil {
			e.log.Info("task ended", "id", outcome.ID, "type", outcome.Type, "run", outcome.Run,
				"status", outcome.Status, "error", outcome.Error)
			return
		}
		e.metrics.saveFailures.Inc()
		e.log.Error("storing a task's outcome", "id", outcome.ID, "type", outcome.Type, "error", err, "retryIn", pause)
		j.progress.Store(&api.Progress{Message: fmt.Sprintf("%s; storing the outcome: %v", outcome.Status, err)})
		select {
		case <-e.clock.After(pause):
		case <-j.ctx.Done():
			return
		}
	}
}

// save writes the outcome and wakes who waits. A task that was deleted is not
// written: nothing brings it back.
func (e *Engine) save(j *job, outcome row) (stored bool, err error) {
	e.write.Lock()
	defer e.write.Unlock()
	if e.job(j.row.ID) != j {
		return false, nil
	}
	if err := e.store.replace(outcome); err != nil && !errors.Is(err, errGone) {
		return false, err
	}
	e.forget(j.row.ID)
	close(j.done)
	return true, nil
}
