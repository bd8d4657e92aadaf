package render_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// everyPod is every kind of pod that runs seid, by name.
func everyPod(t *testing.T) map[string]corev1.PodSpec {
	t.Helper()
	pods := map[string]corev1.PodSpec{}
	for name, n := range everyNode() {
		pods[name] = podSpec(t, input(n))
		if source := n.Spec.Snapshot(); source != nil && source.BootstrapImage != "" {
			job, err := render.BootstrapJob(input(n))
			if err != nil {
				t.Fatal(err)
			}
			pods[name+" bootstrap"] = *typed[corev1.PodSpec](t, job.Spec.Template.Spec)
		}
	}
	return pods
}

// mountedBy are the containers that mount a volume, in the order they start.
func mountedBy(spec corev1.PodSpec, volume string) []string {
	var names []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestPod_ContainersSeeNeitherProcessesNorSecretsOfEachOther(t *testing.T) {
	pods := everyPod(t)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(pods)), func(name string) bool { return strings.HasSuffix(name, "bootstrap") }) {
		t.Fatal("no bootstrap Job among the pods")
	}
	for name, spec := range pods {
		if spec.ShareProcessNamespace != nil || spec.HostPID {
			t.Errorf("%s: the pod's containers see each other's processes", name)
		}
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s: every container gets the pod's token", name)
		}
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			if len(c.EnvFrom) > 0 || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil }) {
				t.Errorf("%s: container %s has a secret in its environment", name, c.Name)
			}
		}
		for _, volume := range []string{"api-access", "sidecar-home", "sidecar-tmp"} {
			if diff := cmp.Diff([]string{"sidecar"}, mountedBy(spec, volume)); diff != "" {
				t.Errorf("%s: containers with %s (-want +got):\n%s", name, volume, diff)
			}
		}
	}
	spec := podSpec(t, input(validator()))
	for _, volume := range []string{"operator-keyring", "keyring-passphrase"} {
		if diff := cmp.Diff([]string{"sidecar"}, mountedBy(spec, volume)); diff != "" {
			t.Errorf("containers with %s (-want +got):\n%s", volume, diff)
		}
	}
}

// What the sidecar keeps on the volume, which seid's container has too, is covered there.
func TestPod_OfAValidator_HidesAccountKeyAndTasksFromSeid(t *testing.T) {
	const keyring, store = "/home/nonroot/.sei/keyring-test", "/home/nonroot/.sei/sidecar.bolt"
	at := func(n *v1alpha1.SeiNode, container, path string) corev1.VolumeMount {
		for _, m := range containers(podSpec(t, input(n)))[container].VolumeMounts {
			if m.MountPath == path {
				return m
			}
		}
		return corev1.VolumeMount{}
	}
	for name, n := range map[string]*v1alpha1.SeiNode{"with a keyring": validator(), "of a ceremony": ceremonyValidator()} {
		want := []corev1.VolumeMount{
			{Name: "hidden", MountPath: keyring, ReadOnly: true},
			{Name: "sidecar-bin", MountPath: store, ReadOnly: true, SubPath: "sidecar"},
			{},
		}
		got := []corev1.VolumeMount{at(n, "seid", keyring), at(n, "seid", store), at(n, "sidecar", keyring)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := at(fullNode(), "seid", keyring); got.Name != "" {
		t.Errorf("a full node has no account key to hide: %+v", got)
	}
}
