package nodetask

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// awaitParams ask the sidecar to wait, and say for how long.
func awaitParams(env *Env, step *v1alpha1.PlannedTask) (any, error) {
	params := wire.AwaitCondition{Condition: wire.ConditionHeight, Timeout: timeLeft(env, step)}
	spec := &env.Task.Spec
	switch {
	case spec.AwaitNodesAtHeight != nil:
		params.TargetHeight = spec.AwaitNodesAtHeight.TargetHeight
		return params, nil
	case spec.AwaitCondition.Height != nil:
		params.TargetHeight = spec.AwaitCondition.Height.TargetHeight
	default:
		params.Condition = wire.ConditionCatchingUp
	}
	params.Action = spec.AwaitCondition.Action
	return params, nil
}

func conditionMet(env *Env, result api.TaskResult) (string, error) {
	if result.Status != api.TaskCompleted {
		return "", nil
	}
	var met wire.ConditionMet
	if err := json.Unmarshal(result.Result, &met); err != nil {
		return "", err
	}
	spec := &env.Task.Spec
	switch {
	case spec.AwaitNodesAtHeight != nil:
		env.Outputs = &v1alpha1.TaskOutputs{AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeightOutputs{CurrentHeight: met.Height}}
	case spec.AwaitCondition.Height != nil:
		env.Outputs = &v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: strconv.FormatInt(met.Height, 10)}}
	default:
		env.Outputs = &v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: "false"}}
		return fmt.Sprintf("the node has caught up at height %d", met.Height), nil
	}
	return fmt.Sprintf("the node has reached height %d", met.Height), nil
}

// timeLeft is how long a step still has, as the sidecar is told; empty when it has no end. A wait
// that ends with a signal must not outlive its task when nobody is left to cancel it.
func timeLeft(env *Env, step *v1alpha1.PlannedTask) string {
	if step.Deadline == nil {
		return ""
	}
	return max(time.Second, step.Deadline.Sub(env.Clock.Now()).Round(time.Second)).String()
}
