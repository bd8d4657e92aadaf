package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// restartSeid restarts the chain process if the configuration that the plan wrote
// needs it. The sidecar compared the files and says so in its result; peers, for
// example, are taken up without a restart.
func restartSeid(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	if env.Sidecar == nil {
		return waitForSidecar(env)
	}
	needed, err := restartNeeded(ctx, env)
	if err != nil {
		return sidecarError(env, api.RestartSeid, err)
	}
	if !needed {
		return plan.Done("no changed key needs a restart")
	}
	return onSidecar(api.RestartSeid, restartSeidParams)(ctx, env, task)
}

// restartSeidParams give the clients of a node time to go elsewhere. A node that is not
// ready has none: its Services do not know it. A sidecar of an older operator would refuse
// the parameter, and restarts at once as it always did.
func restartSeidParams(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	farewell := render.RestartFarewell(env.Node)
	if farewell == 0 || PodCondition(env.Observed.Pod, corev1.PodReady) != corev1.ConditionTrue {
		return nil, nil
	}
	version, err := env.Sidecar.Version(ctx)
	if errors.Is(err, sidecar.ErrNotFound) || err == nil && version.APILevel < api.LevelFarewell {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the sidecar's version: %w", err)
	}
	return wire.RestartSeid{Farewell: farewell.String()}, nil
}

func restartNeeded(ctx context.Context, env *Env) (bool, error) {
	written := plan.Find(env.Node.Status.Plan, planner.TaskConfigApply)
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
		return false, fmt.Errorf("reading the result of %s: %w", planner.TaskConfigApply, err)
	}
	return change.RestartRequired, nil
}
