package podsim

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The storage classes a simulator offers. The first is the default class.
const (
	// ClassDefault binds when a pod needs the claim, and can be resized.
	ClassDefault = "sim"
	// ClassImmediate binds at once, and can be resized.
	ClassImmediate = "sim-immediate"
	// ClassFixed binds when a pod needs the claim, and cannot be resized.
	ClassFixed = "sim-fixed"
)

const (
	provisioner            = "disk.podsim.test"
	annotationSelectedNode = "volume.kubernetes.io/selected-node"
	annotationProvisioned  = "pv.kubernetes.io/provisioned-by"
)

func (s *Simulator) createStorageClasses(ctx context.Context) error {
	class := func(name string, mode storagev1.VolumeBindingMode, expandable bool) *storagev1.StorageClass {
		return &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner,
			VolumeBindingMode: &mode, AllowVolumeExpansion: &expandable,
		}
	}
	standard := class(ClassDefault, storagev1.VolumeBindingWaitForFirstConsumer, true)
	standard.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	for _, c := range []*storagev1.StorageClass{
		standard,
		class(ClassImmediate, storagev1.VolumeBindingImmediate, true),
		class(ClassFixed, storagev1.VolumeBindingWaitForFirstConsumer, false),
	} {
		_, err := s.client.StorageV1().StorageClasses().Create(ctx, c, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("making storage class %s: %w", c.Name, err)
		}
	}
	return nil
}

// HoldClaim keeps a claim from being provisioned or resized until the returned
// function is called.
func (s *Simulator) HoldClaim(namespace, name string) (release func()) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[key] = true
	return func() {
		s.mu.Lock()
		delete(s.held, key)
		s.mu.Unlock()
		s.claimQueue.Add(key)
	}
}

func (s *Simulator) claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	obj, exists, err := s.claims.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return nil, err
	}
	claim, _ := obj.(*corev1.PersistentVolumeClaim)
	return claim, nil
}

func (s *Simulator) class(claim *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	obj, exists, err := s.classes.GetStore().GetByKey(*claim.Spec.StorageClassName)
	if err != nil || !exists {
		return nil
	}
	class, _ := obj.(*storagev1.StorageClass)
	return class
}

func usesClaim(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// prepareClaims is the scheduler's part: it names the node for claims that wait
// for one, and says what stands in the way.
func (s *Simulator) prepareClaims(ctx context.Context, pod *corev1.Pod, n *node) (waits bool, obstacle string, err error) {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		claim, err := s.claim(pod.Namespace, name)
		switch {
		case err != nil:
			return false, "", err
		case claim == nil:
			return false, fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case claim.DeletionTimestamp != nil:
			return false, fmt.Sprintf("persistentvolumeclaim %q is being deleted", name), nil
		case isBound(claim):
			continue
		}
		class := s.class(claim)
		if class == nil || class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate {
			return false, "pod has unbound immediate PersistentVolumeClaims", nil
		}
		waits = true
		if claim.Annotations[annotationSelectedNode] == "" {
			if err := s.selectNode(ctx, claim, n.name); err != nil {
				return false, "", err
			}
		}
	}
	return waits, "", nil
}

func isBound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName != "" && claim.Status.Phase == corev1.ClaimBound
}

func (s *Simulator) selectNode(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, claim.UID, annotationSelectedNode, node)
	_, err := s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("choosing a node for claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return nil
}

// syncClaim is the provisioner's part: it makes volumes, resizes them, and
// removes them with their claims.
func (s *Simulator) syncClaim(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	s.mu.Lock()
	held := s.held[key]
	s.mu.Unlock()
	claim, err := s.claim(key.Namespace, key.Name)
	if err != nil || held {
		return 0, err
	}
	if claim == nil {
		return 0, s.removeReleased(ctx, key)
	}
	class := s.class(claim)
	if class == nil || class.Provisioner != provisioner || claim.DeletionTimestamp != nil {
		return 0, nil
	}
	immediate := class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate
	switch {
	case isBound(claim):
		return 0, s.resize(ctx, claim)
	case claim.Spec.VolumeName == "" && (immediate || claim.Annotations[annotationSelectedNode] != ""):
		return 0, s.provision(ctx, claim, class)
	default:
		return 0, nil
	}
}
