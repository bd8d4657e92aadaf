package render

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// As SetDefaults_Container of Kubernetes has it.
func TestPullPolicy_IsTheDefaultOfKubernetes(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"seid":                          corev1.PullAlways,
		"seid:latest":                   corev1.PullAlways,
		"registry:5000/sei/seid":        corev1.PullAlways,
		"seid:latest@sha256:abc":        corev1.PullAlways,
		"seid:v6":                       corev1.PullIfNotPresent,
		"registry:5000/sei/seid:v6":     corev1.PullIfNotPresent,
		"seid@sha256:abc":               corev1.PullIfNotPresent,
		"registry:5000/seid@sha256:abc": corev1.PullIfNotPresent,
	} {
		if is := pullPolicy(image); is != want {
			t.Errorf("%s: %s, want %s", image, is, want)
		}
	}
}
