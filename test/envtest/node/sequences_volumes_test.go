package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// V1, S8: a policy that is set while no operator runs holds.
func TestV1_RetainSetWhileTheOperatorIsDown_KeepsTheClaim(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	w.Stop()
	w.edit("n", func(n *v1alpha1.SeiNode) {
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
	})
	w.Delete(w.node("n"))
	w.StartOperator()
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "n")
	w.requireKept("data-n")
}

// V1, S8: so does one that is set while the node is being brought up, also when there is no pod yet.
func TestV1_RetainSetWhileBeingBroughtUp_KeepsTheClaim(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(podMatch(w.NS, "early-0", ""), podsim.Behaviour{Unschedulable: "no node has room"})
	w.Sidecars.Program(w.Key("late"), api.ConfigureGenesis, sidecarsim.Outcome{Hang: true})
	for _, name := range []string{"early", "late"} {
		w.Create(fullNode(name))
	}
	w.Eventually("the home to be prepared", func() bool { return count(w.Sidecars.Submissions(w.Key("late")), api.ConfigureGenesis) == 1 })
	w.await("early", func(n *v1alpha1.SeiNode) bool { return n.Status.StatefulSet != nil })
	for _, name := range []string{"early", "late"} {
		n := w.edit(name, func(n *v1alpha1.SeiNode) {
			n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeRetain}
		})
		if n.Status.InitializedAt != nil {
			t.Fatalf("%s is up already", name)
		}
		w.Delete(n)
		envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, name)
		w.requireKept("data-" + name)
	}
}

// requireKept checks that a claim is there and that the garbage collector has no reason to delete it.
func (w nodes) requireKept(name string) {
	w.T.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	w.Get(name, claim)
	if len(claim.OwnerReferences) != 0 || claim.DeletionTimestamp != nil {
		w.T.Errorf("claim %s belongs to %+v and is deleted at %v", name, claim.OwnerReferences, claim.DeletionTimestamp)
	}
}

// V3, S7: a claim that a running node or anybody's pod uses is not taken.
func TestV3_ImportOfAClaimInUse_IsRefusedUntilItIsFree(t *testing.T) {
	w := newOperatedWorld(t)
	first := w.bringUp(fullNode("first"))
	w.Create(importing("second", "data-first"))
	w.awaitImport("second", v1alpha1.ReasonPVCInvalid, "first")

	w.Create(claim("shared", "2Gi", corev1.ReadWriteOnce))
	user := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "x", Image: "x"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "shared"},
		}}},
	}}
	w.Create(user)
	w.Create(importing("third", "shared"))
	w.awaitImport("third", v1alpha1.ReasonPVCInvalid, "in use by pod backup")
	w.Delete(user)
	envtest.WaitGone[corev1.Pod](t, w.Env, w.NS, "backup")
	w.edit("third", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{"look": "again"} })
	w.await("third", settled)

	// Of two that import the same one the older keeps it.
	w.Create(importing("fourth", "shared"))
	w.awaitImport("fourth", v1alpha1.ReasonPVCInvalid, "third")
	if n := w.node("first"); n.UID != first.UID || !settled(n) {
		t.Errorf("the node that has the claim was disturbed: %+v", n.Status)
	}
	for _, name := range []string{"second", "fourth"} {
		w.requireNoStatefulSet(name)
	}
	w.sound()
}
