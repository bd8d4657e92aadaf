package nodetask

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// inSyncParams ask the sidecar to wait until the node is in sync. The operator's own look at the
// node may be from before the restart.
func inSyncParams(env *Env, step *v1alpha1.PlannedTask) (any, error) {
	return wire.AwaitCondition{Condition: wire.ConditionCatchingUp, Timeout: timeLeft(env, step)}, nil
}

func isInSync(*Env, api.TaskResult) (string, error) { return "the node is in sync", nil }

// timeLeft is how long a step still has, as the sidecar is told; empty when it has no end. A wait
// that ends with a signal must not outlive its task when nobody is left to cancel it.
func timeLeft(env *Env, step *v1alpha1.PlannedTask) string {
	if step.Deadline == nil {
		return ""
	}
	return max(time.Second, step.Deadline.Sub(env.Clock.Now()).Round(time.Second)).String()
}
