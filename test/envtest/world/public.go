package world

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// PublicNode makes a running node as the public operator of the same kinds leaves it: its
// StatefulSet, claim and status, and containers of its own.
func (w *World) PublicNode(n *v1alpha1.SeiNode) (*appsv1.StatefulSet, *corev1.PersistentVolumeClaim) {
	w.T.Helper()
	name := n.Name
	n.Finalizers = []string{v1alpha1.FinalizerSeiNode}
	w.Create(n)
	before := n.DeepCopy()
	owner := *metav1.NewControllerRef(n, v1alpha1.GroupVersion.WithKind("SeiNode"))
	labels := map[string]string{}
	for key, value := range n.Spec.PodLabels {
		labels[key] = string(value)
	}
	maps.Copy(labels, map[string]string{v1alpha1.LabelNode: name, "sei.io/chain": n.Spec.ChainID, "sei.io/role": "node"})
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-" + name, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Ti")}},
		},
	}
	w.applyAsPublicOperator(v1alpha1.FieldOwnerSeiNode, claim)
	always := corev1.ContainerRestartPolicyAlways
	mount := []corev1.VolumeMount{{Name: "data", MountPath: "/.sei"}}
	sts := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Replicas: new(replicasOf(n)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelNode: name}},
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
	w.applyAsPublicOperator(v1alpha1.FieldOwnerSeiNode, sts)
	n.Status.Phase, n.Status.CurrentImage = v1alpha1.NodeRunning, n.Spec.Image
	n.Status.StatefulSet = &v1alpha1.ObjectIdentity{Name: name, UID: sts.UID}
	if err := w.Client.Status().Patch(w.T.Context(), n, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
	return sts, claim
}

// replicasOf is how many pods the public operator runs for a node: it stops those that are paused.
func replicasOf(n *v1alpha1.SeiNode) int32 {
	if n.Spec.Paused {
		return 0
	}
	return 1
}

// PublicFleet makes a fleet as the public operator leaves it when all its nodes run: the nodes with their
// claims, by ordinal, and the Services. While it does, the API server takes labels of pods that this
// operator's CRD refuses, so that no other test may run.
func (w *World) PublicFleet(snd *v1alpha1.SeiNodeDeployment, conditions ...metav1.Condition) (claims []*corev1.PersistentVolumeClaim) {
	w.T.Helper()
	snd.Finalizers = []string{v1alpha1.FinalizerSeiNodeDeployment}
	w.Create(snd)
	before := snd.DeepCopy()
	owner := *metav1.NewControllerRef(snd, v1alpha1.GroupVersion.WithKind("SeiNodeDeployment"))
	claims = w.publicChildren(snd, owner)
	for _, name := range []string{snd.Name + "-internal", snd.Name + "-external"} {
		w.applyAsPublicOperator(v1alpha1.FieldOwnerSeiNodeDeployment, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, OwnerReferences: []metav1.OwnerReference{owner}, Labels: map[string]string{v1alpha1.LabelDeployment: snd.Name},
				Annotations: map[string]string{"sei.io/managed-by": "seinodedeployment"},
			},
			Spec: corev1.ServiceSpec{
				Selector: map[string]string{v1alpha1.LabelDeployment: snd.Name},
				Ports:    []corev1.ServicePort{{Name: "rpc", Port: 26657, TargetPort: intstr.FromInt32(26657), Protocol: corev1.ProtocolTCP}},
			},
		})
	}
	snd.Status.ObservedGeneration, snd.Status.TemplateHash = snd.Generation, "0123456789abcdef"
	snd.Status.Phase, snd.Status.Conditions = v1alpha1.DeploymentReady, conditions
	if snd.Spec.Paused {
		snd.Status.Phase = v1alpha1.DeploymentPaused
	}
	snd.Status.Replicas, snd.Status.ReadyReplicas = snd.Spec.Replicas, snd.Spec.Replicas
	if err := w.Client.Status().Patch(w.T.Context(), snd, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
	return claims
}

func (w *World) publicChildren(snd *v1alpha1.SeiNodeDeployment, owner metav1.OwnerReference) (claims []*corev1.PersistentVolumeClaim) {
	w.T.Helper()
	restore := w.allowAnyPodLabel()
	defer restore()
	for ordinal := range int(snd.Spec.Replicas) {
		_, claim := w.PublicNode(publicChild(snd, owner, ordinal))
		claims = append(claims, claim)
	}
	return claims
}

