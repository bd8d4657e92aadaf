package render_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

func TestIsForeign_OnlySeidWithoutAnythingOfOurs(t *testing.T) {
	seid := []corev1.Container{{Name: render.ContainerSeid, Image: "seid:a"}}
	for name, c := range map[string]struct {
		annotations map[string]string
		spec        corev1.PodSpec
		want        bool
	}{
		"another operator's":     {nil, corev1.PodSpec{Containers: seid}, true},
		"without seid":           {nil, corev1.PodSpec{}, false},
		"rendered for a spec":    {map[string]string{render.AnnotationSpecHash: "s"}, corev1.PodSpec{Containers: seid}, false},
		"from our template":      {map[string]string{render.AnnotationTemplateHash: "t"}, corev1.PodSpec{Containers: seid}, false},
		"installs our sidecar":   {nil, corev1.PodSpec{Containers: seid, InitContainers: []corev1.Container{{Name: render.ContainerInstall, Image: "i"}}}, false},
		"with another's sidecar": {nil, corev1.PodSpec{Containers: seid, InitContainers: []corev1.Container{{Name: "sei-sidecar", Image: "i"}}}, true},
	} {
		if got := render.IsForeign(c.annotations, c.spec); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestIsCurrent_OnlyThePodOfARevisionThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		pod, update          string
		generation, observed int64
		want                 bool
	}{
		"of the revision":           {"a", "a", 1, 1, true},
		"of another":                {"a", "b", 1, 1, false},
		"nothing is known":          {"", "", 1, 1, false},
		"an edit has not been seen": {"a", "a", 2, 1, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: c.pod}}}
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: c.generation}}
		sts.Status.UpdateRevision, sts.Status.ObservedGeneration = c.update, c.observed
		if got := render.IsCurrent(pod, sts); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestMountsSecrets_DirectlyOrProjected(t *testing.T) {
	for name, c := range map[string]struct {
		source corev1.VolumeSource
		want   bool
	}{
		"a Secret":    {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, true},
		"one of many": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{}}}}}, true},
		"a token":     {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}}}}, false},
		"a ConfigMap": {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}, false},
	} {
		if got := render.MountsSecrets(corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: c.source}}}); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
