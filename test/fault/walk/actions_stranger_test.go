package walk

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// strangerActions put something of somebody else where the operator's own is expected.
var strangerActions = []*action{
	{name: "set-of-another", variants: 2, do: (*walk).takeSetsName},
	{name: "pod-of-another", variants: 1, of: []string{"full", "validator"}, do: (*walk).takePodsName},
	{name: "claim-of-another", variants: 1, of: []string{"full", "validator"}, do: (*walk).takeClaimsName},
	{name: "rival", variants: 1, of: []string{"full"}, do: (*walk).importClaim},
}

// another is an object that controls what is another owner's.
func (w *walk) another() []metav1.OwnerReference {
	w.T.Helper()
	owner := &corev1.ConfigMap{}
	if !w.read("another", owner) {
		owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "another"}}
		w.Create(owner)
		w.repairs["another"] = func() { w.drop(&corev1.ConfigMap{}, "another", metav1.DeletePropagationBackground) }
	}
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
}

func (w *walk) isForeign(obj client.Object) bool {
	for f := range w.foreign {
		if f.GetUID() == obj.GetUID() {
			return true
		}
	}
	return false
}

// place creates an object of somebody else, which has to be left alone until the end of the walk.
func (w *walk) place(what string, obj client.Object) {
	w.T.Helper()
	obj.SetNamespace(w.NS)
	if err := w.Client.Create(w.T.Context(), obj); err != nil {
		w.notef("not placed: %v", err)
		return
	}
	w.foreign[obj] = true
	w.repairs[what] = func() {
		delete(w.foreign, obj)
		w.drop(obj.DeepCopyObject().(client.Object), obj.GetName(), metav1.DeletePropagationForeground)
	}
}

// takeSetsName puts a StatefulSet without pods in the place of the node's: one that somebody else
// controls, or one that nobody does, which is for the operator to deal with.
func (w *walk) takeSetsName(variant int) {
	w.T.Helper()
	name, set := w.node(0), &appsv1.StatefulSet{}
	if !w.read(name, set) || w.isForeign(set) {
		return
	}
	ran := !w.away
	w.stopOperator()
	w.drop(set.DeepCopy(), name, metav1.DeletePropagationForeground)
	if w.blind["machine"] == nil { // or its pod stays until the machine is back
		w.Eventually("the end of the StatefulSet", func() bool { return !w.read(name, &appsv1.StatefulSet{}) })
	}
	placed := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *set.Spec.DeepCopy()}
	placed.Spec.Replicas = new(int32)
	if variant == 0 {
		placed.OwnerReferences = w.another()
		w.place("set", placed)
	} else {
		placed.Labels, placed.Namespace = set.Labels, w.NS
		if err := w.Client.Create(w.T.Context(), placed); err != nil {
			w.notef("not placed: %v", err)
		}
	}
	if ran {
		w.startOperator()
	}
}

// takePodsName makes a pod of the name of the node's, with its labels and a sidecar, while there is none.
func (w *walk) takePodsName(int) {
	w.T.Helper()
	name := w.node(0)
	w.place("pod", &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-0", Labels: map[string]string{v1alpha1.LabelNode: name}, OwnerReferences: w.another()},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{
				Name: "sidecar", Image: "another:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Ports: []corev1.ContainerPort{{ContainerPort: 7777}},
			}},
			Containers: []corev1.Container{{Name: "seid", Image: "seid:a"}},
		},
	})
}

// takeClaimsName makes a claim of the name of the node's, while there is none.
func (w *walk) takeClaimsName(int) {
	w.T.Helper()
	w.place("claim", &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-" + w.node(0)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})
}

// importClaim makes another node that wants the claim of the first.
func (w *walk) importClaim(int) {
	w.T.Helper()
	if w.repairs["rival"] != nil {
		return
	}
	rival := world.FullNode("rival")
	rival.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "data-" + w.node(0)}}
	w.Create(rival)
	w.repairs["rival"] = func() { w.takeAway(&v1alpha1.SeiNode{}, "rival") }
}