// publicChild is a node as the public operator makes it for its fleet.
func publicChild(snd *v1alpha1.SeiNodeDeployment, owner metav1.OwnerReference, ordinal int) *v1alpha1.SeiNode {
	template := snd.Spec.Template.DeepCopy()
	child := &v1alpha1.SeiNode{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", snd.Name, ordinal), OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{}, Annotations: template.Metadata.Annotations,
		},
		Spec: template.Spec,
	}
	child.Spec.Paused = snd.Spec.Paused
	maps.Copy(child.Labels, template.Metadata.Labels)
	maps.Copy(child.Labels, map[string]string{
		v1alpha1.LabelDeployment: snd.Name, v1alpha1.LabelDeploymentOrdinal: strconv.Itoa(ordinal),
		"sei.io/revision": strconv.FormatInt(snd.Generation, 10), v1alpha1.LabelChain: template.Spec.ChainID,
	})
	child.Spec.PodLabels = map[string]v1alpha1.LabelValue{}
	for key, value := range template.Metadata.Labels {
		child.Spec.PodLabels[key] = v1alpha1.LabelValue(value)
	}
	maps.Copy(child.Spec.PodLabels, template.Spec.PodLabels)
	child.Spec.PodLabels[v1alpha1.LabelDeployment] = v1alpha1.LabelValue(snd.Name)
	child.Spec.PodLabels["sei.io/revision"] = v1alpha1.LabelValue(strconv.FormatInt(snd.Generation, 10))
	if g := snd.Spec.Genesis; g != nil {
		child.Spec.Peers = []v1alpha1.PeerSource{{Static: &v1alpha1.StaticPeers{Addresses: []v1alpha1.PeerAddress{v1alpha1.PeerAddress(
			strings.Repeat("a", 40) + "@" + snd.Name + "-0-0." + snd.Name + "-0." + snd.Namespace + ".svc.cluster.local:26656"),
		}}}}
		child.Spec.Validator.GenesisCeremony = &v1alpha1.GenesisCeremonyMember{
			ChainID: g.ChainID, StakingAmount: g.StakingAmount, AccountBalance: g.AccountBalance, Index: int32(ordinal),
		}
	}
	return child
}

// allowAnyPodLabel makes the API server take every label of a pod, as the public operator's CRD lets it,
// until restore is called.
func (w *World) allowAnyPodLabel() (restore func()) {
	w.T.Helper()
	before := &apiextensionsv1.CustomResourceDefinition{}
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Name: "seinodes.sei.io"}, before); err != nil {
		w.T.Fatal(err)
	}
	relaxed := before.DeepCopy()
	spec := relaxed.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	labels := spec.Properties["podLabels"]
	labels.XValidations = nil
	spec.Properties["podLabels"] = labels
	w.define(before, relaxed, true)
	return func() { w.define(relaxed, before, false) }
}

// define changes a CRD, of which the API server writes the status meanwhile, and waits until it judges by it.
func (w *World) define(before, crd *apiextensionsv1.CustomResourceDefinition, takesAny bool) {
	w.T.Helper()
	patch, err := client.MergeFrom(before).Data(crd)
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.Client.Patch(w.T.Context(), crd.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
		w.T.Fatal(err)
	}
	w.Eventually(fmt.Sprintf("labels of our domain in podLabels: taken %t", takesAny), func() bool {
		probe := FullNode("probe")
		probe.Namespace, probe.Spec.PodLabels = w.NS, map[string]v1alpha1.LabelValue{"sei.io/x": "y"}
		err := w.Client.Create(w.T.Context(), probe, client.DryRunAll)
		if err != nil && !apierrors.IsInvalid(err) {
			w.T.Fatal(err)
		}
		return (err == nil) == takesAny
	})
}

// applyAsPublicOperator writes an object as the public operator does: by server-side apply, as a field
// owner of the same name as ours.
func (w *World) applyAsPublicOperator(owner string, obj client.Object) {
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
	err = w.Client.Apply(w.T.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(owner), client.ForceOwnership)
	if err != nil {
		w.T.Fatal(err)
	}
	obj.SetUID(applied.GetUID())
}
