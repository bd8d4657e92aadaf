package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

const (
	// modeKey is asked for on key files. They belong to root, so the kubelet adds
	// group read for the pod's fsGroup (0440 in effect), which is how a process
	// that is not root can read them and nobody else can.
	modeKey int32 = 0o400
	// modeReadable is for files without secrets.
	modeReadable int32 = 0o444
)

// keyVolumes are the volumes of the key Secrets that the node refers to. Of each
// key Secret a single item is taken, whatever else it holds.
func (p pod) keyVolumes() []*corev1ac.VolumeApplyConfiguration {
	if !p.withKeys {
		return nil
	}
	var volumes []*corev1ac.VolumeApplyConfiguration
	spec := &p.Node.Spec
	if name := spec.SigningKeySecret(); name != "" {
		volumes = append(volumes, keyVolume(volumeSigning, name, v1alpha1.SecretKeySigningKey))
	}
	if name := spec.NodeKeySecret(); name != "" {
		volumes = append(volumes, keyVolume(volumeNodeKey, name, v1alpha1.SecretKeyNodeKey))
	}
	if keyring := spec.OperatorKeyringSecret(); keyring != nil {
		source := corev1ac.SecretVolumeSource().WithSecretName(keyring.SecretName).WithDefaultMode(modeKey)
		passphrase := keyring.PassphraseSecretRef
		volumes = append(volumes,
			corev1ac.Volume().WithName(volumeKeyring).WithSecret(source),
			keyVolume(volumePhrase, passphrase.SecretName, passphrase.Key))
	}
	return volumes
}

func keyVolume(volume, secret, key string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(volume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(secret).
		WithDefaultMode(modeKey).
		WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(key).WithMode(modeKey)))
}

// seidKeyMounts give seid the key it signs with and its identity.
//
// They are mounted by subPath: such a mount does not follow edits of the Secret under a running
// container. It is resolved again when the container restarts, which is why the gate compares the
// key with the one it was opened for before every start. The init
// container gets neither: on an empty volume the runtime would make the config
// directory for the mount, owned by root, and seid could not write to it. The
// keys that init generates there lie hidden under the mounts.
func (p pod) seidKeyMounts() []*corev1ac.VolumeMountApplyConfiguration {
	if !p.withKeys || p.Node.Spec.SigningKeySecret() == "" {
		return p.nodeKeyMounts()
	}
	signing := keyMount(volumeSigning, seidHome.ConsensusKey(), v1alpha1.SecretKeySigningKey)
	return append([]*corev1ac.VolumeMountApplyConfiguration{signing}, p.nodeKeyMounts()...)
}

// sidecarKeyMounts give the sidecar the identity it reports, and the account it
// signs governance transactions with. Keyring and passphrase are directories that follow edits of
// their Secrets: the two are changed together, and read for every signature.
func (p pod) sidecarKeyMounts() []*corev1ac.VolumeMountApplyConfiguration {
	mounts := p.nodeKeyMounts()
	if p.withKeys && p.Node.Spec.OperatorKeyringSecret() != nil {
		mounts = append(mounts,
			mount(volumeKeyring, seidHome.KeyringFile()).WithReadOnly(true),
			mount(volumePhrase, passphraseDir).WithReadOnly(true))
	}
	return mounts
}

func (p pod) nodeKeyMounts() []*corev1ac.VolumeMountApplyConfiguration {
	if !p.withKeys || p.Node.Spec.NodeKeySecret() == "" {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		keyMount(volumeNodeKey, seidHome.NodeKey(), v1alpha1.SecretKeyNodeKey),
	}
}

func keyMount(volume, path, key string) *corev1ac.VolumeMountApplyConfiguration {
	return mount(volume, path).WithSubPath(key).WithReadOnly(true)
}

// keyringBackend is how a validator's operator account is stored. Other nodes
// sign nothing.
func (p pod) keyringBackend() string {
	switch {
	case p.Node.Spec.Validator == nil:
		return ""
	case p.withKeys && p.Node.Spec.OperatorKeyringSecret() != nil:
		return keyringFile
	default:
		return keyringTest
	}
}

func (p pod) keyringEnv() []*corev1ac.EnvVarApplyConfiguration {
	backend := p.keyringBackend()
	if backend == "" {
		return nil
	}
	vars := []*corev1ac.EnvVarApplyConfiguration{
		env(envKeyringBackend, backend),
		env(envKeyringDir, string(seidHome)),
	}
	if backend == keyringFile {
		ref := p.Node.Spec.OperatorKeyringSecret().PassphraseSecretRef
		vars = append(vars, env(envPassphraseFile, passphraseDir+"/"+ref.Key))
	}
	return vars
}
