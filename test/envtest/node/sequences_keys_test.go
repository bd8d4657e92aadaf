package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// N1, S1: a key that was swapped under a validator never signs, however seid comes to start again:
// the pod is lost, only its container restarts, or the node was paused. With the reserved key back
// it continues.
func TestN1_KeySwapped_DoesNotSign(t *testing.T) {
	for name, c := range map[string]struct {
		startAgain func(w nodes, swap func())
		// The condition that names the reserved address, and its reason.
		condition, reason string
	}{
		"pod lost": {func(w nodes, swap func()) {
			swap()
			w.losePod("v")
		}, v1alpha1.ConditionSigningKeyReady, v1alpha1.ReasonKeyChanged},
		"unpaused": {func(w nodes, swap func()) {
			w.edit("v", func(n *v1alpha1.SeiNode) { n.Spec.Paused = true })
			envtest.WaitGone[corev1.Pod](w.T, w.Env, w.NS, "v-0")
			swap()
			w.edit("v", func(n *v1alpha1.SeiNode) { n.Spec.Paused = false })
		}, v1alpha1.ConditionSigningKeyReady, v1alpha1.ReasonKeyChanged},
		"container restarted": {func(w nodes, swap func()) { // the gate stays open, and compares
			swap()
			w.endSeid("v")
		}, v1alpha1.ConditionSigningKeyReady, v1alpha1.ReasonKeyChanged},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOperatedWorld(t)
			file, address := consensusKey('p')
			other, _ := consensusKey('q')
			signing := secret("signing", v1alpha1.SecretKeySigningKey, file)
			w.Create(signing)
			w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
			w.bringUp(validator("v", "signing", "nodekey"))

			c.startAgain(w, func() { w.patch(signing, func() { signing.Data[v1alpha1.SecretKeySigningKey] = other }) })
			n := w.await("v", func(n *v1alpha1.SeiNode) bool { return is(n, c.condition, metav1.ConditionFalse, c.reason) })
			wantMessage(t, n, c.condition, address)
			w.forceReconciles("v", 2)
			if got := w.Sidecars.Process(w.Key("v")).State; got == api.SeidRunning {
				t.Error("seid runs with another key")
			}
			w.patch(signing, func() { signing.Data[v1alpha1.SecretKeySigningKey] = file })
			w.losePod("v") // the old key is mounted again
			w.await("v", settled)
			for _, s := range w.Sidecars.Starts(w.Key("v")) {
				if s.Address != address {
					t.Errorf("seid was started with %s, reserved is %s", s.Address, address)
				}
			}
			w.sound()
		})
	}
}

// N1, S1: the key of a validator that signs with it is refused with its holder's name.
func TestN1_KeySwappedForThatOfARunningValidator_IsRefused(t *testing.T) {
	w := newOperatedWorld(t)
	file, address := consensusKey('r')
	taken, holders := consensusKey('s')
	signing := secret("signing", v1alpha1.SecretKeySigningKey, file)
	w.Create(signing)
	w.Create(secret("taken", v1alpha1.SecretKeySigningKey, taken))
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('n')))
	w.Create(secret("nodekey2", v1alpha1.SecretKeyNodeKey, nodeKey('m')))
	w.bringUp(validator("v", "signing", "nodekey"))
	w.bringUp(validator("holder", "taken", "nodekey2"))

	w.patch(signing, func() { signing.Data[v1alpha1.SecretKeySigningKey] = taken })
	w.losePod("v")
	w.await("v", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyInUse) ||
			is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionFalse, v1alpha1.ReasonKeyChanged)
	})
	for _, s := range w.Sidecars.Starts("") {
		if want := map[string]string{w.Key("v"): address, w.Key("holder"): holders}[s.Node]; s.Address != want {
			t.Errorf("seid of %s was started with %s, reserved is %s", s.Node, s.Address, want)
		}
	}
	if !settled(w.node("holder")) {
		t.Errorf("the holder was disturbed: %+v", w.node("holder").Status)
	}
}

// endSeid ends the chain process of a node and waits until its container runs again.
func (w nodes) endSeid(name string) {
	w.T.Helper()
	if err := w.Pods.Kill(w.NS, name+"-0", "seid", 1); err != nil {
		w.T.Fatal(err)
	}
	w.awaitPod(name+"-0", func(p *corev1.Pod) bool {
		c := p.Status.ContainerStatuses
		return len(c) == 1 && c[0].RestartCount == 1 && c[0].State.Running != nil
	})
}
