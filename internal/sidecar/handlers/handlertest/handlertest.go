// Package handlertest runs handlers in tests the way the engine does: strict
// parameters, records that outlive a run, results as JSON.
package handlertest

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// Records keeps records in memory and can be told to fail.
type Records struct {
	mu     sync.Mutex
	values map[string][]byte
	// FailPut, when set, is asked before every Put.
	FailPut func(key string) error
}

// Get implements engine.Records.
func (r *Records) Get(key string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.values[key]), nil
}

// Put implements engine.Records.
func (r *Records) Put(key string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.FailPut != nil {
		if err := r.FailPut(key); err != nil {
			return err
		}
	}
	if r.values == nil {
		r.values = map[string][]byte{}
	}
	r.values[key] = bytes.Clone(value)
	return nil
}

// Delete implements engine.Records.
func (r *Records) Delete(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.values, key)
	return nil
}

// Harness runs tasks of a set of handlers against one set of records.
type Harness struct {
	Handlers []engine.Handler
	Records  *Records
	// Context is used for runs; nil means the test's.
	Context context.Context //nolint:containedctx // a test's fixture
	// Progress counts the reports of all runs.
	Progress int
	// Again is how often tasks were submitted before, with the same id.
	Again int
	// submitted is when each id was first run.
	submitted map[string]time.Time
}

// New makes a harness.
func New(handlers []engine.Handler) *Harness {
	return &Harness{Handlers: handlers, Records: &Records{}}
}

// Run validates and runs a task with a new id.
func (h *Harness) Run(tb testing.TB, task api.TaskType, params string) (json.RawMessage, error) {
	tb.Helper()
	return h.RunAs(tb, uuid.NewString(), task, params)
}

// RunAs is Run with an id, for tasks that remember theirs.
func (h *Harness) RunAs(tb testing.TB, id string, task api.TaskType, params string) (json.RawMessage, error) {
	tb.Helper()
	for _, handler := range h.Handlers {
		if handler.Type != task {
			continue
		}
		if err := handler.Validate(json.RawMessage(params)); err != nil {
			return nil, err
		}
		return h.run(tb, id, handler, params)
	}
	tb.Fatalf("there is no handler for %s", task)
	return nil, nil
}

func (h *Harness) run(tb testing.TB, id string, handler engine.Handler, params string) (json.RawMessage, error) {
	tb.Helper()
	ctx := h.Context
	if ctx == nil {
		ctx = tb.Context()
	}
	count := func(api.Progress) { h.Progress++ }
	task := engine.Task{ID: id, Run: 1 + h.Again, SubmittedAt: h.submittedAt(id), Progress: count, Records: h.Records}
	result, err := handler.Run(ctx, task, json.RawMessage(params))
	if result == nil {
		return nil, err
	}
	raw, encodeErr := json.Marshal(result)
	if encodeErr != nil {
		tb.Fatalf("encoding the result of %s: %v", handler.Type, encodeErr)
	}
	return raw, err
}

// Submitted says when a task was submitted that is to be run later.
func (h *Harness) Submitted(id string, at time.Time) {
	if h.submitted == nil {
		h.submitted = map[string]time.Time{}
	}
	h.submitted[id] = at
}

// submittedAt is when a task was submitted: a run after a crash keeps the time of the first.
func (h *Harness) submittedAt(id string) time.Time {
	if _, known := h.submitted[id]; !known {
		h.Submitted(id, time.Now())
	}
	return h.submitted[id]
}

// Must is Run for tasks that have to work; the result is decoded into R.
func Must[R any](tb testing.TB, h *Harness, task api.TaskType, params string) R {
	tb.Helper()
	raw, err := h.Run(tb, task, params)
	if err != nil {
		tb.Fatalf("%s: %v", task, err)
	}
	var result R
	if len(raw) == 0 {
		return result
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		tb.Fatalf("decoding the result of %s: %v\n%s", task, err, raw)
	}
	return result
}
