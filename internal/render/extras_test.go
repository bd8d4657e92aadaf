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

// withExtras gives a node one of everything that can be added for seid.
func withExtras(n *v1alpha1.SeiNode) *v1alpha1.SeiNode {
	items := []v1alpha1.ExtraItem{{Key: "ca.crt", Path: "certs/ca.pem"}}
	n.Spec.ExtraEnv = []v1alpha1.ExtraEnvVar{
		{Name: "GOMEMLIMIT", Value: "8GiB"},
		{Name: "PROXY_PASSWORD", ValueFrom: &v1alpha1.ExtraEnvSource{SecretKeyRef: &v1alpha1.ExtraSecretKeyRef{Name: "proxy", Key: "password"}}},
		{Name: "HTTPS_PROXY", ValueFrom: &v1alpha1.ExtraEnvSource{ConfigMapKeyRef: &v1alpha1.ExtraConfigMapKeyRef{Name: "proxy", Key: "url"}}},
	}
	n.Spec.ExtraVolumes = []v1alpha1.ExtraVolume{
		{Name: "ca", ConfigMap: &v1alpha1.ExtraConfigMap{Name: "ca-bundle", Items: items}},
		{Name: "secret", Secret: &v1alpha1.ExtraSecret{SecretName: "client-cert", Items: items}},
		{Name: "scratch", EmptyDir: &v1alpha1.ExtraEmptyDir{Medium: "Memory", SizeLimit: "1Gi"}},
		{Name: "both", Projected: &v1alpha1.ExtraProjected{Sources: []v1alpha1.ExtraProjection{
			{ConfigMap: &v1alpha1.ExtraConfigMap{Name: "ca-bundle"}}, {Secret: &v1alpha1.ExtraProjectedSecret{Name: "client-cert", Items: items}},
		}}},
		{Name: "vault", CSI: &v1alpha1.ExtraCSI{Driver: "secrets-store.csi.k8s.io", VolumeAttributes: map[string]string{"secretProviderClass": "x"}}},
	}
	n.Spec.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{
		{Name: "ca", MountPath: "/etc/ssl/certs/extra.pem", SubPath: "certs/ca.pem"},
		{Name: "secret", MountPath: "/mnt/secret"}, {Name: "scratch", MountPath: "/mnt/scratch"},
		{Name: "both", MountPath: "/mnt/both"}, {Name: "vault", MountPath: "/mnt/vault"},
	}
	return n
}

func TestExtras_AreInSeidsContainerAlone(t *testing.T) {
	wantEnv := []corev1.EnvVar{
		{Name: "GOMEMLIMIT", Value: "8GiB"},
		{Name: "PROXY_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "proxy"}, Key: "password",
		}}},
		{Name: "HTTPS_PROXY", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "proxy"}, Key: "url",
		}}},
	}
	wantMounts := []corev1.VolumeMount{
		{Name: "extra-ca", MountPath: "/etc/ssl/certs/extra.pem", SubPath: "certs/ca.pem", ReadOnly: true},
		{Name: "extra-secret", MountPath: "/mnt/secret", ReadOnly: true},
		{Name: "extra-scratch", MountPath: "/mnt/scratch"},
		{Name: "extra-both", MountPath: "/mnt/both", ReadOnly: true},
		{Name: "extra-vault", MountPath: "/mnt/vault", ReadOnly: true},
	}
	n, plain := withExtras(replayer()), replayer()
	for what, pods := range map[string][2]corev1.PodSpec{
		"the pod":           {podSpec(t, input(plain)), podSpec(t, input(n))},
		"the bootstrap Job": {job(t, input(plain)).Spec.Template.Spec, job(t, input(n)).Spec.Template.Spec},
	} {
		before, after := containers(pods[0]), containers(pods[1])
		for name, c := range after {
			env, mounts := slices.Clone(before[name].Env), slices.Clone(before[name].VolumeMounts)
			if name == render.ContainerSeid {
				env, mounts = append(env, wantEnv...), append(mounts, wantMounts...)
			}
			if diff := cmp.Diff(env, c.Env); diff != "" {
				t.Errorf("%s: environment of %s (-want +got):\n%s", what, name, diff)
			}
			if diff := cmp.Diff(mounts, c.VolumeMounts); diff != "" {
				t.Errorf("%s: mounts of %s (-want +got):\n%s", what, name, diff)
			}
		}
	}
}

