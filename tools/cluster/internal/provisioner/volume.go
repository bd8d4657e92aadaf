// Package provisioner gives every claim of its storage class a folder and a "local" persistent volume. Such
// volumes honour fsGroup, which hostPath volumes do not, so pods that are not root can write. Sizes are recorded
// and not enforced. Only claims and volumes are its business.
package provisioner

import (
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Name is the provisioner as storage classes spell it.
const Name = "local-cluster/folder"

// Annotations by which the built-in volume controller talks to provisioners.
const (
	wantsProvisioner = "volume.kubernetes.io/storage-provisioner"
	provisionedBy    = "pv.kubernetes.io/provisioned-by"
)

// StorageClass is the cluster's default. Like the classes of cloud disks it waits for a pod, deletes volumes with
// their claims, and lets claims grow.
func StorageClass() *storagev1.StorageClass {
	wait, remove, grow := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete, true
	return &storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "local",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          Name,
		VolumeBindingMode:    &wait,
		ReclaimPolicy:        &remove,
		AllowVolumeExpansion: &grow,
	}
}

// needsVolume tells whether the volume controller waits for us. It sets the annotation only once the claim may be
// provisioned: for classes that wait for a pod, after the pod has a node.
func needsVolume(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[wantsProvisioner] == Name && claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil
}

// isSpent tells whether the claim of a volume is gone and the volume should follow.
func isSpent(volume *corev1.PersistentVolume) bool {
	return volume.Annotations[provisionedBy] == Name && volume.Status.Phase == corev1.VolumeReleased &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// hasGrown tells whether a bound claim asks for more than its volume holds.
func hasGrown(claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) bool {
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return volume.Annotations[provisionedBy] == Name && claim.Status.Phase == corev1.ClaimBound &&
		(wanted.Cmp(volume.Spec.Capacity[corev1.ResourceStorage]) > 0 || wanted.Cmp(claim.Status.Capacity[corev1.ResourceStorage]) > 0)
}

func volumeName(claim *corev1.PersistentVolumeClaim) string { return "pvc-" + string(claim.UID) }

// volumeFor describes the volume of a claim, bound to it from the start and tied to the node.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, folder, node string) *corev1.PersistentVolume {
	name := volumeName(claim)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: Name}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: filepath.Join(folder, name)}},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
				}},
			}}}},
		},
	}
}
