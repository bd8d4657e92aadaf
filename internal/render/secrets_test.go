package render_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

// mutation breaks a rendered validator pod in one place.
type mutation struct {
	name   string
	change func(*corev1.PodSpec)
	// wants is part of the refusal; it names what leaks.
	wants string
}

// containerOf is nil, which the mutation trips over, if there is none.
func containerOf(spec *corev1.PodSpec, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func secretEnv(secret string) corev1.EnvVar {
	return corev1.EnvVar{Name: "X", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "x",
	}}}
}

func secretEnvFrom(secret string) corev1.EnvFromSource {
	return corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}
}

// leaks lists every way a key could get where it has no business.
func leaks() []mutation {
	what := map[string]string{
		"val-signing": "signing key", "val-identity": "node key",
		"val-keyring": "operator keyring", "val-passphrase": "keyring passphrase", "val-sidecar-tls": "sidecar certificate",
	}
	volumeOf := map[string]string{
		"val-signing": "signing-key", "val-identity": "node-key", "val-keyring": "operator-keyring", "val-passphrase": "keyring-passphrase",
		"val-sidecar-tls": "sidecar-tls",
	}
	mayMount := map[string]string{
		"val-signing": "seid", "val-identity": "seid sidecar", "val-keyring": "sidecar", "val-passphrase": "sidecar", "val-sidecar-tls": "sidecar",
	}
	var all []mutation
	add := func(secret, how string, change func(*corev1.PodSpec)) {
		all = append(all, mutation{name: secret + " " + how, change: change, wants: what[secret]})
	}
	for secret := range what {
		for _, c := range []string{"install", "seid-init", "sidecar", "seid"} {
			add(secret, "envFrom of "+c, func(s *corev1.PodSpec) {
				containerOf(s, c).EnvFrom = append(containerOf(s, c).EnvFrom, secretEnvFrom(secret))
			})
			add(secret, "env of "+c, func(s *corev1.PodSpec) { containerOf(s, c).Env = append(containerOf(s, c).Env, secretEnv(secret)) })
			if volume := volumeOf[secret]; volume != "" && !strings.Contains(mayMount[secret], c) {
				add(secret, "mounted by "+c, func(s *corev1.PodSpec) {
					m := corev1.VolumeMount{Name: volume, MountPath: "/x", ReadOnly: true, SubPath: "node_key.json"}
					containerOf(s, c).VolumeMounts = append(containerOf(s, c).VolumeMounts, m)
				})
			}
		}
		add(secret, "projected volume", func(s *corev1.PodSpec) {
			source := corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "x", VolumeSource: corev1.VolumeSource{
				Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}},
			}})
		})
		add(secret, "csi volume", func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "x", VolumeSource: corev1.VolumeSource{
				CSI: &corev1.CSIVolumeSource{Driver: "d", NodePublishSecretRef: &corev1.LocalObjectReference{Name: secret}},
			}})
		})
		add(secret, "image pull secret", func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}} })
		add(secret, "ephemeral container", func(s *corev1.PodSpec) {
			common := corev1.EphemeralContainerCommon{Name: "debug", EnvFrom: []corev1.EnvFromSource{secretEnvFrom(secret)}}
			s.EphemeralContainers = append(s.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: common})
		})
	}
	add("val-passphrase", "secret volume", func(s *corev1.PodSpec) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: "x", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "val-passphrase"}}})
	})
	for _, secret := range []string{"val-signing", "val-identity"} {
		mountOf := func(s *corev1.PodSpec) *corev1.VolumeMount {
			mounts := containerOf(s, "seid").VolumeMounts
			for i := range mounts {
				if mounts[i].Name == volumeOf[secret] {
					return &mounts[i]
				}
			}
			return nil
		}
		add(secret, "mounted for writing", func(s *corev1.PodSpec) { mountOf(s).ReadOnly = false })
		add(secret, "mounted as a directory", func(s *corev1.PodSpec) { mountOf(s).SubPath = "" })
		add(secret, "device", func(s *corev1.PodSpec) {
			containerOf(s, "seid").VolumeDevices = []corev1.VolumeDevice{{Name: volumeOf[secret], DevicePath: "/dev/x"}}
		})
		add(secret, "volume with every data key", func(s *corev1.PodSpec) {
			for i := range s.Volumes {
				if s.Volumes[i].Name == volumeOf[secret] {
					s.Volumes[i].Secret.Items = nil
				}
			}
		})
	}
	return all
}