func TestExtras_VolumesAreThoseOfTheSpec(t *testing.T) {
	items := []corev1.KeyToPath{{Key: "ca.crt", Path: "certs/ca.pem"}}
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	want := []corev1.Volume{
		{Name: "extra-ca", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: named("ca-bundle"), Items: items, DefaultMode: new(int32(0o444)),
		}}},
		{Name: "extra-secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "client-cert", Items: items, DefaultMode: new(int32(0o400)),
		}}},
		{Name: "extra-scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: new(quantity("1Gi")),
		}}},
		{Name: "extra-both", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: new(int32(0o400)),
			Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("ca-bundle")}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: named("client-cert"), Items: items}},
			},
		}}},
		{Name: "extra-vault", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver: "secrets-store.csi.k8s.io", ReadOnly: new(true), VolumeAttributes: map[string]string{"secretProviderClass": "x"},
		}}},
	}
	got := slices.DeleteFunc(podSpec(t, input(withExtras(validator()))).Volumes, func(v corev1.Volume) bool { return !strings.HasPrefix(v.Name, "extra-") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
}

// extraSecret are all the ways to give a Secret to seid.
func extraSecret(name v1alpha1.ExtraSecretName) map[string]func(*v1alpha1.SeiNodeSpec) {
	return map[string]func(*v1alpha1.SeiNodeSpec){
		"spec.extraEnv": func(s *v1alpha1.SeiNodeSpec) {
			s.ExtraEnv = []v1alpha1.ExtraEnvVar{{Name: "X", ValueFrom: &v1alpha1.ExtraEnvSource{SecretKeyRef: &v1alpha1.ExtraSecretKeyRef{Name: name, Key: "x"}}}}
		},
		"spec.extraVolumes": func(s *v1alpha1.SeiNodeSpec) {
			// As seid's own mount of a key would be: what looks at the pod alone lets it pass.
			key := v1alpha1.ExtraItem{Key: v1alpha1.SecretKeySigningKey, Path: v1alpha1.SecretKeySigningKey}
			s.ExtraVolumes = []v1alpha1.ExtraVolume{{Name: "x", Secret: &v1alpha1.ExtraSecret{SecretName: name, Items: []v1alpha1.ExtraItem{key}}}}
			s.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{{Name: "x", MountPath: "/mnt/x", SubPath: v1alpha1.SecretKeySigningKey}}
		},
		"spec.extraVolumes: projected": func(s *v1alpha1.SeiNodeSpec) {
			s.ExtraVolumes = []v1alpha1.ExtraVolume{{Name: "x", Projected: &v1alpha1.ExtraProjected{
				Sources: []v1alpha1.ExtraProjection{{Secret: &v1alpha1.ExtraProjectedSecret{Name: name}}},
			}}}
		},
	}
}

// seid has the keys that it needs where they are pinned and compared before every start, and none of the
// sidecar's.
func TestExtras_SecretsWithKeysOfTheNode_AreRefused(t *testing.T) {
	keyring := validator().Spec.OperatorKeyringSecret()
	for _, name := range []string{
		validator().Spec.SigningKeySecret(), validator().Spec.NodeKeySecret(), keyring.SecretName,
		keyring.PassphraseSecretRef.SecretName, render.CertificateName(validator()), "other-sidecar-tls",
	} {
		for field, change := range extraSecret(v1alpha1.ExtraSecretName(name)) {
			n := validator()
			change(&n.Spec)
			if _, err := render.StatefulSet(input(n)); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(field, ": projected")+" cannot have Secret "+name) {
				t.Errorf("%s with Secret %s: %v", field, name, err)
			}
		}
	}
	for field, change := range extraSecret("another") {
		n := validator()
		change(&n.Spec)
		if _, err := render.StatefulSet(input(n)); err != nil {
			t.Errorf("%s with a Secret that holds no key: %v", field, err)
		}
	}
}

// What admission refuses is refused without it too, in the pod and in the bootstrap Job.
func TestExtras_ReservedVariablesAndPaths_AreRefused(t *testing.T) {
	try := func(change func(*v1alpha1.SeiNodeSpec)) []error {
		n := replayer()
		change(&n.Spec)
		_, pod := render.StatefulSet(input(n))
		_, job := render.BootstrapJob(input(n))
		return []error{pod, job}
	}
	names := slices.Clone(render.ReservedVariables)
	for _, prefix := range render.ReservedPrefixes {
		names = append(names, prefix, prefix+"X")
	}
	for _, name := range append(names, "SEI_HOME", "SEID_MODE", "SEIDMODE", "SEID_PRIV_VALIDATOR_LADDR", "LD_PRELOAD") {
		for _, err := range try(func(s *v1alpha1.SeiNodeSpec) { s.ExtraEnv = []v1alpha1.ExtraEnvVar{{Name: name}} }) {
			if err == nil || !strings.Contains(err.Error(), "spec.extraEnv cannot set "+name) {
				t.Errorf("variable %s: %v", name, err)
			}
		}
	}
	for _, path := range []string{
		"/home/nonroot/.sei/config", "/home/nonroot", "/home", "/", "/opt/sei", "/tmp", "/etc/sei", "/var/run/secrets/kubernetes.io/serviceaccount",
		"/usr/bin/seid", "/etc/ld.so.preload", "/mnt", "/mnt/", "/mnt/../tmp", "/mnt/.", "/mnt//a", "/mntx/a", "/etc/ssl/certs", "mnt/a", "/mnt/a:b",
	} {
		for _, err := range try(func(s *v1alpha1.SeiNodeSpec) {
			s.ExtraVolumeMounts = []v1alpha1.ExtraVolumeMount{{Name: "x", MountPath: path}}
		}) {
			if err == nil || !strings.Contains(err.Error(), "spec.extraVolumeMounts cannot mount at "+path) {
				t.Errorf("mount at %s: %v", path, err)
			}
		}
	}
}
