package task

import (
	"context"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
)

// validateNodeKey checks the shape of the node key.
func validateNodeKey(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	return checkSecret(ctx, env, env.Node.Spec.NodeKeySecret(), nodeKeyReasons, func(data map[string][]byte) error {
		raw, err := required(data, v1alpha1.SecretKeyNodeKey)
		if err != nil {
			return err
		}
		_, err = keys.ParseNodeKey(raw)
		return err
	})
}
