package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// ofImage is a pod whose seid is that of an image.
func ofImage(image string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && p.Spec.Containers[0].Image == image }
}

// held has a node stop for upgrade v7 and stand in the middle of its move, until it is released.
func (w nodes) held(name string) (pod *corev1.Pod, release func()) {
	w.T.Helper()
	w.Sidecars.Plan(w.Key(name), majorPlan("v7"))
	w.lookUntil(name, "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
	release = w.Pods.Rule(podMatch(w.NS, name+"-0", "install"), holdContainer())
	w.reach(name)
	return w.awaitPod(name+"-0", ofImage("seid:v7")), release
}

// U7: the pod goes in the middle of the move, with the old image or with the new one.
func TestU7_PodLostDuringTheMove_GoesOn(t *testing.T) {
	t.Run("at the halt", func(t *testing.T) {
		w := newOperatedWorld(t)
		w.bringUp(w.upgradable("n"))
		w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
		w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
		w.Stop()
		w.reach("n")
		pod := &corev1.Pod{}
		w.Get("n-0", pod)
		w.Delete(pod)
		w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.UID != pod.UID })
		w.StartOperator()
		w.await("n", upgradedTo("v7"))
		w.requireImages("n", "seid:a", "seid:v7")
	})
	t.Run("after the image has changed", func(t *testing.T) {
		w := newOperatedWorld(t)
		w.bringUp(w.upgradable("n"))
		pod, release := w.held("n")
		w.Delete(pod)
		w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.UID != pod.UID && ofImage("seid:v7")(p) })
		release()
		w.await("n", upgradedTo("v7"))
		w.requireImages("n", "seid:a", "seid:v7")
	})
}

// U8: spec.image is the image before the first entry. Whenever it is edited, a node that moves, or
// has moved, does not look at it, and one that waits at the halt without an entry may be given the
// release that way.
func TestU8_SpecImageEditedDuringAnUpgrade(t *testing.T) {
	patched := func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:a2" }
	t.Run("while it is scheduled", func(t *testing.T) {
		w := newOperatedWorld(t)
		w.Sidecars.SetHandlers("seid:a2", "v6")
		w.bringUp(w.upgradable("n"))
		w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
		w.lookUntil("n", "the plan to be seen", inState(v1alpha1.UpgradeScheduled))
		w.edit("n", patched)
		w.await("n", func(n *v1alpha1.SeiNode) bool { return settled(n) && n.Status.CurrentImage == "seid:a2" })
		w.reach("n")
		w.await("n", upgradedTo("v7"))
		w.requireImages("n", "seid:a", "seid:a2", "seid:v7")
	})
	t.Run("during the move", func(t *testing.T) {
		w := newOperatedWorld(t)
		w.Sidecars.SetHandlers("seid:a2", "v6")
		w.bringUp(w.upgradable("n"))
		pod, release := w.held("n")
		w.edit("n", patched)
		w.forceReconciles("n", 2)
		release()
		w.await("n", upgradedTo("v7"))
		now := &corev1.Pod{}
		if w.Get("n-0", now); now.UID != pod.UID {
			t.Error("the pod was replaced once more")
		}
		w.requireImages("n", "seid:a", "seid:v7")
	})
	t.Run("at the halt, without an entry", func(t *testing.T) {
		w := newOperatedWorld(t)
		w.handlers()
		w.Sidecars.SetHandlers("seid:a2", "v6")
		w.bringUp(fullNode("n"))
		w.Sidecars.Plan(w.Key("n"), majorPlan("v7"))
		w.reach("n")
		missing := func(n *v1alpha1.SeiNode) bool {
			return inState(v1alpha1.UpgradeHalted)(n) && is(n, v1alpha1.ConditionUpgradeImageMissing, metav1.ConditionTrue, v1alpha1.ReasonNoEntry)
		}
		w.await("n", missing)
		w.edit("n", patched) // does not have the upgrade either
		w.lookUntil("n", "the node to stand at the halt again", func(n *v1alpha1.SeiNode) bool {
			return missing(n) && n.Status.Plan == nil && n.Status.CurrentImage == "seid:a2"
		})
		w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:v7" })
		w.lookUntil("n", "the upgrade to be applied", func(n *v1alpha1.SeiNode) bool {
			return settled(n) && n.Status.Upgrade.Applied != nil && n.Status.Upgrade.Applied.Name == "v7"
		})
		w.requireImages("n", "seid:a", "seid:a2", "seid:v7")
	})
}

// U9: the image of the entry is corrected while the node moves to it.
func TestU9_EntryEditedDuringTheMove_EndsOnTheLastImage(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.SetHandlers("seid:v7.1", "v6", "v7")
	w.bringUp(w.upgradable("n"))
	_, release := w.held("n")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Upgrades[0].Image = "seid:v7.1" })
	w.awaitPod("n-0", ofImage("seid:v7.1"))
	release()
	w.await("n", func(n *v1alpha1.SeiNode) bool { return upgradedTo("v7")(n) && n.Status.CurrentImage == "seid:v7.1" })
	w.requireImages("n", "seid:a", "seid:v7.1")
}
