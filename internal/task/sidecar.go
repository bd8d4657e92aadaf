package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

// Reasons of waits for the sidecar.
const (
	// ReasonPodNotCreated says that something keeps the StatefulSet from making the pod.
	ReasonPodNotCreated      = "PodNotCreated"
	ReasonSidecarNotStarted  = "SidecarNotStarted"
	ReasonSidecarUnreachable = "SidecarUnreachable"
	ReasonSidecarRefuses     = "SidecarRefuses"
	ReasonSidecarWorking     = "SidecarWorking"
)

// paramsFunc makes the parameters of a sidecar task. They are made when the task is
// submitted and not kept in the plan, because some are large.
type paramsFunc func(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) (any, error)

func noParams(context.Context, *Env, *v1alpha1.PlannedTask) (any, error) { return nil, nil }

// onSidecar runs a task on the node's sidecar.
func onSidecar(taskType api.TaskType, params paramsFunc) runFunc {
	return func(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
		if env.Document == nil {
			return waitForAnswer(env)
		}
		call := sidecartask.Task{ID: task.ID, Type: taskType, Params: params.of(ctx, env, task)}
		result, submitted, err := call.Run(ctx, env.Sidecar)
		if submitted {
			now := metav1.NewTime(env.Clock.Now().Truncate(time.Second))
			task.SubmittedAt = &now
		}
		if err != nil {
			return sidecarError(env, taskType, err)
		}
		if task.SubmittedAt == nil {
			remember(ctx, env, task, result, params)
		}
		return judge(env, task, result)
	}
}

// of binds the parameters to the task they are for.
func (p paramsFunc) of(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) sidecartask.Params {
	return func() (any, error) { return p(ctx, env, task) }
}

// remember completes the plan's entry of a task that was handed over by an operator that
// did not live to write that down. What was noted of its parameters holds only if they
// would be the same now; if not, the plan does not claim to know them.
func remember(ctx context.Context, env *Env, task *v1alpha1.PlannedTask, result api.TaskResult, params paramsFunc) {
	task.SubmittedAt = &metav1.Time{Time: result.SubmittedAt.Truncate(time.Second)}
	now := task.DeepCopy()
	if raw, err := sidecartask.Encode(params.of(ctx, env, now)); err == nil && bytes.Equal(raw, result.Params) {
		task.Params = now.Params
	}
}

// judge turns what the sidecar knows of the task into an outcome.
func judge(env *Env, task *v1alpha1.PlannedTask, result api.TaskResult) plan.Outcome {
	switch result.Status {
	case api.TaskCompleted:
		return plan.Done("")
	case api.TaskFailed:
		return sidecartask.Failure("", result)
	default:
		return plan.Wait(ReasonSidecarWorking, "the sidecar is working on it", PollInterval(task.SubmittedAt, env.Clock.Now()))
	}
}

// PollInterval is how soon to ask again about a task. It grows with the task's age: a download
// of hours is not asked about every second.
func PollInterval(submitted *metav1.Time, now time.Time) time.Duration {
	if submitted == nil {
		return soon
	}
	age := now.Sub(submitted.Time)
	return min(max(age/4, soon), 15*time.Second)
}

func sidecarError(env *Env, taskType api.TaskType, err error) plan.Outcome {
	if missing, ok := errors.AsType[*missingInputError](err); ok {
		return missing.wait()
	}
	return SidecarError(taskType, err, unreachableInterval(env))
}

// SidecarError sorts errors of a sidecar: a request that is wrong stays wrong, everything else
// may pass. again is how soon to ask a sidecar that does not answer.
func SidecarError(taskType api.TaskType, err error, again time.Duration) plan.Outcome {
	switch {
	case sidecartask.Rejected(err):
		return plan.Terminal(ReasonSidecarRefuses, fmt.Errorf("submitting %s: %w", taskType, err))
	case errors.Is(err, sidecar.ErrSharedAudience), errors.Is(err, sidecar.ErrPlaintext):
		return plan.Wait(ReasonSidecarRefuses, NotCalled(err), shortly)
	case errors.Is(err, sidecar.ErrNoToken), errors.Is(err, sidecar.ErrCertificate):
		return plan.Wait(ReasonSidecarUnreachable, NotCalled(err), again)
	case errors.Is(err, sidecar.ErrUnauthorized):
		return plan.Wait(ReasonSidecarRefuses, "the sidecar refuses the operator's token: "+err.Error(), shortly)
	case errors.Is(err, sidecar.ErrWrongNode):
		return plan.Wait(ReasonSidecarUnreachable, "the pod IP now belongs to another pod; waiting for the cache", shortly)
	default:
		return plan.Wait(ReasonSidecarUnreachable, "the sidecar does not answer", again)
	}
}

// NotCalled says why a sidecar that may well be there was not called, or did not accept the token;
// empty for every other error. The message stays the same while the cause does.
func NotCalled(err error) string {
	unproved, isUnproved := errors.AsType[*sidecar.CertificateError](err)
	switch {
	case isUnproved:
		return "the sidecar is not called: " + unproved.Problem
	case errors.Is(err, sidecar.ErrPlaintext):
		return "the sidecar is not called: it speaks plain HTTP, and --allow-plaintext-sidecars is off; " +
			"replace the pod by setting the annotation " + v1alpha1.AnnotationRestart
	case errors.Is(err, sidecar.ErrSharedAudience):
		return "the sidecar is not called: it accepts a token that is valid for other nodes too, and --allow-shared-sidecar-audience is off; " +
			"replace the pod by setting the annotation " + v1alpha1.AnnotationRestart
	case errors.Is(err, sidecar.ErrNoToken):
		return "the sidecar is not called: the API server gives the operator no token for it; the operator's log says why"
	case errors.Is(err, sidecar.ErrUnauthorized):
		return "the sidecar refuses the operator's token; its log says why"
	default:
		return ""
	}
}

// level is the API level of the sidecar that answered.
func (env *Env) level() int {
	if env.Document == nil {
		return 0
	}
	return env.Document.APILevel
}

// waitForAnswer says why there is no sidecar to give a task to.
func waitForAnswer(env *Env) plan.Outcome {
	if env.Sidecar == nil {
		return WaitForSidecar(env.Observed)
	}
	return sidecarError(env, "", env.LookError)
}

// sidecarStartup is how long a sidecar that does not answer may still be starting.
const sidecarStartup = 20 * time.Second

// UnreachableInterval is how soon to ask a sidecar again that does not answer: at once right
// after its container started, when it is about to listen, and later now and then.
func UnreachableInterval(started, now time.Time) time.Duration {
	if now.Sub(started) < sidecarStartup {
		return soon
	}
	return 5 * time.Second
}

func unreachableInterval(env *Env) time.Duration {
	started, _ := SidecarStarted(env.Observed.Pod)
	return UnreachableInterval(started, env.Clock.Now())
}

// WaitForSidecar says what keeps the pod from starting its sidecar.
func WaitForSidecar(o *Objects) plan.Outcome {
	if t := startTrouble(o.Pod, nil); t.Reason != "" {
		return plan.Wait(t.Reason, t.Message, 0)
	}
	if o.PodObstacle != "" {
		return plan.Wait(ReasonPodNotCreated, o.PodObstacle, someTime)
	}
	if o.Pod == nil {
		return plan.Wait(ReasonSidecarNotStarted, "waiting for the pod to be created", 0)
	}
	return plan.Wait(ReasonSidecarNotStarted, "waiting for the pod's sidecar to start", 0)
}
