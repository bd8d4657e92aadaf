package node

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// kubectl delete --cascade=orphan takes the SeiNode away and leaves its pod running. Its volume is
// in use then, and its key signs. (V2)
func TestV2_NodeDeletedWithOrphan_ItsPodRunsOn(t *testing.T) {
	w := newOperatedWorld(t)
	file, address := consensusKey('o')
	w.Create(secret("signing", v1alpha1.SecretKeySigningKey, file))
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('o')))
	v := validator("v", "signing", "nodekey")
	v.Spec.DataVolume = &v1alpha1.DataVolumeSpec{DeletionPolicy: v1alpha1.VolumeDelete}
	node := w.bringUp(v)
	pod, sts, claim := &corev1.Pod{}, &appsv1.StatefulSet{}, &corev1.PersistentVolumeClaim{}
	w.Get("v-0", pod)
	if err := w.Client.Delete(t.Context(), node, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "v")
	now, lease := &corev1.Pod{}, &coordinationv1.Lease{}
	w.Get("v-0", now)
	w.Get("v", sts)
	w.Get("data-v", claim)
	w.Get(task.ReservationName(address), lease)
	if now.UID != pod.UID || now.DeletionTimestamp != nil || sts.DeletionTimestamp != nil || claim.DeletionTimestamp != nil {
		t.Error("something of the node went with it")
	}
	if *lease.Spec.HolderIdentity != string(node.UID) {
		t.Errorf("the key that signs is reserved for %s", *lease.Spec.HolderIdentity)
	}
}
