// Package sidecartask hands tasks to sidecars and reads their results. The plans of nodes, of
// fleets and of SeiNodeTasks do it the same way; what they say about it differs.
package sidecartask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// quickWait is how long one pass waits for a task that it has just submitted: most tasks end
// within milliseconds, and their successor can follow in the same pass.
const quickWait = 500 * time.Millisecond

// Params makes the parameters of a task. They are made when the task is submitted and not kept
// in the plan, because some are large. Nil parameters are left out.
type Params func() (any, error)

// Task is a task for a sidecar.
type Task struct {
	ID   string
	Type api.TaskType
	// Params is nil for a task that is only looked up and never submitted.
	Params Params
	// Again says of a task that failed there whether to run it once more under its id; nil never
	// does. The sidecar takes up what the failed run has left.
	Again func(api.TaskResult) bool
}

// Run gives what the sidecar knows of the task. The sidecar is asked for the task's id first and
// gets the task only if it does not know it, so that a task that failed there is seen as failed
// and runs a second time under one id only where that is asked for. submitted reports whether it
// was handed over now.
func (t Task) Run(ctx context.Context, s sidecar.Sidecar) (result api.TaskResult, submitted bool, err error) {
	result, err = s.Get(ctx, t.ID, 0)
	again := err == nil && result.Status == api.TaskFailed && t.Again != nil && t.Again(result)
	if !again && (!errors.Is(err, sidecar.ErrNotFound) || t.Params == nil) {
		return result, false, err
	}
	raw, err := Encode(t.Params)
	if err != nil {
		return api.TaskResult{}, false, err
	}
	if _, err := s.Submit(ctx, api.TaskRequest{ID: t.ID, Type: t.Type, Params: raw}); err != nil {
		return api.TaskResult{}, false, err
	}
	result, err = s.Get(ctx, t.ID, quickWait)
	return result, true, err
}

// Encode makes parameters as they are sent.
func Encode(params Params) (json.RawMessage, error) {
	value, err := params()
	if err != nil || value == nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding parameters: %w", err)
	}
	return raw, nil
}

// Failure is the outcome of a task that failed on the sidecar: another attempt follows, unless
// the sidecar knows that it cannot help. of names the sidecar where a plan has several.
func Failure(of string, result api.TaskResult) plan.Outcome {
	err := errors.New(result.Error)
	if of != "" {
		err = fmt.Errorf("%s: %w", of, err)
	}
	detail := result.ErrorDetail
	if detail == nil {
		return plan.Retry(err)
	}
	if detail.Hint != "" {
		err = fmt.Errorf("%w (%s)", err, detail.Hint)
	}
	if detail.Terminal {
		return plan.Terminal(detail.Code, err)
	}
	return plan.Retry(err)
}

// Rejected reports whether a sidecar does not take a task, now or later: the request itself is
// wrong.
func Rejected(err error) bool {
	return errors.Is(err, sidecar.ErrInvalid) || errors.Is(err, sidecar.ErrConflict)
}
