package fleet

import (
	"strconv"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// fillOrdinal puts a node's ordinal in the place of $(ORDINAL) in the names of the Secrets with its
// keys, so that validators with keys of their own can share one template. Admission refuses
// $(ORDINAL) where it stands for nothing.
func fillOrdinal(spec *v1alpha1.SeiNodeSpec, ordinal int) {
	fill := func(name *string) {
		*name = platform.Expand(*name, map[string]string{platform.VarOrdinal: strconv.Itoa(ordinal)})
	}
	if seed := spec.Seed; seed != nil {
		fill(&seed.NodeKey.Secret.SecretName)
	}
	validator := spec.Validator
	if validator == nil {
		return
	}
	if key := validator.SigningKey; key != nil {
		fill(&key.Secret.SecretName)
	}
	if key := validator.NodeKey; key != nil {
		fill(&key.Secret.SecretName)
	}
	if keyring := validator.OperatorKeyring; keyring != nil && keyring.Secret != nil {
		fill(&keyring.Secret.SecretName)
		fill(&keyring.Secret.PassphraseSecretRef.SecretName)
	}
}
