package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// restartSeid restarts the chain process if what it was started with and what is on disk differ
// in a key that only a restart picks up. A process that waits behind its gate starts with what
// is on disk anyway.
func restartSeid(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	if env.Document == nil {
		return waitForAnswer(env)
	}
	why, err := restartNeedless(ctx, env, task)
	if err != nil {
		return sidecarError(env, api.RestartSeid, err)
	}
	if why != "" {
		return plan.Done(why)
	}
	return onSidecar(api.RestartSeid, restartSeidParams)(ctx, env, task)
}

// restartNeedless says why no restart is needed; empty when one is, or is under way.
func restartNeedless(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) (string, error) {
	if task.SubmittedAt != nil {
		return "", nil
	}
	if env.level() < api.LevelNode {
		needed, err := restartNeeded(ctx, env)
		if err == nil && !needed {
			return "no changed key needs a restart", nil
		}
		return "", err
	}
	// The document of this pass is older than the steps before this one.
	now, err := env.Sidecar.Node(ctx)
	switch {
	case err != nil:
		return "", err
	case now.Seid.State != api.SeidRunning:
		return "seid is not running; it starts with the configuration on disk", nil
	case len(now.Seid.RestartDue) == 0:
		return "no changed key needs a restart", nil
	default:
		return "", nil
	}
}

func restartSeidParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	var params wire.RestartSeid
	if env.level() >= api.LevelNode {
		params.ConfigHash = domain.WrittenConfig(env.Node.Status.Plan)
	}
	params.Drain = Drain(env.Node, env.Observed.Pod, env.level())
	if params == (wire.RestartSeid{}) {
		return nil, nil
	}
	return params, nil
}

// Drain is for how long the clients of a node have time to go elsewhere before a restart; empty
// for not at all. A node that is not ready has no clients: its Services do not know it. A sidecar
// of an older operator would refuse the parameter, and restarts at once as it always did.
func Drain(node *v1alpha1.SeiNode, pod *corev1.Pod, level int) string {
	drain := render.RestartDrain(node)
	if drain == 0 || level < api.LevelDrain || PodCondition(pod, corev1.PodReady) != corev1.ConditionTrue {
		return ""
	}
	return drain.String()
}

// restartNeeded asks an older sidecar what the plan's own write has changed.
func restartNeeded(ctx context.Context, env *Env) (bool, error) {
	written := plan.Find(env.Node.Status.Plan, domain.StepConfigApply)
	if written == nil {
		return true, nil
	}
	result, err := env.Sidecar.Get(ctx, written.ID, 0)
	if errors.Is(err, sidecar.ErrNotFound) {
		return true, nil // the sidecar lost its store: what changed is not known
	}
	if err != nil {
		return false, err
	}
	var change wire.ConfigChanges
	if len(result.Result) == 0 {
		return true, nil // an older sidecar does not tell
	}
	if err := json.Unmarshal(result.Result, &change); err != nil {
		return false, fmt.Errorf("reading the result of %s: %w", domain.StepConfigApply, err)
	}
	return change.RestartRequired, nil
}
