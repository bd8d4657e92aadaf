package task

import (
	"context"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// publishSnapshots tells the sidecar whether to publish snapshots, unless it was replaced by an
// older one since the plan was made.
func publishSnapshots(ctx context.Context, env *Env, task *v1alpha1.PlannedTask) plan.Outcome {
	if env.Document != nil && env.level() < api.LevelPublish {
		return plan.Done("the sidecar does not publish snapshots")
	}
	return onSidecar(api.PublishSnapshots, publishParams)(ctx, env, task)
}

func publishParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	return wire.PublishSnapshots{Keep: env.Node.Spec.PublishKeep()}, nil
}
