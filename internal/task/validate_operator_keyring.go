package task

import (
	"context"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
)

// validateOperatorKeyring checks that the keyring's files and the passphrase are
// there. Nothing is decrypted.
func validateOperatorKeyring(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	ref := env.Node.Spec.OperatorKeyringSecret()
	keyring := checkSecret(ctx, env, ref.SecretName, keyringReasons, func(data map[string][]byte) error {
		_, err := keys.ParseKeyring(data, env.Node.Spec.Validator.SigningUID())
		return err
	})
	if !keyring.IsDone() {
		return keyring
	}
	passphrase := ref.PassphraseSecretRef
	return checkSecret(ctx, env, passphrase.SecretName, keyringReasons, func(data map[string][]byte) error {
		return keys.CheckPassphrase(data, passphrase.Key)
	})
}
