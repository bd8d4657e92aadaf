package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

func imageMatch(namespace, image string) podsim.Match {
	return podsim.Match{Namespace: namespace, Image: image}
}

func pullError() podsim.Behaviour { return podsim.Behaviour{PullError: "not found"} }

func claim(name, size string, modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes, StorageClassName: new(podsim.ClassImmediate), Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
		}},
	}
}

func importing(name, pvc string) *v1alpha1.SeiNode {
	n := fullNode(name)
	n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: pvc}}
	return n
}

func (w nodes) awaitImport(name, reason, words string) {
	w.T.Helper()
	w.await(name, func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionImportPVCReady, metav1.ConditionFalse, reason) && says(n, v1alpha1.ConditionImportPVCReady, words)
	})
}

// An imported volume is waited for, checked, used and never deleted.
func TestImport_WaitsForTheClaimAndKeepsItForEver(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(importing("n", "old-data"))
	w.awaitImport("n", v1alpha1.ReasonPVCNotReady, "PersistentVolumeClaim old-data does not exist")
	release := w.Pods.HoldClaim(w.NS, "old-data")
	w.Create(claim("old-data", "2Gi", corev1.ReadWriteOnce))
	w.awaitImport("n", v1alpha1.ReasonPVCNotReady, "is not bound yet")
	release()
	n := w.await("n", settled)
	wantCondition(t, n, v1alpha1.ConditionImportPVCReady, metav1.ConditionTrue, v1alpha1.ReasonPVCValidated)
	w.Delete(n)
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "n")
	kept := &corev1.PersistentVolumeClaim{}
	w.Get("old-data", kept)
	if kept.DeletionTimestamp != nil {
		t.Error("an imported claim was deleted")
	}
}

func TestImport_ClaimThatCannotBeUsed_SaysWhy(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(claim("many", "2Gi", corev1.ReadWriteMany))
	w.Create(claim("small", "100Mi", corev1.ReadWriteOnce))
	w.Create(importing("a", "many"))
	w.awaitImport("a", v1alpha1.ReasonPVCInvalid, "needs ReadWriteOnce")
	w.Create(importing("b", "small"))
	w.awaitImport("b", v1alpha1.ReasonPVCInvalid, "needs 1Gi")
	w.bringUp(fullNode("owner"))
	w.Create(importing("c", "data-owner"))
	w.awaitImport("c", v1alpha1.ReasonPVCInvalid, "in use by SeiNode owner")
	w.awaitEvent(events.PVCInvalid)
}

// A claim of the node's name that is another owner's is not touched.
func TestOwnClaim_OfSomebodyElse_IsNamed(t *testing.T) {
	w := newOperatedWorld(t)
	theirs := claim("data-n", "1Gi", corev1.ReadWriteOnce)
	w.Create(theirs)
	w.Create(fullNode("n"))
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionPlanInProgress, metav1.ConditionTrue, v1alpha1.ReasonPlanWaiting)
	})
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "set spec.dataVolume.import.pvcName")
	w.Delete(theirs)
	w.await("n", settled)
}

// A volume grows with its spec.
func TestVolume_Grows(t *testing.T) {
	w := newOperatedWorld(t)
	n := fullNode("n")
	n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Size: new(resource.MustParse("1Gi"))}
	w.bringUp(n)
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.DataVolume.Size = new(resource.MustParse("3Gi")) })
	envtest.WaitFor(t, w.Env, w.NS, "data-n", func(c *corev1.PersistentVolumeClaim) bool {
		return c != nil && c.Spec.Resources.Requests.Storage().String() == "3Gi"
	})
	w.await("n", settled)
}

// Deletion follows the policy of the volume.
func TestDelete_VolumePolicy(t *testing.T) {
	w := newOperatedWorld(t)
	keep := fullNode("keep")
	keep.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	w.bringUp(keep)
	w.bringUp(fullNode("drop"))
	kept := &corev1.PersistentVolumeClaim{}
	w.Get("data-keep", kept)
	for _, name := range []string{"keep", "drop"} {
		w.Delete(w.node(name))
		envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, name)
		envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, name+"-0")
	}
	envtest.WaitGone[corev1.PersistentVolumeClaim](t, w.Env, w.NS, "data-drop")
	again := &corev1.PersistentVolumeClaim{}
	w.Get("data-keep", again)
	if again.UID != kept.UID || again.DeletionTimestamp != nil {
		t.Error("a retained claim was deleted")
	}
	// A new node of the same name takes it up again.
	next := fullNode("keep")
	next.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	w.bringUp(next)
	w.Get("data-keep", again)
	if again.UID != kept.UID {
		t.Error("the retained claim was not taken up")
	}
}

// A node can be deleted in every phase.
func TestDelete_InEveryPhase(t *testing.T) {
	w := newOperatedWorld(t)
	waiting := importing("waiting", "nothing")
	w.Create(waiting)
	w.awaitImport("waiting", v1alpha1.ReasonPVCNotReady, "does not exist")
	w.Pods.Rule(imageMatch(w.NS, "seid:typo"), pullError())
	stuck := fullNode("stuck")
	stuck.Spec.Image = "seid:typo"
	w.Create(stuck)
	w.await("stuck", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonImagePullFailed)
	})
	w.bringUp(fullNode("updating"))
	w.edit("updating", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:typo" })
	w.await("updating", func(n *v1alpha1.SeiNode) bool { return n.Status.Plan != nil })
	paused := fullNode("paused")
	paused.Spec.Paused = true
	w.Create(paused)
	w.await("paused", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused)
	})
	for _, name := range []string{"waiting", "stuck", "updating", "paused"} {
		w.Delete(w.node(name))
	}
	for _, name := range []string{"waiting", "stuck", "updating", "paused"} {
		envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, name)
	}
}
