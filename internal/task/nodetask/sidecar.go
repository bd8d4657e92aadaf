package nodetask

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

// paramsFunc makes the parameters of a sidecar task when it is submitted.
type paramsFunc func(env *Env, step *v1alpha1.PlannedTask) (any, error)

// doneFunc takes up the result of a sidecar task that ended, well or not, and says in words what
// came of one that ended well.
type doneFunc func(env *Env, result api.TaskResult) (string, error)

// ReasonRetried is the reason of a wait for the next run of a sidecar task that failed.
const ReasonRetried = "Retried"

// onSidecar has the node's sidecar do a step.
func onSidecar(taskType api.TaskType, params paramsFunc, done doneFunc) runFunc {
	return sidecarStep{taskType: taskType, params: params, done: done}.run
}

// sidecarStep is a step that the node's sidecar does.
type sidecarStep struct {
	taskType api.TaskType
	params   paramsFunc
	done     doneFunc
	// pinned: the parameters are the same whenever the task is submitted, so that others are
	// another owner's.
	pinned bool
}

func (s sidecarStep) run(ctx context.Context, env *Env, step *v1alpha1.PlannedTask) plan.Outcome {
	if wait, silent := noAnswer(env); silent {
		return wait
	}
	now := env.Clock.Now()
	params := func() (any, error) { return s.params(env, step) }
	edited := func(found api.TaskResult) bool { return s.pinned && !sameParams(found.Params, params) }
	call := sidecartask.Task{
		ID: step.ID, Type: s.taskType, Params: params,
		Again: func(failed api.TaskResult) bool {
			return (!isTerminal(failed) || edited(failed) || isUndecided(failed)) && dueIn(failed, now) == 0
		},
	}
	result, submitted, err := call.Run(ctx, env.Sidecar)
	if submitted {
		step.SubmittedAt = seconds(now)
	}
	if err != nil {
		return task.SidecarError(s.taskType, err, shortly)
	}
	if step.SubmittedAt == nil { // by an operator that did not live to write it down
		step.SubmittedAt = seconds(result.SubmittedAt)
	}
	return judge(env, step, result, s.done, edited(result))
}

// noAnswer says why there is no sidecar to ask. The node's own controller looks at sidecars all the
// time; one that it gets no answer from is not asked here too.
func noAnswer(env *Env) (wait plan.Outcome, silent bool) {
	switch {
	case env.Node.Spec.Paused:
		return plan.Wait(v1alpha1.ReasonPaused, "the node is paused: unset its spec.paused", someTime), true
	case env.Sidecar == nil:
		wait = task.WaitForSidecar(env.Objects)
		if wait.After == 0 {
			wait.After = shortly // the node's status says nothing of a pod that is on its way
		}
		return wait, true
	case conditions.Is(env.Node.Status.Conditions, v1alpha1.ConditionSidecarReady, metav1.ConditionUnknown, v1alpha1.ReasonSidecarUnreachable):
		return plan.Wait(task.ReasonSidecarUnreachable, "the sidecar does not answer", someTime), true
	default:
		return plan.Outcome{}, false
	}
}

// judge turns what the sidecar knows of the task into an outcome. edited: somebody else has
// submitted the task under its id with other parameters.
func judge(env *Env, step *v1alpha1.PlannedTask, result api.TaskResult, done doneFunc, edited bool) plan.Outcome {
	if !result.Status.Terminal() {
		return plan.Wait(task.ReasonSidecarWorking, "the sidecar is working on it", task.PollInterval(step.SubmittedAt, env.Clock.Now()))
	}
	words, err := done(env, result)
	switch {
	case result.Status == api.TaskFailed && isTerminal(result) && !edited && !isUndecided(result):
		return plan.Terminal(failureReason(result), sidecartask.Failure("", result).Err)
	case result.Status == api.TaskFailed:
		after := max(dueIn(result, env.Clock.Now()), time.Second)
		return plan.Wait(ReasonRetried, fmt.Sprintf("it failed and is retried: %v", sidecartask.Failure("", result).Err), after)
	case err != nil:
		return plan.Terminal(v1alpha1.ReasonTaskFailed, fmt.Errorf("reading the result of %s: %w", step.Type, err))
	case edited:
		return plan.Terminal(v1alpha1.ReasonSuperseded, fmt.Errorf("the sidecar already has this task with other parameters: %s", words))
	default:
		return plan.Done(words)
	}
}

func isTerminal(failed api.TaskResult) bool {
	return failed.ErrorDetail != nil && failed.ErrorDetail.Terminal
}

const (
	firstBackoff = 5 * time.Second
	lastBackoff  = time.Minute
)

// dueIn is how long a task that failed still has to rest. The sidecar counts its runs and says when
// the last one ended, so that nothing has to be remembered here. A clock that is ahead of ours says
// nothing.
func dueIn(failed api.TaskResult, now time.Time) time.Duration {
	if failed.CompletedAt == nil || failed.CompletedAt.After(now) {
		return 0
	}
	rest := lastBackoff
	if doublings := failed.Run - 1; doublings < 4 {
		rest = min(lastBackoff, firstBackoff<<max(doublings, 0))
	}
	return max(0, failed.CompletedAt.Add(rest).Sub(now))
}

// failureReason sorts the failures that no other run can fix.
func failureReason(failed api.TaskResult) string {
	switch {
	case isUnverifiable(failed):
		return v1alpha1.ReasonInclusionUndetermined
	case cameFirst(failed) != "":
		return v1alpha1.ReasonSuperseded
	case failed.ErrorDetail.Code == api.CodeTransactionFailed:
		return v1alpha1.ReasonTxFailed
	default:
		return v1alpha1.ReasonTaskFailed
	}
}

func seconds(t time.Time) *metav1.Time {
	s := metav1.NewTime(t.Truncate(time.Second))
	return &s
}
