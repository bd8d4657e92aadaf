package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestPodAnnotations_AreThePodsAndNotTheJobs(t *testing.T) {
	n := replayer()
	n.Spec.PodAnnotations = map[string]v1alpha1.AnnotationValue{"example.com/team": "infra", "karpenter.sh/do-not-disrupt": "false"}
	got := statefulSet(t, input(n)).Spec.Template.Annotations
	want := map[string]string{
		"example.com/team": "infra", "karpenter.sh/do-not-disrupt": "false",
		render.AnnotationTemplateHash: render.TemplateHash(got), render.AnnotationSpecHash: render.SpecHash(got),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations of the pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"karpenter.sh/do-not-disrupt": "true"}, job(t, input(n)).Spec.Template.Annotations); diff != "" {
		t.Errorf("annotations of the bootstrap Job's pod (-want +got):\n%s", diff)
	}
}

func TestImagePullSecrets_EveryPodOfTheNode_HasThem(t *testing.T) {
	n := replayer()
	n.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "registry-a"}, {Name: "registry-b"}}
	want := []corev1.LocalObjectReference{{Name: "registry-a"}, {Name: "registry-b"}}
	for what, spec := range map[string]corev1.PodSpec{
		"the pod": podSpec(t, input(n)), "the bootstrap Job": job(t, input(n)).Spec.Template.Spec, "the pod that pulls ahead": pullPod(t, input(n)).Spec,
	} {
		if diff := cmp.Diff(want, spec.ImagePullSecrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// The kubelet reads a pull secret for the pod; a key has no business there.
func TestImagePullSecrets_ThatHoldAKey_AreRefused(t *testing.T) {
	for _, name := range []string{validator().Spec.SigningKeySecret(), validator().Spec.NodeKeySecret(), validator().Spec.OperatorKeyringSecret().SecretName} {
		n := validator()
		n.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: name}}
		if _, err := render.StatefulSet(input(n)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Secret %s as a pull secret: %v", name, err)
		}
	}
}
