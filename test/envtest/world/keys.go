package world

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// ConsensusKey is the file of a consensus key, and its address.
func ConsensusKey(seed byte) (file []byte, address string) {
	key := keyOf(seed)
	public := key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	address = strings.ToUpper(hex.EncodeToString(sum[:20]))
	return fmt.Appendf(nil, `{"address":%q,"pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		address, base64.StdEncoding.EncodeToString(public), base64.StdEncoding.EncodeToString(key)), address
}

// NodeKey is the file of a node key.
func NodeKey(seed byte) []byte {
	return fmt.Appendf(nil, `{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`, base64.StdEncoding.EncodeToString(keyOf(seed)))
}

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
}

// Secret has one key.
func Secret(name, key string, value []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{key: value}}
}

// Validator is one whose keys are in Secrets.
func Validator(name, signing, nodeKey string) *v1alpha1.SeiNode {
	n := FullNode(name)
	n.Spec.FullNode = nil
	n.Spec.Validator = &v1alpha1.ValidatorSpec{
		SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: signing}},
		NodeKey:    &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: nodeKey}},
	}
	return n
}
