package task

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// nodeOn is a SeiNode of some age on its own claim, or on one that it imports.
func nodeOn(name, imports string, age time.Duration) *v1alpha1.SeiNode {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-age)
	n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(made)}}
	if imports != "" {
		n.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: imports}}
	}
	return n
}

// podOn is a pod that mounts a claim; of is the node it belongs to, if any.
func podOn(claim, of string, phase corev1.PodPhase) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "some-pod"}, Status: corev1.PodStatus{Phase: phase}}
	if of != "" {
		pod.Labels = map[string]string{v1alpha1.LabelNode: of}
	}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "tmp"},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}},
	}
	return pod
}

// V3, S7: one SeiNode uses a claim, and no pod of anybody else does.
func TestClaimUser_WhoElseUsesAClaim(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := nodeOn("n2", "old-data", time.Hour)
	elsewhere.Namespace = "elsewhere"
	for name, c := range map[string]struct {
		claim  string
		others []client.Object
		want   string
	}{
		"nobody":                                {"old-data", nil, ""},
		"another node on another claim":         {"old-data", []client.Object{nodeOn("n2", "", time.Hour)}, ""},
		"the node whose own claim it is":        {"data-n2", []client.Object{nodeOn("n2", "", time.Hour)}, "SeiNode n2"},
		"that node, although it is younger":     {"data-n2", []client.Object{nodeOn("n2", "", -time.Hour)}, "SeiNode n2"},
		"an older node that imports it too":     {"old-data", []client.Object{nodeOn("n2", "old-data", time.Hour)}, "SeiNode n2"},
		"a younger one waits for us":            {"old-data", []client.Object{nodeOn("n2", "old-data", -time.Hour)}, ""},
		"of the same age, the first by name":    {"old-data", []client.Object{nodeOn("a", "old-data", 0)}, "SeiNode a"},
		"of the same age, the second by name":   {"old-data", []client.Object{nodeOn("z", "old-data", 0)}, ""},
		"a node of another namespace":           {"old-data", []client.Object{elsewhere}, ""},
		"somebody's pod":                        {"old-data", []client.Object{podOn("old-data", "", corev1.PodRunning)}, "pod some-pod"},
		"somebody's pod that is about to start": {"old-data", []client.Object{podOn("old-data", "", corev1.PodPending)}, "pod some-pod"},
		"another node's pod":                    {"old-data", []client.Object{podOn("old-data", "n2", corev1.PodRunning)}, "pod some-pod"},
		"our own pod":                           {"old-data", []client.Object{podOn("old-data", "n", corev1.PodRunning)}, ""},
		"a pod that has ended":                  {"old-data", []client.Object{podOn("old-data", "", corev1.PodSucceeded)}, ""},
		"a pod on another claim":                {"old-data", []client.Object{podOn("new-data", "", corev1.PodRunning)}, ""},
	} {
		node := nodeOn("n", "old-data", 0)
		api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(c.others, node)...).Build()
		got, err := claimUser(t.Context(), &Env{Client: api, Live: api, Node: node}, c.claim)
		if err != nil || got != c.want {
			t.Errorf("%s: in use by %q, %v; want %q", name, got, err, c.want)
		}
	}
}
