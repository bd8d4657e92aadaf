package fleet

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Retains reports whether what the fleet has made outlives it.
func Retains(snd *v1alpha1.SeiNodeDeployment) bool {
	return snd.Spec.DeletionPolicy == v1alpha1.VolumeRetain
}

// ownerReferences make an object the fleet's for the garbage collector. What is to outlive the
// fleet has none: in a foreground deletion the collector acts on them before any finalizer can.
func ownerReferences(snd *v1alpha1.SeiNodeDeployment) []*metav1ac.OwnerReferenceApplyConfiguration {
	if Retains(snd) {
		return nil
	}
	return []*metav1ac.OwnerReferenceApplyConfiguration{metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind(v1alpha1.KindSeiNodeDeployment).
		WithName(snd.Name).
		WithUID(snd.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)}
}

// ownerAnnotations say whose an object is that has no owner reference. Objects with one go without:
// when somebody deletes the fleet with --cascade=orphan, they are to belong to nobody.
func ownerAnnotations(snd *v1alpha1.SeiNodeDeployment) map[string]string {
	if !Retains(snd) {
		return nil
	}
	return map[string]string{v1alpha1.AnnotationDeploymentUID: string(snd.UID)}
}

// Owns reports whether an object is the fleet's: it controls it, or nobody does and the object
// says that it was made by this very fleet.
func Owns(snd *v1alpha1.SeiNodeDeployment, obj metav1.Object) bool {
	if owner := metav1.GetControllerOfNoCopy(obj); owner != nil {
		return owner.UID == snd.UID
	}
	return snd.UID != "" && obj.GetAnnotations()[v1alpha1.AnnotationDeploymentUID] == string(snd.UID)
}

// Bound reports whether the garbage collector takes an object for a dependent of the fleet.
func Bound(snd *v1alpha1.SeiNodeDeployment, obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == snd.UID })
}

// Unbind takes the fleet out of an object's owners. Other owners stay.
func Unbind(snd *v1alpha1.SeiNodeDeployment, obj metav1.Object) {
	obj.SetOwnerReferences(slices.DeleteFunc(slices.Clone(obj.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == snd.UID }))
}

// ownedAsWanted reports whether an object's owner is as the fleet's policy asks for.
func ownedAsWanted(snd *v1alpha1.SeiNodeDeployment, obj metav1.Object) bool {
	if Retains(snd) {
		return !Bound(snd, obj)
	}
	return metav1.IsControlledBy(obj, snd)
}

// WithOwner is a node of the fleet with the owner that the fleet's policy asks for, and whether that
// changes anything. What is not the fleet's stays as it is.
func WithOwner(snd *v1alpha1.SeiNodeDeployment, live *v1alpha1.SeiNode) (*v1alpha1.SeiNode, bool) {
	if !Owns(snd, live) || ownedAsWanted(snd, live) || live.DeletionTimestamp != nil {
		return live, false
	}
	node := live.DeepCopy()
	if Retains(snd) {
		Unbind(snd, node)
		node.Annotations = maps.Clone(node.Annotations)
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		maps.Copy(node.Annotations, ownerAnnotations(snd))
		return node, true
	}
	node.OwnerReferences = append(node.OwnerReferences, *OwnerReference(snd))
	delete(node.Annotations, v1alpha1.AnnotationDeploymentUID)
	return node, true
}

// Staying is a node of the fleet without the note that it was to be removed by scaling down, and
// whether it had one: the fleet has grown again before the node went.
func Staying(snd *v1alpha1.SeiNodeDeployment, live *v1alpha1.SeiNode) (*v1alpha1.SeiNode, bool) {
	if !Owns(snd, live) {
		return live, false
	}
	return Released(live)
}

// Released is a node that runs on without the fleet, and whether that changes anything: the note that it
// was to be removed by scaling down goes. Whoever deletes the node later asks for whenDeleted, and
// with the note its volume would get what whenScaled says.
func Released(live *v1alpha1.SeiNode) (*v1alpha1.SeiNode, bool) {
	if live.Annotations[v1alpha1.AnnotationScaledDown] == "" || live.DeletionTimestamp != nil {
		return live, false
	}
	node := live.DeepCopy()
	delete(node.Annotations, v1alpha1.AnnotationScaledDown)
	return node, true
}

// ScaledDown is a node with the note that it goes because of the fleet's size, and whether that
// changes anything: it does where its volume has another fate than that of a node that is deleted.
func ScaledDown(live *v1alpha1.SeiNode) (*v1alpha1.SeiNode, bool) {
	retention := live.Spec.VolumeRetention()
	if retention.WhenScaled == retention.WhenDeleted || live.Annotations[v1alpha1.AnnotationScaledDown] != "" {
		return live, false
	}
	node := live.DeepCopy()
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, v1alpha1.AnnotationScaledDown, "true")
	return node, true
}

// MayAdopt says why an object under one of the fleet's names must be left alone;
// empty means that the fleet may write it. What the fleet owns is its own; what
// nobody controls and carries its label is what an earlier fleet of the same name
// left behind.
func MayAdopt(snd *v1alpha1.SeiNodeDeployment, kind string, live metav1.Object) (problem string) {
	owner := metav1.GetControllerOfNoCopy(live)
	switch {
	case Owns(snd, live):
		return ""
	case owner != nil:
		return fmt.Sprintf("%s %s is controlled by %s %s: delete or rename one of the two", kind, live.GetName(), owner.Kind, owner.Name)
	case live.GetLabels()[v1alpha1.LabelDeployment] != snd.Name:
		return fmt.Sprintf("%s %s already exists and belongs to no fleet: delete it, or let this fleet adopt it with the label %s=%s",
			kind, live.GetName(), v1alpha1.LabelDeployment, snd.Name)
	default:
		return ""
	}
}
