package fleet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
)

// keySecrets are the Secrets of the validator with an ordinal, and the address of its consensus key.
func keySecrets(ordinal int) (secrets []*corev1.Secret, address string) {
	key := func(use string) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed([]byte(strings.Repeat(use[:1], ed25519.SeedSize-1) + string(rune('a'+ordinal))))
	}
	signing := key("signing")
	public := signing.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	address = strings.ToUpper(hex.EncodeToString(sum[:20]))
	text := base64.StdEncoding.EncodeToString
	made := func(name, file string, content []byte) {
		secrets = append(secrets, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("val-%d-%s", ordinal, name)}, Data: map[string][]byte{file: content},
		})
	}
	made("signing", v1alpha1.SecretKeySigningKey, fmt.Appendf(nil,
		`{"address":%q,"pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		address, text(public), text(signing)))
	made("node", v1alpha1.SecretKeyNodeKey, fmt.Appendf(nil, `{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`, text(key("node"))))
	return secrets, address
}

// A set of validators with keys of their own is one fleet, with one budget for its rollouts.
func TestValidatorSet_KeysPerOrdinal_IsRolledOneByOne(t *testing.T) {
	w := newOperatedWorld(t)
	snd := rpc("val", 3)
	snd.Spec.Template.Spec.FullNode = nil
	snd.Spec.Template.Spec.Validator = &v1alpha1.ValidatorSpec{
		SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-$(ORDINAL)-signing"}},
		NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-$(ORDINAL)-node"}},
	}
	addresses := make([]string, 3)
	var late []*corev1.Secret
	for i := range addresses {
		var secrets []*corev1.Secret
		if secrets, addresses[i] = keySecrets(i); i == 2 {
			late = secrets
			continue
		}
		for _, s := range secrets {
			w.Create(s)
		}
	}
	w.Create(snd)

	// Keys that are missing keep their own validator waiting and no other.
	w.AwaitNode("val-0", up)
	w.AwaitNode("val-1", up)
	w.AwaitNode("val-2", func(n *v1alpha1.SeiNode) bool {
		c := conditions.Get(n.Status.Conditions, v1alpha1.ConditionSigningKeyReady)
		return c != nil && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, "val-2-signing")
	})
	for _, s := range late {
		w.Create(s)
	}
	w.await("val", settled)
	watch := w.watchNodes()
	w.edit("val", image("seid:b"))
	w.await("val", runs("seid:b"))
	watch.require(t, 1)
	for i, address := range addresses {
		n := w.Node(child("val", i))
		if n.Status.ConsensusAddress != address || n.Spec.Validator.SigningKey.Secret.SecretName != fmt.Sprintf("val-%d-signing", i) {
			t.Errorf("%s signs as %s with %s, want %s", n.Name, n.Status.ConsensusAddress, n.Spec.Validator.SigningKey.Secret.SecretName, address)
		}
		if !mounts(w.podOf(n.Name), fmt.Sprintf("val-%d-signing", i), fmt.Sprintf("val-%d-node", i), render.CertificateName(n)) {
			t.Errorf("the pod of %s has other Secrets: %+v", n.Name, w.podOf(n.Name).Spec.Volumes)
		}
	}
}

// mounts reports whether a pod has volumes of exactly these Secrets.
func mounts(pod *corev1.Pod, secrets ...string) bool {
	var found []string
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			found = append(found, v.Secret.SecretName)
		}
	}
	slices.Sort(found)
	slices.Sort(secrets)
	return slices.Equal(found, secrets)
}
