package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// keySecret is one Secret with key material, and who may have it how.
type keySecret struct {
	what string
	name string
	// mountedBy are the containers that may mount it.
	mountedBy []string
	// key is set when only that one of its files may be mounted.
	key string
	// pinned: it must not follow edits of the Secret under a running container.
	pinned bool
}

func keySecrets(node *v1alpha1.SeiNode) []keySecret {
	secrets := []keySecret{
		{what: "signing key", name: node.Spec.SigningKeySecret(), mountedBy: []string{ContainerSeid}, key: v1alpha1.SecretKeySigningKey, pinned: true},
		{what: "sidecar certificate", name: CertificateName(node), mountedBy: []string{ContainerSidecar}},
		{what: "node key", name: node.Spec.NodeKeySecret(), mountedBy: []string{ContainerSeid, ContainerSidecar}, key: v1alpha1.SecretKeyNodeKey, pinned: true},
	}
	if keyring := node.Spec.OperatorKeyringSecret(); keyring != nil {
		secrets = append(secrets,
			keySecret{what: "operator keyring", name: keyring.SecretName, mountedBy: []string{ContainerSidecar}},
			keySecret{
				what: "keyring passphrase", name: keyring.PassphraseSecretRef.SecretName,
				mountedBy: []string{ContainerSidecar}, key: keyring.PassphraseSecretRef.Key,
			})
	}
	return slices.DeleteFunc(secrets, func(s keySecret) bool { return s.name == "" })
}

// CheckSecrets refuses a pod of the node in which a key Secret can be reached
// from a container, or in a way, that has no business with it. It looks at the
// rendered pod alone and knows nothing of how it was rendered, so that a mistake
// there is caught here.
func CheckSecrets(pod *corev1ac.PodSpecApplyConfiguration, node *v1alpha1.SeiNode) error {
	return checkPod(pod, keySecrets(node))
}

// CheckBootstrapSecrets refuses a pod of the bootstrap Job that refers to any
// Secret with a key of the chain: replaying blocks needs no key, and a key in a second
// pod could sign twice.
func CheckBootstrapSecrets(pod *corev1ac.PodSpecApplyConfiguration, node *v1alpha1.SeiNode) error {
	secrets := keySecrets(node)
	for i := range secrets {
		if secrets[i].name == CertificateName(node) {
			continue // the Job's sidecar has to prove whose it is, too
		}
		secrets[i].mountedBy = nil
	}
	return checkPod(pod, secrets)
}

func checkPod(pod *corev1ac.PodSpecApplyConfiguration, secrets []keySecret) error {
	if len(secrets) == 0 {
		return nil
	}
	tree, err := jsonTree(pod)
	if err != nil {
		return fmt.Errorf("checking secrets: %w", err)
	}
	fields, _ := tree.(map[string]any)
	for _, secret := range secrets {
		if err := secret.check(fields); err != nil {
			return fmt.Errorf("refusing to render a pod that leaks the %s (Secret %s): %w", secret.what, secret.name, err)
		}
	}
	return nil
}

func (s keySecret) check(pod map[string]any) error {
	volumes := map[string]bool{}
	for _, volume := range objects(pod["volumes"]) {
		if !s.referredIn(volume) {
			continue
		}
		if err := s.checkVolume(volume); err != nil {
			return err
		}
		volumes[fmt.Sprint(volume["name"])] = true
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range objects(pod[list]) {
			if err := s.checkContainer(container, volumes); err != nil {
				return fmt.Errorf("container %v: %w", container["name"], err)
			}
		}
	}
	rest := maps.Clone(pod)
	for _, seen := range []string{"volumes", "initContainers", "containers", "ephemeralContainers"} {
		delete(rest, seen)
	}
	if s.referredIn(rest) {
		return fmt.Errorf("the pod refers to it outside of volumes and containers")
	}
	return nil
}

// checkVolume allows nothing but a Secret volume, with the one file that is
// wanted where there is just one.
func (s keySecret) checkVolume(volume map[string]any) error {
	if len(s.mountedBy) == 0 {
		return fmt.Errorf("volume %v holds it", volume["name"])
	}
	source, plain := volume["secret"].(map[string]any)
	if !plain {
		return fmt.Errorf("volume %v mixes it with other sources", volume["name"])
	}
	if s.key == "" {
		return nil
	}
	items := objects(source["items"])
	if len(items) != 1 || items[0]["key"] != s.key {
		return fmt.Errorf("volume %v takes more of it than %s", volume["name"], s.key)
	}
	return nil
}

func (s keySecret) checkContainer(container map[string]any, volumes map[string]bool) error {
	name := fmt.Sprint(container["name"])
	if s.referredIn(container["envFrom"]) {
		return fmt.Errorf("all of it would be in the environment")
	}
	if s.referredIn(container["env"]) {
		return fmt.Errorf("it would be in the environment")
	}
	for _, device := range objects(container["volumeDevices"]) {
		if volumes[fmt.Sprint(device["name"])] {
			return fmt.Errorf("it would be attached as a device")
		}
	}
	for _, mount := range objects(container["volumeMounts"]) {
		if !volumes[fmt.Sprint(mount["name"])] {
			continue
		}
		switch {
		case !slices.Contains(s.mountedBy, name):
			return fmt.Errorf("it would be mounted at %v", mount["mountPath"])
		case mount["readOnly"] != true:
			return fmt.Errorf("it would be mounted at %v for writing", mount["mountPath"])
		case s.pinned && mount["subPath"] != s.key:
			return fmt.Errorf("it would be mounted at %v as a directory that follows edits of the Secret", mount["mountPath"])
		}
	}
	return nil
}

// referredIn looks for a reference to the Secret anywhere in a part of the pod,
// by the names of the fields in which Kubernetes keeps such references.
func (s keySecret) referredIn(part any) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, s.referredIn)
	case map[string]any:
		for field, value := range part {
			if s.named(field, value) || s.referredIn(value) {
				return true
			}
		}
	}
	return false
}

func (s keySecret) named(field string, value any) bool {
	if field == "secretName" {
		return value == s.name
	}
	field = strings.ToLower(field)
	if field == "imagepullsecrets" {
		return slices.ContainsFunc(objects(value), func(o map[string]any) bool { return o["name"] == s.name })
	}
	reference, isObject := value.(map[string]any)
	isSecret := field == "secret" || field == "secretkeyref" || strings.HasSuffix(field, "secretref")
	return isObject && isSecret && reference["name"] == s.name
}

func objects(list any) []map[string]any {
	items, _ := list.([]any)
	out := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}
