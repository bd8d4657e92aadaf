package node

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// consensusKey is a signing key file made from a seed, and its address.
func consensusKey(seed byte) (file []byte, address string) { return world.ConsensusKey(seed) }

func nodeKey(seed byte) []byte { return world.NodeKey(seed) }

func secret(name, key string, value []byte) *corev1.Secret { return world.Secret(name, key, value) }

func validator(name, signing, nodeKeyName string) *v1alpha1.SeiNode {
	return world.Validator(name, signing, nodeKeyName)
}

// Secrets that appear late, are empty or malformed: each says what to do, and the node
// comes up by itself once they are right.
func TestKeys_MissingEmptyMalformed_SayWhatToDoAndRecover(t *testing.T) {
	w := newOperatedWorld(t)
	file, address := consensusKey('a')
	w.Create(validator("v", "signing", "nodekey"))
	state := func(reason, words string) {
		t.Helper()
		w.await("v", func(n *v1alpha1.SeiNode) bool {
			return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, reason) && says(n, v1alpha1.ConditionSigningKeyReady, words)
		})
	}
	state(v1alpha1.ReasonSigningKeyNotReady, "Secret signing does not exist")
	signing := secret("signing", "wrong-key", file)
	w.Create(signing)
	state(v1alpha1.ReasonSigningKeyInvalid, `data key "priv_validator_key.json" is missing`)
	w.patch(signing, func() { signing.Data = map[string][]byte{v1alpha1.SecretKeySigningKey: {}} })
	state(v1alpha1.ReasonSigningKeyInvalid, `data key "priv_validator_key.json" is empty`)
	w.patch(signing, func() { signing.Data = map[string][]byte{v1alpha1.SecretKeySigningKey: file} })
	w.await("v", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionNodeKeyReady, metav1.ConditionFalse, v1alpha1.ReasonNodeKeyNotReady)
	})
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
	n := w.await("v", settled)
	if !is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionTrue, v1alpha1.ReasonSigningKeyValidated) || n.Status.ConsensusAddress != address {
		t.Errorf("address %s, conditions %+v", n.Status.ConsensusAddress, n.Status.Conditions)
	}
}

// Two nodes never sign with one key: the second waits, says who holds it, and starts
// only after the first one's pod is gone.
func TestConsensusKey_InUse_SecondNodeWaitsUntilTheFirstPodIsGone(t *testing.T) {
	w := newOperatedWorld(t)
	file, address := consensusKey('b')
	for _, name := range []string{"signing", "copy"} {
		w.Create(secret(name, v1alpha1.SecretKeySigningKey, file))
	}
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
	w.Create(secret("nodekey2", v1alpha1.SecretKeyNodeKey, nodeKey('m')))
	w.bringUp(validator("first", "signing", "nodekey"))
	w.Create(validator("second", "copy", "nodekey2"))
	n := w.await("second", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyInUse)
	})
	wantMessage(t, n, v1alpha1.ConditionSigningKeyReady, w.NS+"/first")
	w.awaitEvent(events.KeyInUse)
	if n.Status.StatefulSet != nil {
		t.Error("a StatefulSet was made for a node that must not sign")
	}

	// The first node's pod takes its time to stop; until it is gone the key stays its own.
	w.Pods.Rule(podsim.Match{Namespace: w.NS, Pod: "first-0"}, podsim.Behaviour{StopDelay: 2e9})
	first := w.node("first")
	w.Delete(first)
	lease := &coordinationv1.Lease{}
	w.awaitPod("first-0", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	w.Get(task.ReservationName(address), lease)
	if *lease.Spec.HolderIdentity != string(first.UID) {
		t.Errorf("the key was given back while the pod was still there: %+v", lease.Spec)
	}
	second := w.await("second", settled)
	pods := &corev1.PodList{}
	if err := w.Client.List(t.Context(), pods, client.InNamespace(w.NS), client.MatchingLabels{v1alpha1.LabelNode: "first"}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) > 0 || second.Status.ConsensusAddress != address {
		t.Errorf("%d pods of the first node left, address %s", len(pods.Items), second.Status.ConsensusAddress)
	}
	w.Get(task.ReservationName(address), lease)
	if *lease.Spec.HolderIdentity != string(second.UID) {
		t.Errorf("the key is held by %s", *lease.Spec.HolderIdentity)
	}
}

// A Secret whose key was swapped for another is not taken up: it would be another validator.
func TestConsensusKey_SwappedInTheSecret_IsRefusedAtTheNextUpdate(t *testing.T) {
	w := newOperatedWorld(t)
	file, _ := consensusKey('c')
	signing := secret("signing", v1alpha1.SecretKeySigningKey, file)
	w.Create(signing)
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
	w.bringUp(validator("v", "signing", "nodekey"))
	other, _ := consensusKey('d')
	w.patch(signing, func() { signing.Data[v1alpha1.SecretKeySigningKey] = other })
	w.edit("v", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	n := w.await("v", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyChanged)
	})
	wantMessage(t, n, v1alpha1.ConditionSigningKeyReady, "this node has signed with")
	if n.Status.CurrentImage != "seid:a" {
		t.Error("the pod was replaced with another signing key")
	}
	w.patch(signing, func() { signing.Data[v1alpha1.SecretKeySigningKey] = file })
	w.await("v", settled)
}

// The operator's keyring is checked for its shape and never opened.
func TestOperatorKeyring_IsChecked(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("v")
	n.Spec.FullNode = nil
	n.Spec.Validator = &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{
		SecretName: "keyring", PassphraseSecretRef: v1alpha1.SecretKeyRef{SecretName: "passphrase", Key: "p"},
	}}}
	w.Create(n)
	w.Create(secret("passphrase", "p", []byte("secret")))
	keyring := secret("keyring", "other.info", []byte("x"))
	w.Create(keyring)
	got := w.await("v", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionOperatorKeyringReady, metav1.ConditionFalse, v1alpha1.ReasonOperatorKeyringInvalid)
	})
	wantMessage(t, got, v1alpha1.ConditionOperatorKeyringReady, "Secret keyring")
	w.patch(keyring, func() {
		keyring.Data = map[string][]byte{"node_admin.info": []byte("x"), "abcdef.address": []byte("y"), "keyhash": []byte("z")}
	})
	w.await("v", settled)
}
