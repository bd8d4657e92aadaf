package node

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// publicOperatorNode makes a running node as the public operator of the same kinds leaves it: its
// StatefulSet, claim and status, and containers of its own.
func (w nodes) publicOperatorNode(n *v1alpha1.SeiNode) (*appsv1.StatefulSet, *corev1.PersistentVolumeClaim) {
	w.T.Helper()
	name := n.Name
	n.Finalizers = []string{v1alpha1.FinalizerSeiNode}
	w.Create(n)
	owner := *metav1.NewControllerRef(n, v1alpha1.GroupVersion.WithKind("SeiNode"))
	labels := map[string]string{v1alpha1.LabelNode: name, "sei.io/chain": n.Spec.ChainID, "sei.io/role": "node"}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-" + name, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Ti")}},
		},
	}
	w.applyAsPublicOperator(claim)
	always := corev1.ContainerRestartPolicyAlways
	mount := []corev1.VolumeMount{{Name: "data", MountPath: "/.sei"}}
	sts := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelNode: name}},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"}},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{
						{Name: "seid-init", Image: n.Spec.Image, VolumeMounts: mount},
						{Name: "sei-sidecar", Image: "seictl", RestartPolicy: &always, VolumeMounts: mount},
						{Name: "kube-rbac-proxy", Image: "kube-rbac-proxy", RestartPolicy: &always},
					},
					Containers: []corev1.Container{{Name: "seid", Image: n.Spec.Image, VolumeMounts: mount}, {Name: "cosmos-exporter", Image: "exporter"}},
					Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
						PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}},
				},
			},
		},
	}
	w.applyAsPublicOperator(sts)
	before := n.DeepCopy()
	n.Status.Phase, n.Status.CurrentImage = v1alpha1.NodeRunning, n.Spec.Image
	n.Status.StatefulSet = &v1alpha1.ObjectIdentity{Name: name, UID: sts.UID}
	if err := w.Client.Status().Patch(w.T.Context(), n, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
	return sts, claim
}

// applyAsPublicOperator writes an object as the public operator does: by server-side apply, as a field
// owner of the same name as ours.
func (w nodes) applyAsPublicOperator(obj client.Object) {
	w.T.Helper()
	obj.SetNamespace(w.NS)
	gvk, err := w.Client.GroupVersionKindFor(obj)
	if err != nil {
		w.T.Fatal(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		w.T.Fatal(err)
	}
	applied := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(applied.Object, "status")
	err = w.Client.Apply(w.T.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("seinode-controller"), client.ForceOwnership)
	if err != nil {
		w.T.Fatal(err)
	}
	obj.SetUID(applied.GetUID())
}

// A node of the public operator is taken over with its StatefulSet and its claim; its pod, whose
// containers are others, is replaced once.
func TestMigration_ANodeOfThePublicOperator_KeepsStatefulSetAndClaim(t *testing.T) {
	w := newWorld(t)
	sts, claim := w.publicOperatorNode(fullNode("n"))
	pod := w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
	w.StartOperator()
	n := w.await("n", settled)
	now, kept := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	w.Get("n-0", now)
	w.Get("data-n", kept)
	if w.statefulSet("n").UID != sts.UID || n.Status.StatefulSet.UID != sts.UID || kept.UID != claim.UID {
		t.Errorf("StatefulSet %s, recorded %s, want %s; claim %s, want %s", w.statefulSet("n").UID, n.Status.StatefulSet.UID, sts.UID, kept.UID, claim.UID)
	}
	if now.UID == pod.UID {
		t.Error("the pod with the public operator's sidecar runs on, and the gate cannot be held by it")
	}
	if len(kept.OwnerReferences) > 0 {
		t.Errorf("the claim still goes with the node: %v", kept.OwnerReferences)
	}
}

// A validator of the public operator keeps its key, which is reserved for it from now on.
func TestMigration_AValidatorOfThePublicOperator_KeepsItsKey(t *testing.T) {
	w := newWorld(t)
	file, address := consensusKey('m')
	signing := secret("signing", v1alpha1.SecretKeySigningKey, file)
	w.Create(signing)
	w.Create(secret("nodekey", v1alpha1.SecretKeyNodeKey, nodeKey('m')))
	sts, claim := w.publicOperatorNode(validator("v", "signing", "nodekey"))
	w.awaitPod("v-0", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
	w.StartOperator()
	n := w.await("v", settled)
	now, kept := &corev1.Secret{}, &corev1.PersistentVolumeClaim{}
	w.Get("signing", now)
	w.Get("data-v", kept)
	if now.ResourceVersion != signing.ResourceVersion || kept.UID != claim.UID || w.statefulSet("v").UID != sts.UID {
		t.Errorf("Secret %s, want %s; claim %s, want %s; StatefulSet %s, want %s",
			now.ResourceVersion, signing.ResourceVersion, kept.UID, claim.UID, w.statefulSet("v").UID, sts.UID)
	}
	if n.Status.ConsensusAddress != address || !is(n, v1alpha1.ConditionSigningKeyReady, metav1.ConditionTrue, v1alpha1.ReasonSigningKeyValidated) {
		t.Errorf("address %q, want %q: %+v", n.Status.ConsensusAddress, address, n.Status.Conditions)
	}
}