func TestCheckSecrets_EveryLeak_IsRefusedByName(t *testing.T) {
	n := validator()
	for _, m := range leaks() {
		t.Run(m.name, func(t *testing.T) {
			spec := podSpec(t, input(n))
			m.change(&spec)
			err := render.CheckSecrets(typed[corev1ac.PodSpecApplyConfiguration](t, spec), n)
			if err == nil || !strings.Contains(err.Error(), m.wants) {
				t.Errorf("got %v, want a refusal that names the %s", err, m.wants)
			}
		})
	}
}

func TestCheckSecrets_RenderedPods_Pass(t *testing.T) {
	for name, n := range everyNode() {
		spec := podSpec(t, input(n))
		if err := render.CheckSecrets(typed[corev1ac.PodSpecApplyConfiguration](t, spec), n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckSecrets_OtherThingsOfTheSameName_AreNoLeak(t *testing.T) {
	n := validator()
	n.Spec.Validator.SigningKey.Secret.SecretName = "seid"
	n.Spec.Validator.NodeKey.Secret.SecretName = "data"
	if _, err := render.StatefulSet(input(n)); err != nil {
		t.Errorf("a Secret named like a container: %v", err)
	}
}

func TestStatefulSet_OneSecretForTwoPurposes_IsRefused(t *testing.T) {
	n := validator()
	n.Spec.Validator.OperatorKeyring.Secret.SecretName = "val-signing"
	if _, err := render.StatefulSet(input(n)); err == nil || !strings.Contains(err.Error(), "signing key") {
		t.Errorf("got %v, want a refusal: the sidecar would hold the signing key", err)
	}
}

func TestCheckBootstrapSecrets_AnyKeyAnywhere_IsRefused(t *testing.T) {
	n := validator()
	clean := job(t, input(n)).Spec.Template.Spec
	if err := render.CheckBootstrapSecrets(typed[corev1ac.PodSpecApplyConfiguration](t, clean), n); err != nil {
		t.Fatalf("a clean pod: %v", err)
	}
	for _, secret := range []string{"val-signing", "val-identity", "val-keyring", "val-passphrase"} {
		mutations := map[string]func(*corev1.PodSpec){
			"volume": func(s *corev1.PodSpec) {
				s.Volumes = append(s.Volumes, corev1.Volume{Name: "x", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}})
			},
			"env": func(s *corev1.PodSpec) {
				containerOf(s, "sidecar").Env = append(containerOf(s, "sidecar").Env, secretEnv(secret))
			},
			"envFrom": func(s *corev1.PodSpec) {
				containerOf(s, "seid").EnvFrom = []corev1.EnvFromSource{secretEnvFrom(secret)}
			},
		}
		for how, change := range mutations {
			spec := job(t, input(n)).Spec.Template.Spec
			change(&spec)
			if err := render.CheckBootstrapSecrets(typed[corev1ac.PodSpecApplyConfiguration](t, spec), n); err == nil {
				t.Errorf("%s by %s: passed", secret, how)
			}
		}
	}
	// What is right in the node's own pod is wrong in the Job's.
	own := podSpec(t, input(n))
	if err := render.CheckBootstrapSecrets(typed[corev1ac.PodSpecApplyConfiguration](t, own), n); err == nil {
		t.Error("the node's own pod passed for the Job's")
	}
}

func TestPod_KeyMounts_AreExactlyThese(t *testing.T) {
	spec := podSpec(t, input(validator()))
	got := map[string]bool{}
	for _, c := range containers(spec) {
		for _, m := range c.VolumeMounts {
			if m.Name == "signing-key" || m.Name == "node-key" || m.Name == "operator-keyring" {
				got[fmt.Sprintf("%s %s %s ro=%v", c.Name, m.MountPath, m.SubPath, m.ReadOnly)] = true
			}
		}
	}
	want := []string{
		"seid /home/nonroot/.sei/config/priv_validator_key.json priv_validator_key.json ro=true",
		"seid /home/nonroot/.sei/config/node_key.json node_key.json ro=true",
		"sidecar /home/nonroot/.sei/config/node_key.json node_key.json ro=true",
		"sidecar /home/nonroot/.sei/keyring-file  ro=true",
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("missing: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for _, v := range spec.Volumes {
		if v.Secret != nil && (v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o400) {
			t.Errorf("volume %s has mode %v", v.Name, v.Secret.DefaultMode)
		}
	}
}
