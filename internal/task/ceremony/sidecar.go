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

// run has a member's sidecar do a task and decodes its result into out. The sidecar is
// asked for the id first and gets the task only if it does not know it. Anything but
// Done names the member.
func run(ctx context.Context, m Member, id string, taskType api.TaskType, params func() (any, error), out any) plan.Outcome {
	if m.Sidecar == nil {
		return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("waiting for the sidecar of %s", m.Name), shortly)
	}
	result, err := m.Sidecar.Get(ctx, id, 0)
	if errors.Is(err, sidecar.ErrNotFound) && params != nil {
		result, err = submit(ctx, m, id, taskType, params)
	}
	if err != nil {
		return callFailed(m, taskType, err)
	}
	return judge(m, taskType, result, out)
}

func submit(ctx context.Context, m Member, id string, taskType api.TaskType, params func() (any, error)) (api.TaskResult, error) {
	value, err := params()
	if err != nil {
		return api.TaskResult{}, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return api.TaskResult{}, fmt.Errorf("encoding parameters: %w", err)
	}
	if _, err := m.Sidecar.Submit(ctx, api.TaskRequest{ID: id, Type: taskType, Params: raw}); err != nil {
		return api.TaskResult{}, err
	}
	return m.Sidecar.Get(ctx, id, quickWait)
}

func callFailed(m Member, taskType api.TaskType, err error) plan.Outcome {
	switch {
	case errors.Is(err, sidecar.ErrInvalid), errors.Is(err, sidecar.ErrConflict):
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
		err := fmt.Errorf("%s: %s", m.Name, result.Error)
		if d := result.ErrorDetail; d != nil {
			if d.Hint != "" {
				err = fmt.Errorf("%w (%s)", err, d.Hint)
			}
			if d.Terminal {
				return plan.Terminal(d.Code, err)
			}
		}
		return plan.Retry(err)
	default:
		return plan.Wait(ReasonValidatorNotReady, fmt.Sprintf("%s is working on %s", m.Name, taskType), soon)
	}
}
