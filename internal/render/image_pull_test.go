package render_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func pullPod(t *testing.T, in render.Input) *corev1.Pod {
	t.Helper()
	pod, err := render.ImagePullPod(in, "seid:next", "machine-7")
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// A pod that only pulls has what a pull depends on, and nothing by which it could be taken for a pod
// of the node.
func TestImagePullPod_PullsLikeTheNodesPodAndIsNotTakenForIt(t *testing.T) {
	for name, n := range everyNode() {
		n.Labels = map[string]string{v1alpha1.LabelDeployment: "fleet"}
		in := input(n)
		in.Platform.Scheduling.Default.ServiceAccountName = "puller"
		pod, own := pullPod(t, in), statefulSet(t, in)
		if pod.Spec.ServiceAccountName != own.Spec.Template.Spec.ServiceAccountName || len(pod.Spec.Tolerations) != len(own.Spec.Template.Spec.Tolerations) {
			t.Errorf("%s: account %s and tolerations %v, unlike the node's pod", name, pod.Spec.ServiceAccountName, pod.Spec.Tolerations)
		}
		terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if len(terms) != 1 || terms[0].MatchFields[0].Key != "metadata.name" || terms[0].MatchFields[0].Values[0] != "machine-7" {
			t.Errorf("%s: affinity %+v, want machine-7", name, terms)
		}
		if render.PullImage(pod.Spec) != "seid:next" || render.SeidImage(pod.Spec) != "" || pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: pulls %q with restart policy %s", name, render.PullImage(pod.Spec), pod.Spec.RestartPolicy)
		}
		if *pod.Spec.AutomountServiceAccountToken || len(pod.Spec.Volumes) != 1 || pod.Spec.Volumes[0].EmptyDir == nil {
			t.Errorf("%s: token %t, volumes %+v", name, *pod.Spec.AutomountServiceAccountToken, pod.Spec.Volumes)
		}
		if owner := pod.OwnerReferences; len(owner) != 1 || owner[0].UID != n.UID {
			t.Errorf("%s: owners %+v", name, owner)
		}
		for _, selector := range []map[string]string{
			own.Spec.Selector.MatchLabels, {v1alpha1.LabelNode: n.Name}, {v1alpha1.LabelDeployment: "fleet"},
		} {
			if labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
				t.Errorf("%s: selector %v finds the pod with labels %v", name, selector, pod.Labels)
			}
		}
	}
}
