package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// scheduling brings up a node that has an image for upgrade v2, and has its chain schedule that. The
// returned function cancels the plan.
func (w nodes) scheduling(image string) (cancel func()) {
	w.T.Helper()
	node := fullNode("rpc")
	node.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v2", Image: image}}
	w.Create(node)
	w.await("rpc", settled)
	cancel = w.Sidecars.Amend(w.Key("rpc"), func(doc *api.Node) { doc.Upgrade = &api.Upgrade{Name: "v2", Height: 100} })
	w.look("rpc")
	return cancel
}

// look has the operator look at a node now.
func (w nodes) look(name string) {
	w.T.Helper()
	w.edit(name, func(n *v1alpha1.SeiNode) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, "forced", n.ResourceVersion)
	})
}

// podWrites counts what the operator did to pods that pull.
func (w nodes) podWrites(verb string) int {
	return len(w.Recorder.All().Where(func(r envtest.Request) bool {
		return r.Resource == "pods" && r.Namespace == w.NS && r.Verb == verb && r.Subresource == "" && (r.Name == "" || r.Name == "rpc-pull")
	}))
}

// pulls waits for the pod that pulls.
func (w nodes) pulls() *corev1.Pod {
	w.T.Helper()
	return w.awaitPod("rpc-pull", func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil })
}

// awaitPulled waits until the image of the next upgrade is there, and the pod that pulled it gone.
func (w nodes) awaitPulled(name string) *v1alpha1.SeiNode {
	w.T.Helper()
	n := w.await(name, func(n *v1alpha1.SeiNode) bool { return n.Status.PulledAhead != nil })
	w.awaitNoPull(name)
	return n
}

func (w nodes) awaitNoPull(name string) {
	w.T.Helper()
	w.Eventually("the pod that pulls to go", func() bool {
		err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name + "-pull"}, &corev1.Pod{})
		return apierrors.IsNotFound(err)
	})
}

func TestPullAhead_UpgradeScheduled_PullsOnceOnTheNodesMachine(t *testing.T) {
	w := newOperatedWorld(t)
	held := w.Pods.Rule(podsim.Match{Namespace: w.NS, Container: "pull"}, podsim.Behaviour{Hold: true})
	w.scheduling("seid:b")
	w.pulls()
	own := w.awaitPod("rpc-0", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	pull := w.awaitPod("rpc-pull", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	if pull.Spec.NodeName != own.Spec.NodeName || pull.Spec.Containers[0].Image != "seid:b" {
		t.Errorf("%s is pulled on %s, want seid:b on %s", pull.Spec.Containers[0].Image, pull.Spec.NodeName, own.Spec.NodeName)
	}
	if n := w.node("rpc"); n.Status.PulledAhead != nil || !settled(n) {
		t.Errorf("while it pulls: %+v", n.Status)
	}
	held()
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return n.Status.PulledAhead != nil && *n.Status.PulledAhead == v1alpha1.PulledImage{Image: "seid:b", Machine: own.Spec.NodeName}
	})
	w.awaitNoPull("rpc")
	w.forceReconciles("rpc", 3)
	if made, gone := w.podWrites("create"), w.podWrites("delete"); made != 1 || gone != 1 {
		t.Errorf("%d pods were made and %d deleted, want one each", made, gone)
	}
	if again := w.awaitPod("rpc-0", func(*corev1.Pod) bool { return true }); again.UID != own.UID {
		t.Error("the node's pod was replaced")
	}
}

func TestPullAhead_PlanCancelled_PodAndMemoryGo(t *testing.T) {
	w := newOperatedWorld(t)
	held := w.Pods.Rule(podsim.Match{Namespace: w.NS, Container: "pull"}, podsim.Behaviour{Hold: true})
	cancel := w.scheduling("seid:b")
	w.pulls()
	cancel()
	w.look("rpc")
	w.awaitNoPull("rpc")
	held()
	// Another plan, and its image is there; then it is cancelled too.
	cancel = w.Sidecars.Amend(w.Key("rpc"), func(doc *api.Node) { doc.Upgrade = &api.Upgrade{Name: "v2", Height: 200} })
	w.look("rpc")
	w.await("rpc", func(n *v1alpha1.SeiNode) bool { return n.Status.PulledAhead != nil })
	cancel()
	w.look("rpc")
	w.await("rpc", func(n *v1alpha1.SeiNode) bool { return n.Status.PulledAhead == nil })
	w.awaitNoPull("rpc")
}

// Operators come and go: what was pulled is not pulled again.
func TestPullAhead_OperatorRestarted_PullsNothingAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.scheduling("seid:b")
	w.awaitPulled("rpc")
	w.RestartOperator()
	w.forceReconciles("rpc", 2)
	if made := w.podWrites("create"); made != 1 {
		t.Errorf("%d pods were made, want 1", made)
	}
}

// An image that cannot be pulled is reported when the upgrade is scheduled, and pulled once it can be.
func TestPullAhead_ImageCannotBePulled_IsToldAhead(t *testing.T) {
	w := newOperatedWorld(t)
	missing := w.Pods.Rule(podsim.Match{Namespace: w.NS, Image: "seid:b"}, podsim.Behaviour{PullError: "no such image"})
	w.scheduling("seid:b")
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonImagePullFailed)
	})
	w.awaitEvent(events.ImagePullFailed)
	if n := w.node("rpc"); !settled(n) || n.Status.PulledAhead != nil {
		t.Errorf("settled %t, pulled ahead %+v, want true and nothing; status %+v", settled(n), n.Status.PulledAhead, n.Status)
	}
	missing()
	w.await("rpc", func(n *v1alpha1.SeiNode) bool {
		return n.Status.PulledAhead != nil && is(n, v1alpha1.ConditionUpgradeScheduled, metav1.ConditionTrue, v1alpha1.ReasonImageKnown)
	})
	w.awaitNoPull("rpc")
}
