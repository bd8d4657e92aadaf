package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// ReservedVariables are variables that extraEnv cannot set. HOME, TMPDIR and PATH are how the gate and
// seid find their files and programs. UPGRADE_VERSION_LIST replaces the list of upgrades that a release
// of seid has, so that it would apply one that its code does not know.
var ReservedVariables = []string{"HOME", "PATH", "TMPDIR", "UPGRADE_VERSION_LIST"}

// ReservedPrefixes are those of further such variables: what the sidecar's programs read (SEI_), every
// setting of seid, which prefers SEID_ to its files, and what would load other code into it (LD_).
var ReservedPrefixes = []string{"SEI", "LD_"}

// extraMountPath is where extraVolumeMounts may mount. Nothing of the operator is there, and nothing that
// an image runs. Images have seid in places that nobody can list, so it is said what may be covered, not
// what may not.
var extraMountPath = regexp.MustCompile(`^/(mnt|etc/ssl/certs)(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`)

// checkExtras refuses what admission refuses too: the definitions in the cluster may be older or edited,
// and what keeps seid from keys must not depend on them.
func checkExtras(node *v1alpha1.SeiNode) error {
	spec := &node.Spec
	for _, e := range spec.ExtraEnv {
		if reserved(e.Name) {
			return fmt.Errorf("spec.extraEnv cannot set %s: remove it", e.Name)
		}
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			if err := checkExtraSecret(node, "spec.extraEnv", e.ValueFrom.SecretKeyRef.Name); err != nil {
				return err
			}
		}
	}
	for _, name := range extraVolumeSecrets(spec.ExtraVolumes) {
		if err := checkExtraSecret(node, "spec.extraVolumes", name); err != nil {
			return err
		}
	}
	for _, m := range spec.ExtraVolumeMounts {
		if !extraMountPath.MatchString(m.MountPath) {
			return fmt.Errorf("spec.extraVolumeMounts cannot mount at %s: mount below /mnt or /etc/ssl/certs", m.MountPath)
		}
	}
	return nil
}

func reserved(name string) bool {
	return slices.Contains(ReservedVariables, name) ||
		slices.ContainsFunc(ReservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// extraVolumeSecrets are the Secrets that the volumes hold.
func extraVolumeSecrets(volumes []v1alpha1.ExtraVolume) []v1alpha1.ExtraSecretName {
	var names []v1alpha1.ExtraSecretName
	for i := range volumes {
		v := &volumes[i]
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				names = append(names, s.Secret.Name)
			}
		}
	}
	return names
}

// checkExtraSecret refuses the Secrets with keys of the node, also those that seid has anyway: it has
// them in the one place where they are pinned and compared.
func checkExtraSecret(node *v1alpha1.SeiNode, field string, name v1alpha1.ExtraSecretName) error {
	if NodeOfCertificate(string(name)) != "" {
		return fmt.Errorf("%s cannot have Secret %s: it holds the certificate of a sidecar; remove it", field, name)
	}
	for _, secret := range keySecrets(node) {
		if secret.name == string(name) {
			return fmt.Errorf("%s cannot have Secret %s: it holds the %s; remove it", field, name, secret.what)
		}
	}
	return nil
}
