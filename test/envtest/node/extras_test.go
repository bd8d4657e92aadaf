package node

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// What is added for seid reaches the pod by one replacement, and goes by another.
func TestExtras_EachChange_ReplacesThePodOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ca-bundle"}, Data: map[string]string{"ca.crt": "x"}})
	w.bringUp(fullNode("n"))
	has := func() (variable, mount bool) {
		pod := &corev1.Pod{}
		w.Get("n-0", pod)
		seid := pod.Spec.Containers[0]
		return slices.ContainsFunc(seid.Env, func(e corev1.EnvVar) bool { return e.Name == "GOGC" && e.Value == "50" }),
			slices.ContainsFunc(seid.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/mnt/ca" && m.ReadOnly })
	}
	for _, c := range []struct {
		change          func(*v1alpha1.SeiNodeSpec)
		variable, mount bool
	}{
		{func(s *v1alpha1.SeiNodeSpec) { s.ExtraEnv = []v1alpha1.ExtraEnvVar{{Name: "GOGC", Value: "50"}} }, true, false},
		{func(s *v1alpha1.SeiNodeSpec) {
			s.ExtraVolumes = []v1alpha1.ExtraVolume{{Name: "ca", ConfigMap: &v1alpha1.ExtraConfigMap{Name: "ca-bundle"}}}
			s.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{{Name: "ca", MountPath: "/mnt/ca"}}
		}, true, true},
		{func(s *v1alpha1.SeiNodeSpec) { s.ExtraEnv, s.ExtraVolumes, s.ExtraVolumeMounts = nil, nil, nil }, false, false},
	} {
		mark := w.Recorder.Mark()
		w.edit("n", func(n *v1alpha1.SeiNode) { c.change(&n.Spec) })
		w.await("n", settled)
		if variable, mount := has(); variable != c.variable || mount != c.mount {
			t.Errorf("variable %v, mount %v, want %v and %v", variable, mount, c.variable, c.mount)
		}
		if deleted := w.Recorder.Since(mark).In(w.NS).Of("pods").Verb("delete"); len(deleted) != 1 {
			t.Errorf("%d pods were deleted:\n%s", len(deleted), deleted.Table())
		}
	}
}
