package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Four validators with keys of their own are one fleet: an update reaches one after the other and the chain
// continues.
func TestFleet_ValidatorsWithTheirOwnKeys_AreRolledOneByOne(t *testing.T) {
	s := begin(t, "keyset")
	set := newSet(t, s.seid, "keyset-1", validators)
	s.chain = set[0]
	s.create(s.chain.genesisMap(t))
	for ordinal, member := range set {
		for _, secret := range member.keySecrets() {
			secret.Name = fmt.Sprintf("val-%d-%s", ordinal, secret.Name)
			s.create(secret)
		}
	}
	s.create(s.keyedValidators())
	s.awaitHeight("v-0", 5)
	s.awaitFleet("v", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	s.wantOwnKeys(set)

	began, height := time.Now(), s.height("v-0")
	s.editFleet("v", func(fleet *v1alpha1.SeiNodeDeployment) { fleet.Spec.Template.Spec.Image = imageNext })
	s.awaitRolled("v", imageNext, validators-1) // two of four away would stop the chain
	theReport.figuref(t, "a rolling update of four validators with their own keys", "%.1f s", time.Since(began).Seconds())
	s.awaitHeight("v-3", height+5)
	s.wantOwnKeys(set)
}

// keyedValidators are validators that find each other by label, each with the keys of its ordinal.
func (s *scenario) keyedValidators() *v1alpha1.SeiNodeDeployment {
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	fleet.Spec.Replicas = validators
	fleet.Spec.Template.Spec = v1alpha1.SeiNodeSpec{
		ChainID: s.chain.id, Image: imageSeid,
		Validator: &v1alpha1.ValidatorSpec{
			SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-$(ORDINAL)-signing-key"}},
			NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "val-$(ORDINAL)-node-key"}},
		},
		Peers: []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{v1alpha1.LabelDeployment: "v"}}}},
	}
	return fleet
}

// wantOwnKeys checks that every validator signs with the key of its own ordinal.
func (s *scenario) wantOwnKeys(set []chain) {
	s.t.Helper()
	for ordinal, member := range set {
		var key struct {
			Address string `json:"address"`
		}
		decode(s.t, member.signingKey, &key)
		name := fmt.Sprintf("v-%d", ordinal)
		node := &v1alpha1.SeiNode{}
		s.mustGet(name, node)
		if node.Status.ConsensusAddress != key.Address {
			s.t.Errorf("%s signs as %s, want %s", name, node.Status.ConsensusAddress, key.Address)
		}
		if !mountsSecret(s.pod(name), fmt.Sprintf("val-%d-signing-key", ordinal)) {
			s.t.Errorf("the pod of %s does not have its Secret", name)
		}
	}
}

func mountsSecret(pod *corev1.Pod, name string) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil && volume.Secret.SecretName == name {
			return true
		}
	}
	return false
}
