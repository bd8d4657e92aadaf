package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// keyed is a validator whose Secrets have these names.
func keyed(signing, nodeKey, keyring, passphrase string) *v1alpha1.ValidatorSpec {
	return &v1alpha1.ValidatorSpec{
		SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: signing}},
		NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: nodeKey}},
		OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
			SecretName: keyring, PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: passphrase, Key: "p"},
		}},
	}
}

func TestTarget_OrdinalInSecretNames_IsTheNodes(t *testing.T) {
	cases := map[string]struct{ template, want v1alpha1.SeiNodeSpec }{
		"validator": {
			v1alpha1.SeiNodeSpec{Validator: keyed("val-$(ORDINAL)-signing", "val-$(ORDINAL)-node", "ring-$(ORDINAL)", "$(ORDINAL)-pass-$(ORDINAL)")},
			v1alpha1.SeiNodeSpec{Validator: keyed("val-12-signing", "val-12-node", "ring-12", "12-pass-12")},
		},
		"shared names stay": {
			v1alpha1.SeiNodeSpec{Validator: keyed("signing", "node", "ring", "pass")},
			v1alpha1.SeiNodeSpec{Validator: keyed("signing", "node", "ring", "pass")},
		},
		"no keys": {v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}, v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}},
		"keyring on the volume": {
			v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{}}},
			v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{}}},
		},
		"seed": {
			v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "seed-$(ORDINAL)"}}}},
			v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "seed-12"}}}},
		},
		"nowhere else": {
			v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}, Overrides: map[string]string{"chain.moniker": "$(ORDINAL)"}},
			v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}, Overrides: map[string]string{"chain.moniker": "$(ORDINAL)"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snd := rpcFleet()
			snd.Spec.Template.Spec = *tc.template.DeepCopy()
			if diff := cmp.Diff(&tc.want, fleet.Target(snd, platform.Default(), 12).Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.template, snd.Spec.Template.Spec); diff != "" {
				t.Errorf("the template was changed (-want +got):\n%s", diff)
			}
		})
	}
}
