package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// storeFile is the sidecar's store of tasks. Some of them sign with the account key that a ceremony
// leaves in the test keyring. Both are on the node's volume, and seid has no business with either.
// The sidecar's init makes the keyring's directory, and its process the store, before seid's container
// is made: otherwise the container runtime would make a place for the cover, and leave it to root.
const storeFile = "sidecar.bolt"

// hiddenVolumes are those that hide needs.
func (p pod) hiddenVolumes() []*corev1ac.VolumeApplyConfiguration {
	if p.Node.Spec.Validator == nil {
		return nil
	}
	return []*corev1ac.VolumeApplyConfiguration{emptyDir(volumeHidden)}
}

// hide covers in seid's container what is hidden from it: an empty directory, which cannot be written
// to, lies over the keyring, and the sidecar's program, which anybody may read, over the store. Only
// validators have such a key, and tasks that sign.
func (p pod) hide() []*corev1ac.VolumeMountApplyConfiguration {
	if p.Node.Spec.Validator == nil {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		mount(volumeHidden, seidHome.KeyringTest()).WithReadOnly(true),
		mount(volumeBin, seidHome.Path(storeFile)).WithSubPath(sidecarProgram).WithReadOnly(true),
	}
}
