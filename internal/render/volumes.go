package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Where things are in the pod.
const (
	userHome   = "/home/nonroot"
	installDir = "/opt/sei"
	tmpDir     = "/tmp"
	// passphraseDir is where the sidecar has the passphrase of its keyring.
	passphraseDir = "/etc/sei/keyring-passphrase" //nolint:gosec // a path, not a secret
	// tokenDir is where programs look for the API server's token and certificate.
	tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // a path, not a secret
)

// Names of the volumes.
const (
	volumeData    = "data"
	volumeHome    = "home"
	volumeBin     = "sidecar-bin"
	volumeTmp     = "tmp"
	volumeToken   = "api-access"
	volumeTLS     = "sidecar-tls"
	volumeSigning = "signing-key"
	volumeNodeKey = "node-key"
	volumeKeyring = "operator-keyring"
	volumePhrase  = "keyring-passphrase"
	volumeHidden  = "hidden"
	// Those of the sidecar alone.
	volumeSidecarHome = "sidecar-home"
	volumeSidecarTmp  = "sidecar-tmp"
)

// tokenSeconds is how long the sidecar's API token lives. It differs on purpose
// from the 3607 s of mounted-by-default tokens, which API servers extend to a year.
const tokenSeconds = 3600

func (p pod) volumes() []*corev1ac.VolumeApplyConfiguration {
	claim := corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(ClaimName(p.Node))
	volumes := append(append(p.keyVolumes(), p.hiddenVolumes()...),
		corev1ac.Volume().WithName(volumeData).WithPersistentVolumeClaim(claim),
		emptyDir(volumeHome),
		emptyDir(volumeBin),
		emptyDir(volumeTmp),
		emptyDir(volumeSidecarHome),
		emptyDir(volumeSidecarTmp),
		tokenVolume(),
	)
	return append(volumes, p.certificateVolumes()...)
}

func emptyDir(name string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).WithEmptyDir(corev1ac.EmptyDirVolumeSource())
}

// tokenVolume lets the sidecar ask the API server for the keys that verify its
// callers. The account behind it needs no permission: every service account may
// read those.
func tokenVolume() *corev1ac.VolumeApplyConfiguration {
	token := corev1ac.ServiceAccountTokenProjection().WithPath("token").WithExpirationSeconds(tokenSeconds)
	ca := corev1ac.ConfigMapProjection().WithName("kube-root-ca.crt").
		WithItems(corev1ac.KeyToPath().WithKey("ca.crt").WithPath("ca.crt"))
	return corev1ac.Volume().WithName(volumeToken).WithProjected(corev1ac.ProjectedVolumeSource().
		WithDefaultMode(modeReadable).
		WithSources(
			corev1ac.VolumeProjection().WithServiceAccountToken(token),
			corev1ac.VolumeProjection().WithConfigMap(ca),
		))
}

func mount(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path)
}

// homeMounts are what every process of the chain image gets: its home on the
// volume, nested in a home directory that may be written to, and a /tmp.
func homeMounts(home, tmp string) []*corev1ac.VolumeMountApplyConfiguration {
	return []*corev1ac.VolumeMountApplyConfiguration{
		mount(home, userHome),
		mount(volumeData, string(seidHome)),
		mount(volumeBin, installDir).WithReadOnly(true),
		mount(tmp, tmpDir),
	}
}
