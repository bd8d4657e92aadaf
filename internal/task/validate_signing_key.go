package task

import (
	"context"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
)

// validateSigningKey checks the shape of the consensus key.
func validateSigningKey(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	return checkSecret(ctx, env, env.Node.Spec.SigningKeySecret(), signingKeyReasons, func(data map[string][]byte) error {
		_, err := consensusKey(data)
		return err
	})
}

func consensusKey(data map[string][]byte) (keys.ConsensusKey, error) {
	raw, err := required(data, v1alpha1.SecretKeySigningKey)
	if err != nil {
		return keys.ConsensusKey{}, err
	}
	return keys.ParseConsensusKey(raw)
}
