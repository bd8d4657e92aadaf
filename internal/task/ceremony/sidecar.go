package ceremony

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
)

// memberID is the id of a task that every member runs: the attempt's id and the
// member's name make it, so a restarted operator finds what it submitted.
func memberID(taskID, use string, m Member) string {
	namespace, err := uuid.Parse(taskID)
	if err != nil {
		namespace = uuid.NewSHA1(uuid.NameSpaceOID, []byte(taskID))
	}
	return uuid.NewSHA1(namespace, []byte(use+"/"+m.Name)).String()
}

// run has a member's sidecar do a task and decodes its result into out. Anything but Done
// names the member.
func run(ctx context.Context, m Member, id string, taskType api.TaskType, params sidecartask.Params, out any) plan.Outcome {
	if m.Sidecar == nil {
		return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("waiting for the sidecar of %s", m.Name), shortly)
	}
	result, _, err := sidecartask.Task{ID: id, Type: taskType, Params: params}.Run(ctx, m.Sidecar)
	if err != nil {
		return callFailed(m, taskType, err)
	}
	return judge(m, taskType, result, out)
}

// levelOf is the API level of a member's sidecar.
func levelOf(ctx context.Context, m Member) (int, plan.Outcome) {
	if m.Sidecar == nil {
		return 0, plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("waiting for the sidecar of %s", m.Name), shortly)
	}
	version, err := m.Sidecar.Version(ctx)
	if err != nil {
		return 0, plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("the sidecar of %s does not answer", m.Name), shortly)
	}
	return version.APILevel, plan.Done("")
}

func callFailed(m Member, taskType api.TaskType, err error) plan.Outcome {
	switch {
	case sidecartask.Rejected(err):
		return plan.Terminal(ReasonSidecarRefuses, fmt.Errorf("%s: submitting %s: %w", m.Name, taskType, err))
	case errors.Is(err, sidecar.ErrNotFound):
		return plan.Retry(fmt.Errorf("%s: its sidecar no longer knows the result of %s", m.Name, taskType))
	case errors.Is(err, sidecar.ErrUnauthorized):
		return plan.Wait(ReasonSidecarRefuses, fmt.Sprintf("the sidecar of %s refuses the operator's token", m.Name), shortly)
	default:
		return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("the sidecar of %s does not answer", m.Name), shortly)
	}
}

func judge(m Member, taskType api.TaskType, result api.TaskResult, out any) plan.Outcome {
	switch result.Status {
	case api.TaskCompleted:
		if out == nil {
			return plan.Done("")
		}
		if err := json.Unmarshal(result.Result, out); err != nil {
			return plan.Terminal(ReasonSidecarRefuses, fmt.Errorf("%s: reading the result of %s: %w", m.Name, taskType, err))
		}
		return plan.Done("")
	case api.TaskFailed:
		return sidecartask.Failure(m.Name, result)
	default:
		return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("%s is working on %s", m.Name, taskType), soon)
	}
}
