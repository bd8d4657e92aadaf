package engine

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Submit stores a task and starts it. It answers with the task's id once the
// task is on disk.
//
// A known id makes the call idempotent: while that task runs, and after it
// completed, nothing happens; a task that failed is run once more with the
// parameters given now.
func (e *Engine) Submit(req api.TaskRequest) (string, error) {
	h, err := e.check(req)
	if err != nil {
		return "", err
	}
	invalid := validate(h, req)

	e.write.Lock()
	defer e.write.Unlock()
	if e.ctx.Err() != nil {
		return "", api.Retryable(api.CodeUnavailable, errors.New("the sidecar is shutting down"))
	}
	run := 1
	if req.ID == "" {
		req.ID = uuid.NewString()
	} else {
		old, found, err := e.store.get(req.ID)
		switch {
		case err != nil:
			return "", storeError("persist task", err)
		case found && old.Type != req.Type:
			return "", typeConflict(old, req)
		case found && old.Status != api.TaskFailed:
			return req.ID, nil
		case found:
			run = old.Run + 1
		}
	}
	if invalid != nil {
		return "", invalid
	}
	return req.ID, e.accept(h, req, run)
}

// check looks at everything that can be judged without the store, in the order
// in which the wire contract names the errors.
func (e *Engine) check(req api.TaskRequest) (Handler, error) {
	if req.Type == "" {
		return Handler{}, badRequest("type", "type is required")
	}
	h, known := e.handlers[req.Type]
	if !known {
		return Handler{}, badRequest("type", "unknown task type: %s", req.Type)
	}
	if req.ID != "" {
		if _, err := uuid.Parse(req.ID); err != nil {
			return Handler{}, badRequest("id", "task ID must be a valid UUID: %q", req.ID)
		}
	}
	return h, nil
}

func (e *Engine) accept(h Handler, req api.TaskRequest, run int) error {
	e.mu.Lock()
	unfinished := len(e.jobs)
	e.mu.Unlock()
	// The gate must move even when everything else is stuck.
	if unfinished >= e.limit && !isGateTask(h.Type) {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("%d tasks are unfinished already", unfinished))
	}
	now := e.clock.Now().UTC()
	r := row{Begun: 1, TaskResult: api.TaskResult{
		ID: req.ID, Type: req.Type, Status: api.TaskRunning, Run: run, SubmittedAt: now,
	}}
	if !isEmpty(req.Params) {
		r.Params = req.Params
	}
	r, err := e.store.insert(r, e.keep, now)
	if err != nil {
		return storeError("persist task", err)
	}
	e.metrics.submissions.WithLabelValues(string(h.Type)).Inc()
	e.start(e.newJob(h, r))
	return nil
}

func validate(h Handler, req api.TaskRequest) (err error) {
	if h.Validate == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = api.Terminal(api.CodeInternal, fmt.Errorf("checking the parameters of %s panicked: %v", h.Type, p))
		}
	}()
	return h.Validate(req.Params)
}

func typeConflict(old row, req api.TaskRequest) error {
	return api.Terminal(api.CodeConflict,
		fmt.Errorf("task %s is known as %s, not as %s", req.ID, old.Type, req.Type)).
		WithHint("use a fresh id, or delete the old task first")
}

// badRequest is a terminal error whose words are fixed by the wire contract, so
// they are not prefixed with the field.
func badRequest(field, format string, args ...any) error {
	return &api.Error{
		Detail: api.ErrorDetail{Code: api.CodeInvalidParams, Terminal: true, Field: field},
		Err:    fmt.Errorf(format, args...),
	}
}
