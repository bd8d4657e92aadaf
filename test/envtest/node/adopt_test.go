package node

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// created is a StatefulSet for a node as somebody else would create it: with containers, volumes and
// settings of its own, some of which have names of ours.
func created(n *v1alpha1.SeiNode) *appsv1.StatefulSet {
	labels := map[string]string{v1alpha1.LabelNode: n.Name}
	data := corev1.VolumeMount{Name: "data", MountPath: "/home/nonroot/.sei"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(n, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))},
		},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: n.Name, Selector: &metav1.LabelSelector{MatchLabels: labels}, PodManagementPolicy: appsv1.ParallelPodManagement,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelNode: n.Name, "app": "theirs"}, Annotations: map[string]string{"theirs": "x"}},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
					Containers: []corev1.Container{
						{Name: "seid", Image: n.Spec.Image, VolumeMounts: []corev1.VolumeMount{data}, Env: []corev1.EnvVar{{Name: "THEIRS", Value: "x"}}},
						{Name: "sidecar", Image: "theirs", VolumeMounts: []corev1.VolumeMount{data}},
					},
					Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				},
			},
		},
	}
}

// A StatefulSet that was created, not applied, is taken over with its uid: what is left of its template is
// what the node asks for, and what the node no longer asks for goes later too.
func TestC1_StatefulSetThatWasCreated_IsTakenOver(t *testing.T) {
	w := newWorld(t)
	node := fullNode("n")
	node.Spec.Scheduling = &v1alpha1.SchedulingSpec{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}}
	w.Create(node)
	old := created(node)
	w.Create(old)
	w.awaitPod("n-0", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
	w.StartOperator()
	n := w.await("n", settled)
	sts := w.statefulSet("n")
	if sts.UID != old.UID || n.Status.StatefulSet.UID != old.UID {
		t.Fatalf("StatefulSet %s was made anew as %s", old.UID, sts.UID)
	}
	template := sts.Spec.Template
	containers := slices.Concat(template.Spec.InitContainers, template.Spec.Containers)
	names := make([]string, 0, len(containers))
	for _, c := range containers {
		names = append(names, c.Name)
		if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "THEIRS" }) {
			t.Errorf("their variable is still in container %s", c.Name)
		}
	}
	if !slices.Equal(names, []string{"install", "seid-init", "sidecar", "seid"}) || template.Labels["app"] != "" || template.Annotations["theirs"] != "" {
		t.Errorf("containers %v, labels %v, annotations %v", names, template.Labels, template.Annotations)
	}
	w.EditNode("n", func(n *v1alpha1.SeiNode) { n.Spec.Scheduling = nil })
	w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.ObservedGeneration == n.Generation && settled(n) })
	if left := w.statefulSet("n").Spec.Template.Spec.NodeSelector; len(left) > 0 {
		t.Errorf("a node selector that nobody asks for is still there: %v", left)
	}
}

// What put_back.go relies on: an API server answers a JSON patch that writes an old version with a
// conflict, after which one looks again. A test of the version that fails would be an invalid request,
// which ends a plan.
func TestJSONPatch_OfAnOldVersion_IsAConflict(t *testing.T) {
	w := newWorld(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Data: map[string]string{"a": "1"}}
	w.Create(object)
	old := object.ResourceVersion
	w.patch(object, func() { object.Data["a"] = "2" })
	send := func(op string) error {
		patch := fmt.Appendf(nil, `[{"op":%q,"path":"/metadata/resourceVersion","value":%q},{"op":"replace","path":"/data/a","value":"3"}]`, op, old)
		return w.Client.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.JSONPatchType, patch))
	}
	if err := send("replace"); !apierrors.IsConflict(err) {
		t.Errorf("writing an old version: %v", err)
	}
	if err := send("test"); !apierrors.IsInvalid(err) {
		t.Errorf("testing an old version: %v", err)
	}
	w.Get("x", object)
	if object.Data["a"] != "2" {
		t.Errorf("it was written: %v", object.Data)
	}
}
