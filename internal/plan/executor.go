package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/text"
)

const (
	firstBackoff = 5 * time.Second
	lastBackoff  = 30 * time.Second

	// maxWords is the longest message or error that a plan keeps, in bytes. Plans are part of a
	// status, and what a sidecar says must not fill that up.
	maxWords = 2048
)

// Executor runs plans forward. It holds no state of any plan.
type Executor[E any] struct {
	Tasks Registry[E]
	Clock clock.PassiveClock
	// Observer is told what happens; it may be nil.
	Observer Observer
}

// Observer is told what an executor does. It changes nothing.
type Observer interface {
	// Task is called before a task is run, and what it returns after.
	Task(ctx context.Context, p *v1alpha1.TaskPlan, task *v1alpha1.PlannedTask) (context.Context, func(Outcome))
	// Ended is called when a plan is complete or has failed.
	Ended(ctx context.Context, p *v1alpha1.TaskPlan)
}

// Step is one call of a task.
type Step struct {
	Task    *v1alpha1.PlannedTask
	Outcome Outcome
}

// Progress is what one Advance came to.
type Progress struct {
	// Steps are the calls made, in order. The last one is the one the plan
	// waits at, unless the plan ended.
	Steps []Step
	// RequeueAfter is when to advance again if no event comes first.
	RequeueAfter time.Duration
}

// Outcome is the outcome of the last call of a task type in this pass.
func (p Progress) Outcome(taskType string) (Outcome, bool) {
	for _, step := range slices.Backward(p.Steps) {
		if step.Task.Type == taskType {
			return step.Outcome, true
		}
	}
	return Outcome{}, false
}

// Advance runs the plan's tasks in order until one has to wait or the plan ends,
// and writes what happened into the plan.
func (x *Executor[E]) Advance(ctx context.Context, p *v1alpha1.TaskPlan, env E) Progress {
	var progress Progress
	for p.Phase == v1alpha1.PlanActive && ctx.Err() == nil {
		task, index := Current(p)
		if task == nil {
			p.Phase = v1alpha1.PlanComplete
			break
		}
		def, known := x.Tasks[task.Type]
		if !known {
			err := fmt.Errorf("this version of the operator has no step %q", task.Type)
			x.fail(p, index, Terminal("UnknownTask", err))
			break
		}
		if due := x.notDueFor(task); due > 0 {
			progress.RequeueAfter = due
			break
		}
		x.start(task, def)
		outcome := x.run(ctx, def, env, p, task)
		progress.Steps = append(progress.Steps, Step{Task: task, Outcome: outcome})
		progress.RequeueAfter = x.settle(p, index, outcome)
		if !outcome.IsDone() {
			break
		}
	}
	if x.Observer != nil && p.Phase != v1alpha1.PlanActive {
		x.Observer.Ended(ctx, p)
	}
	return progress
}

func (x *Executor[E]) run(ctx context.Context, def Definition[E], env E, p *v1alpha1.TaskPlan, task *v1alpha1.PlannedTask) Outcome {
	if x.Observer == nil {
		return def.Run(ctx, env, task)
	}
	ctx, after := x.Observer.Task(ctx, p, task)
	outcome := def.Run(ctx, env, task)
	after(outcome)
	return outcome
}

// Suspend stops the clock of a plan that is held: its current task gets its whole time
// again when it continues.
func Suspend(p *v1alpha1.TaskPlan) {
	if task, _ := Current(p); task != nil {
		task.StartedAt, task.Deadline = nil, nil
	}
}

// notDueFor is how long a failed attempt still backs off.
func (x *Executor[E]) notDueFor(task *v1alpha1.PlannedTask) time.Duration {
	if task.RetryAt == nil {
		return 0
	}
	return max(0, task.RetryAt.Sub(x.Clock.Now()))
}

func (x *Executor[E]) start(task *v1alpha1.PlannedTask, def Definition[E]) {
	now := x.Clock.Now()
	task.Status = v1alpha1.TaskRunning
	task.MaxRetries = def.MaxRetries
	task.RetryAt = nil
	if task.StartedAt == nil {
		task.StartedAt = seconds(now)
	}
	if task.Deadline == nil && def.Timeout > 0 {
		task.Deadline = seconds(now.Add(def.Timeout))
	}
}

