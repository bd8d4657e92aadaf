package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

func TestBootstrapJob_RunsTheBootstrapImageToTheHeightOnce(t *testing.T) {
	j := job(t, input(replayer()))
	pod := j.Spec.Template.Spec
	if j.Name != "replay-bootstrap" || *j.Spec.BackoffLimit != 0 || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("job %s: back-off limit %d, restart policy %s", j.Name, *j.Spec.BackoffLimit, pod.RestartPolicy)
	}
	if j.Spec.TTLSecondsAfterFinished != nil {
		t.Error("the Job may vanish before its end was seen")
	}
	want := []string{
		"/opt/sei/sidecar", "gate", "--ok-exit=130,143", "--", "seid", "start", "--home", "/home/nonroot/.sei", "--halt-height", "123456789",
	}
	all := containers(pod)
	if diff := cmp.Diff(want, all["seid"].Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	for _, name := range []string{"seid", "sidecar", "seid-init"} {
		if all[name].Image != "example.com/seid:v6.3.0" {
			t.Errorf("%s runs %s", name, all[name].Image)
		}
	}
	if seid := all["seid"]; seid.LivenessProbe != nil || seid.ReadinessProbe != nil || seid.StartupProbe != nil {
		t.Error("seid is probed: replaying may take as long as it takes")
	}
}

func TestBootstrapJob_StandsInForTheNodesPod(t *testing.T) {
	n := replayer()
	in := input(n)
	pod := job(t, in).Spec.Template
	if pod.Spec.Hostname != render.PodName(n) || pod.Spec.Subdomain != n.Name {
		t.Errorf("address %s.%s", pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	for key, value := range typed[corev1.Service](t, render.Service(in)).Spec.Selector {
		if pod.Labels[key] != value {
			t.Errorf("the Service does not select the pod by %s", key)
		}
	}
	own := podSpec(t, in)
	if diff := cmp.Diff(own.SecurityContext, pod.Spec.SecurityContext); diff != "" {
		t.Errorf("security context differs from the node's own:\n%s", diff)
	}
	isData := func(v corev1.Volume) bool { return v.Name == "data" }
	at := slices.IndexFunc(pod.Spec.Volumes, isData)
	if got := pod.Spec.Volumes[at].PersistentVolumeClaim.ClaimName; got != "old-data" {
		t.Errorf("the Job works on claim %s, not on the imported one", got)
	}
}

func TestBootstrapJob_CarriesNoLabelThatWouldAttractTraffic(t *testing.T) {
	n := replayer()
	n.Labels = map[string]string{v1alpha1.LabelDeployment: "fleet"}
	n.Spec.PodLabels = map[string]v1alpha1.LabelValue{"serves": "rpc"}
	want := map[string]string{
		"sei.io/node": "replay", "sei.io/chain": "pacific-1", "sei.io/role": "replayer", "sei.io/component": "bootstrap",
	}
	if diff := cmp.Diff(want, job(t, input(n)).Spec.Template.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestBootstrapJob_NoKeySecret_EvenForAValidator(t *testing.T) {
	for _, v := range job(t, input(validator())).Spec.Template.Spec.Volumes {
		if v.Secret != nil && v.Secret.SecretName != "val-sidecar-tls" {
			t.Errorf("volume %s holds Secret %s", v.Name, v.Secret.SecretName)
		}
	}
}

func TestBootstrapJob_WithoutABootstrapImage_IsAnError(t *testing.T) {
	noHeight := replayer()
	noHeight.Spec.Replayer.Snapshot.S3 = nil
	tests := map[string]*v1alpha1.SeiNode{
		"names no bootstrapImage": fullNode(),
		"snapshot.s3":             noHeight,
	}
	for want, n := range tests {
		if _, err := render.BootstrapJob(input(n)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
