package task

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

func applyService(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	if err := SyncService(ctx, env); err != nil {
		return APIOutcome("applying Service "+env.Node.Name, err)
	}
	return plan.Done("")
}

// SyncService applies the node's headless Service if it differs from what is wanted.
func SyncService(ctx context.Context, env *Env) error {
	if live := env.Observed.Service; live != nil && env.InShape.known(env.Node, live) {
		return nil
	}
	want := render.Service(env.Render)
	if live := env.Observed.Service; live != nil {
		if ok, _ := render.Covers(want, live); ok {
			return putBackSelector(ctx, env, live, want.Spec.Selector)
		}
	}
	if err := env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNode), client.ForceOwnership); err != nil {
		return err
	}
	made, err := render.Convert[corev1.Service](want)
	if err != nil {
		return err
	}
	env.Observed.Service = made
	env.Wrote(made)
	return nil
}