// settle writes an outcome into the plan and says when to come back.
func (x *Executor[E]) settle(p *v1alpha1.TaskPlan, index int, o Outcome) time.Duration {
	task := &p.Tasks[index]
	switch o.verdict {
	case done:
		task.Status = v1alpha1.TaskComplete
		task.CompletedAt = seconds(x.Clock.Now())
		task.Message, task.Error = text.Shorten(o.Message, maxWords), ""
		return 0
	case wait:
		if o.untimed {
			task.Deadline = nil
		}
		if x.overdue(task) {
			x.fail(p, index, Terminal(o.Reason, overdueError(task, o.Message)))
			return 0
		}
		task.Message = text.Shorten(o.Message, maxWords)
		return x.untilDeadline(task, o.After)
	case retry:
		if task.RetryCount >= task.MaxRetries {
			x.fail(p, index, Terminal(o.Reason, fmt.Errorf("giving up after %d attempts: %w", task.Attempt, o.Err)))
			return 0
		}
		if x.overdue(task) {
			x.fail(p, index, Terminal(o.Reason, fmt.Errorf("%w: last error: %w", overdueError(task, ""), o.Err)))
			return 0
		}
		return x.retry(p, index, o.Err)
	default:
		x.fail(p, index, o)
		return 0
	}
}

func (x *Executor[E]) retry(p *v1alpha1.TaskPlan, index int, err error) time.Duration {
	task := &p.Tasks[index]
	after := backoff(task.RetryCount)
	task.RetryCount++
	task.Attempt++
	task.ID = TaskID(p.ID, task.Type, index, task.Attempt)
	task.Status = v1alpha1.TaskPending
	task.SubmittedAt = nil
	task.RetryAt = seconds(x.Clock.Now().Add(after))
	task.Error = text.Shorten(err.Error(), maxWords)
	task.Message = ""
	return after
}

func (x *Executor[E]) fail(p *v1alpha1.TaskPlan, index int, o Outcome) {
	task := &p.Tasks[index]
	task.Status = v1alpha1.TaskFailed
	task.CompletedAt = seconds(x.Clock.Now())
	task.Error = text.Shorten(o.Err.Error(), maxWords)
	task.Message = ""
	at := int32(index)
	p.Phase = v1alpha1.PlanFailed
	p.FailedTaskIndex = &at
	p.FailedTaskDetail = &v1alpha1.FailedTaskDetail{
		Type: task.Type, ID: task.ID, Error: task.Error,
		RetryCount: task.RetryCount, MaxRetries: task.MaxRetries,
	}
}

func (x *Executor[E]) overdue(task *v1alpha1.PlannedTask) bool {
	return task.Deadline != nil && !x.Clock.Now().Before(task.Deadline.Time)
}

// untilDeadline shortens a wait so that the deadline is noticed on time.
func (x *Executor[E]) untilDeadline(task *v1alpha1.PlannedTask, after time.Duration) time.Duration {
	if task.Deadline == nil {
		return after
	}
	left := max(time.Second, task.Deadline.Sub(x.Clock.Now()))
	if after == 0 {
		return left
	}
	return min(after, left)
}

func overdueError(task *v1alpha1.PlannedTask, waitingFor string) error {
	text := fmt.Sprintf("not completed within %s", task.Deadline.Sub(task.StartedAt.Time))
	if waitingFor != "" {
		text += ": " + waitingFor
	}
	if task.Error != "" {
		text += "; last error: " + task.Error
	}
	return errors.New(text)
}

// backoff doubles from 5 s to 30 s, with a fifth of jitter so that a fleet does
// not retry in step.
func backoff(retries int32) time.Duration {
	d := lastBackoff
	if retries < 3 {
		d = min(lastBackoff, firstBackoff<<retries)
	}
	return d + time.Duration(rand.Int64N(int64(d)/5+1)) //nolint:gosec // jitter needs no secrecy
}

func seconds(t time.Time) *metav1.Time {
	s := metav1.NewTime(t.Truncate(time.Second))
	return &s
}
