package podsim

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// labelClaim finds the volume of a claim that is gone.
const labelClaim = "podsim.test/claim"

// provision makes a volume for a claim. The binder of kube-controller-manager
// puts the two together, unless BindClaims is set.
func (s *Simulator) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	reclaim := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{annotationProvisioned: provisioner},
			Labels:      map[string]string{labelClaim: claimLabel(claim.Namespace, claim.Name)},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			StorageClassName: class.Name, PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: provisioner, VolumeHandle: string(claim.UID),
			}},
		},
	}
	_, err := s.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making a volume for claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	if s.opts.BindClaims {
		return s.bind(ctx, claim, volume)
	}
	return nil
}

// bind does what the binder would.
func (s *Simulator) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) error {
	claims := s.client.CoreV1().PersistentVolumeClaims(claim.Namespace)
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":%q}}`,
		claim.UID, volume.Name)
	if _, err := claims.Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("binding claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return s.patchClaimStatus(ctx, claim, corev1.PersistentVolumeClaimStatus{
		Phase: corev1.ClaimBound, AccessModes: volume.Spec.AccessModes, Capacity: volume.Spec.Capacity,
	})
}

func (s *Simulator) patchClaimStatus(ctx context.Context, claim *corev1.PersistentVolumeClaim, status corev1.PersistentVolumeClaimStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": claim.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("encoding the status of a claim: %w", err)
	}
	_, err = s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return nil
}

// resize grows the volume first and the claim's capacity afterwards.
func (s *Simulator) resize(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if wanted.Cmp(claim.Status.Capacity[corev1.ResourceStorage]) <= 0 {
		return nil
	}
	patch := fmt.Appendf(nil, `{"spec":{"capacity":{"storage":%q}}}`, wanted.String())
	_, err := s.client.CoreV1().PersistentVolumes().Patch(ctx, claim.Spec.VolumeName, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("resizing volume %s: %w", claim.Spec.VolumeName, err)
	}
	return s.patchClaimStatus(ctx, claim, corev1.PersistentVolumeClaimStatus{
		Phase: corev1.ClaimBound, Capacity: corev1.ResourceList{corev1.ResourceStorage: wanted},
	})
}

// removeReleased deletes the volumes of a claim that is gone, if their policy
// says so.
func (s *Simulator) removeReleased(ctx context.Context, claim types.NamespacedName) error {
	volumes := s.client.CoreV1().PersistentVolumes()
	list, err := volumes.List(ctx, metav1.ListOptions{LabelSelector: labelClaim + "=" + claimLabel(claim.Namespace, claim.Name)})
	if err != nil {
		return fmt.Errorf("looking for released volumes: %w", err)
	}
	for _, v := range list.Items {
		if v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete || v.DeletionTimestamp != nil {
			continue
		}
		if err := volumes.Delete(ctx, v.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("removing volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// claimLabel fits any namespace and name into a label.
func claimLabel(namespace, name string) string {
	return fmt.Sprintf("%x", hash(namespace+"/"+name))
}
