package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// DataClaim is the claim the node lives on, or nil if the node imports one:
// another owner's claim is never written to.
//
// A claim has no owner, whatever its policy, so that no garbage collector can take it: not when a
// policy was changed while no operator ran, not in a foreground deletion. The node's finalizer
// deletes it where the policy says so. Of a claim that exists only the size, the labels and the
// annotation may change; the rest says what a new one would be.
func DataClaim(in Input) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	if in.Node.Spec.ImportedClaim() != "" {
		return nil
	}
	policy := DeletionPolicy(in.Node)
	claim := corev1ac.PersistentVolumeClaim(ClaimName(in.Node), in.Node.Namespace).
		WithLabels(objectLabels(in.Node)).
		WithAnnotations(map[string]string{AnnotationDeletionPolicy: string(policy)}).
		WithSpec(corev1ac.PersistentVolumeClaimSpec().
			WithAccessModes(corev1.ReadWriteOnce).
			WithResources(corev1ac.VolumeResourceRequirements().
				WithRequests(corev1.ResourceList{corev1.ResourceStorage: DataSize(in)})))
	if class := storageClass(in); class != nil {
		claim.Spec.WithStorageClassName(*class)
	}
	return claim
}

// DataSize is the size the node's volume should have: the node's own wish, else
// the platform's for its mode.
func DataSize(in Input) resource.Quantity {
	if v := in.Node.Spec.DataVolume; v != nil && v.Size != nil {
		return *v.Size
	}
	return in.Platform.StorageSizeFor(in.role())
}

// DeletionPolicy says what becomes of the node's volume with the node. Imported
// claims always stay.
func DeletionPolicy(node *v1alpha1.SeiNode) v1alpha1.VolumeDeletionPolicy {
	retention := node.Spec.VolumeRetention()
	if node.Annotations[v1alpha1.AnnotationScaledDown] != "" && node.DeletionTimestamp != nil {
		return retention.WhenScaled
	}
	return retention.WhenDeleted
}

func storageClass(in Input) *string {
	if v := in.Node.Spec.DataVolume; v != nil && v.StorageClassName != nil {
		return v.StorageClassName
	}
	return in.Platform.StorageClassFor(in.role())
}
