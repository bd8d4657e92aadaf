package node

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// ownKey is a validator whose key is made on its volume.
func ownKey(n *v1alpha1.SeiNode) *v1alpha1.SeiNode {
	n.Spec.FullNode, n.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
	return n
}

// copyOf makes a claim that is a copy of a node's volume.
func (w nodes) copyOf(node, name string) *corev1.PersistentVolumeClaim {
	w.T.Helper()
	w.Create(claim(name, "2Gi", corev1.ReadWriteOnce))
	copied := &corev1.PersistentVolumeClaim{}
	w.Get(name, copied)
	w.Sidecars.Clone(w.Key(node), copied.UID)
	return copied
}

// V4, S1: a key that was made on a volume is reserved like one of a Secret. A copy of the volume does
// not sign beside it, and says whose key it has; it takes over when the first is gone.
func TestV4_CopiedVolumeOfAValidator_DoesNotSignBesideIt(t *testing.T) {
	w := newOperatedWorld(t)
	first := w.bringUp(ownKey(fullNode("first")))
	address := w.Sidecars.VolumeKey(w.Key("first"))
	if first.Status.ConsensusAddress != address || !is(first, v1alpha1.ConditionSigningKeyReady, metav1.ConditionTrue, v1alpha1.ReasonSigningKeyValidated) {
		t.Errorf("reserved %s, want %s; conditions %+v", first.Status.ConsensusAddress, address, first.Status.Conditions)
	}
	w.copyOf("first", "copy")
	w.Create(ownKey(importing("second", "copy")))
	second := w.await("second", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyInUse)
	})
	for _, words := range []string{address, "the volume", w.NS + "/first", "delete that node"} {
		wantMessage(t, second, v1alpha1.ConditionSigningKeyReady, words)
	}
	w.awaitEvent(events.KeyInUse)
	w.forceReconciles("second", 2)
	if got := w.Sidecars.Process(w.Key("second")).State; got != api.SeidWaiting {
		t.Errorf("seid of the copy is %s", got)
	}
	w.Delete(first)
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "first")
	w.await("second", settled)
	w.sound()
}

// V4: a full node does not sign, and is told all the same that it has the key of a validator, before
// its gate opens for the first time.
func TestV4_CopiedVolumeOnAFullNode_IsNamedBeforeTheGateOpens(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(ownKey(fullNode("val")))
	address := w.Sidecars.VolumeKey(w.Key("val"))
	copied := w.copyOf("val", "copy")
	w.Create(importing("rpc", "copy"))
	n := w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyInUse)
	})
	for _, words := range []string{address, w.NS + "/val", "Remove config/priv_validator_key.json"} {
		wantMessage(t, n, v1alpha1.ConditionSigningKeyReady, words)
	}
	w.forceReconciles("rpc", 2)
	if starts := w.Sidecars.Starts(w.Key("rpc")); len(starts) > 0 {
		t.Errorf("seid was started: %+v", starts)
	}
	w.Sidecars.Rekey(copied.UID)
	n = w.await("rpc", settled)
	wantCondition(t, n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonNotApplicable)
}

// V4: a full node that was up is not taken down for a key that it does not use.
func TestV4_CopiedKeyOnAFullNodeThatWasUp_DoesNotKeepItDown(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(claim("old-data", "2Gi", corev1.ReadWriteOnce))
	n := w.bringUp(importing("rpc", "old-data"))
	w.Create(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: task.ReservationName(w.Sidecars.VolumeKey(w.Key("rpc")))},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("another")},
	})
	w.losePod("rpc")
	again := w.await("rpc", func(n *v1alpha1.SeiNode) bool { return settled(n) && len(w.Sidecars.Starts(w.Key("rpc"))) == 2 })
	if again.UID != n.UID {
		t.Error("another node")
	}
}

// N22: a second spelling of the mode, which admission lets pass, is named; the node continues as it
// was, also after its pod was lost.
func TestN22_OverrideThatWouldMakeASigner_IsNamedAndTheNodeGoesOn(t *testing.T) {
	w := newOperatedWorld(t)
	before := w.bringUp(fullNode("rpc"))
	w.edit("rpc", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"config.toml:Mode": "validator"} })
	n := w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	for _, words := range []string{"spec.overrides", `"config.toml:Mode"`, "decides how a node signs blocks", "remove the key", "last good configuration"} {
		wantMessage(t, n, v1alpha1.ConditionSpecValid, words)
	}
	w.losePod("rpc")
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync) && len(w.Sidecars.Starts(w.Key("rpc"))) == 2
	})
	for _, start := range w.Sidecars.Starts(w.Key("rpc")) {
		if start.Address != "" || start.ConfigHash != before.Status.ConfigHash {
			t.Errorf("seid was started with %+v", start)
		}
	}
}
