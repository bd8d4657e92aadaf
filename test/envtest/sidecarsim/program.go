package sidecarsim

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
)

// Call is one execution of a task.
type Call struct {
	Node   string
	Type   api.TaskType
	ID     string
	Run    int
	Params json.RawMessage
}

// Outcome is what becomes of a task. One without an error also changes the node, as
// the real task would; one with an error changes nothing.
type Outcome struct {
	// Delay is how long it runs.
	Delay time.Duration
	// Hang keeps it running until it is deleted or the sidecar ends.
	Hang bool
	// Error fails it; an *api.Error carries its detail along.
	Error error
	// Result is what it returns, also next to an Error; nil for that of the real task.
	Result any
	// Do, if set, decides instead of Error and Result.
	Do func(context.Context, Call) (any, error)
	// Times is for how many executions this holds; 0 means all.
	Times int
}

type taskRule struct {
	node    string
	task    api.TaskType
	outcome Outcome
	used    atomic.Int64
}

// Program decides what becomes of tasks of a type on a node, from now on and
// until the returned function is called. An empty node or type means every
// one; what was programmed last counts. Tasks that move the gate cannot be
// programmed: they are the real ones.
func (s *Sidecars) Program(node string, task api.TaskType, outcome Outcome) (remove func()) {
	r := &taskRule{node: node, task: task, outcome: outcome}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, r)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rules = slices.DeleteFunc(s.rules, func(other *taskRule) bool { return other == r })
	}
}

// handlers are the real sidecar's handlers with their types, groups and checks,
// and with the test's outcomes and the model in place of their work.
func (p *process) handlers() []engine.Handler {
	all, _ := handlers.All(handlers.Config{})
	for i := range all {
		h := &all[i]
		h.Run = func(ctx context.Context, task engine.Task, params json.RawMessage) (any, error) {
			return p.execute(ctx, Call{Node: p.node, Type: h.Type, ID: task.ID, Run: task.Run, Params: params})
		}
	}
	return all
}

// execute does what the test says, and unless that is an error what the task does to
// the model.
func (p *process) execute(ctx context.Context, call Call) (any, error) {
	result, err := p.all.outcome(call).run(ctx, call)
	change, known := effects[call.Type]
	if err != nil || !known {
		return result, err
	}
	own, err := change(ctx, p, call)
	if result == nil {
		result = own
	}
	return result, err
}

func (o Outcome) run(ctx context.Context, call Call) (any, error) {
	if o.Hang {
		<-ctx.Done()
		return nil, errors.New("the task was cut off")
	}
	if o.Delay > 0 {
		select {
		case <-time.After(o.Delay):
		case <-ctx.Done():
			return nil, errors.New("the task was cut off")
		}
	}
	if o.Do != nil {
		return o.Do(ctx, call)
	}
	return o.Result, o.Error
}

func (s *Sidecars) outcome(call Call) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.rules) {
		if (r.node != "" && r.node != call.Node) || (r.task != "" && r.task != call.Type) {
			continue
		}
		if r.outcome.Times > 0 && r.used.Add(1) > int64(r.outcome.Times) {
			continue
		}
		return r.outcome
	}
	return Outcome{}
}
