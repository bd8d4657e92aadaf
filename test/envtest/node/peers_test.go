package node

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
)

// Label peers come and go; the node hears of it at once and no pod is replaced.
func TestPeers_ByLabel_FollowTheFleet(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("n")
	n.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"team": "sei"}}}}
	w.bringUp(n)
	if got := w.node("n").Status.ResolvedPeers; len(got) != 0 {
		t.Errorf("peers %v of nobody", got)
	}
	peer := fullNode("peer")
	peer.Labels = map[string]string{"team": "sei"}
	w.bringUp(peer)
	got := w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && len(n.Status.ResolvedPeers) == 1 })
	want := w.Sidecars.NodeID(w.Key("peer")) + "@peer-0.peer." + w.NS + ".svc.cluster.local:26656"
	if got.Status.ResolvedPeers[0] != want {
		t.Errorf("peers %v, want %s", got.Status.ResolvedPeers, want)
	}
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return settled(n) && n.Status.LastPlan.Reason == domain.ReasonPeersChanged
	})
	w.edit("peer", func(n *v1alpha1.SeiNode) { n.Labels = nil })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && len(n.Status.ResolvedPeers) == 0 })
	if w.countEvents(events.PeerResolutionFailed) != 0 {
		t.Error("a peer that was still starting was reported as a failure")
	}
}

// S11: nodes of another namespace are found only if the platform says so; a node that runs continues.
func TestPeers_OfANamespaceThatIsNotListed_AreRefusedAndTheNodeGoesOn(t *testing.T) {
	w := newWorld(t)
	other := w.Namespace(t)
	w.Watched = []string{other}
	w.StartOperator()
	peer := fullNode("peer")
	peer.Labels, peer.Namespace, peer.Spec.Paused = map[string]string{"team": "sei"}, other, true
	if err := w.Client.Create(t.Context(), peer); err != nil {
		t.Fatal(err)
	}
	w.bringUp(fullNode("n"))
	w.edit("n", func(n *v1alpha1.SeiNode) {
		n.Spec.Peers = []v1alpha1.PeerSource{{Label: &v1alpha1.LabelPeers{Selector: map[string]string{"team": "sei"}, Namespace: other}}}
	})
	refused := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
	})
	wantMessage(t, refused, v1alpha1.ConditionSpecValid, "spec.peers[0].label.namespace")
	wantMessage(t, refused, v1alpha1.ConditionSpecValid, "add it to peers.label.namespaces")
	if !is(refused, v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonInSync) {
		t.Errorf("the node does not go on: %+v", refused.Status.Conditions)
	}
	w.Platform.Peers.Label.Namespaces = []string{other}
	w.RestartOperator()
	w.await("n", settled)
}

// Peers that cannot be resolved are reported once, and hold nothing up.
func TestPeers_ThatDoNotResolve_AreToldOfOnce(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("n")
	n.Spec.Peers = []v1alpha1.PeerSource{
		{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{v1alpha1.PeerAddress(strings.Repeat("ab", 20) + "@1.example.org:26656")}}},
		{EC2Tags: &v1alpha1.EC2TagPeers{Region: "eu-central-1", Tags: map[string]string{"a": "b"}}},
	}
	settledNode := w.bringUp(n)
	if len(settledNode.Status.ResolvedPeers) != 1 {
		t.Errorf("peers %v, want 1 ResolvedPeers", settledNode.Status.ResolvedPeers)
	}
	w.awaitEvent(events.PeerResolutionFailed)
	w.forceReconciles("n", 5)
	if got := w.countEvents(events.PeerResolutionFailed); got != 1 {
		t.Errorf("%d events, want 1", got)
	}
}
