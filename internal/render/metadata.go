package render

import (
	"maps"
	"strings"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Annotations on pods.
const (
	// AnnotationTemplateHash identifies the whole rendered pod template.
	AnnotationTemplateHash = "sei.io/template-hash"
	// AnnotationSpecHash identifies the part of it that the SeiNode asked for.
	AnnotationSpecHash = "sei.io/spec-hash"
	// annotationDoNotDisrupt keeps Karpenter from moving a node for the sake of
	// packing: a node that moves has to catch up.
	annotationDoNotDisrupt = "karpenter.sh/do-not-disrupt"
)

// AnnotationPlan on a StatefulSet names the plan that has applied its pod template. An operator that
// takes over in the middle of the plan, and may render another template, knows by it that this one is
// the plan's.
const AnnotationPlan = "sei.io/plan"

// AnnotationAdoptedSpecHash on a StatefulSet says that it was adopted from another operator while its
// pod was left running, and for which spec: the pod stays until something else is asked for.
const AnnotationAdoptedSpecHash = "sei.io/adopted-spec-hash"

// AnnotationDeletionPolicy on a claim says what becomes of it with its node. A
// change of policy thereby differs in a field of the claim, not only in an owner
// reference that is gone.
const AnnotationDeletionPolicy = "sei.io/deletion-policy"

// selectorLabels find the node's pod. Selectors cannot change, so nothing that
// may change is among them.
func selectorLabels(node *v1alpha1.SeiNode) map[string]string {
	return map[string]string{v1alpha1.LabelNode: node.Name}
}

// objectLabels are on everything the operator makes for a node.
func objectLabels(node *v1alpha1.SeiNode) map[string]string {
	labels := selectorLabels(node)
	labels[v1alpha1.LabelChain] = node.Spec.ChainID
	labels[v1alpha1.LabelRole] = node.Spec.Role()
	if fleet := node.Labels[v1alpha1.LabelDeployment]; fleet != "" {
		labels[v1alpha1.LabelDeployment] = fleet
	}
	return labels
}

// podLabels are the user's labels and ours: Services, monitors and peers select by ours, so a
// user's label must not be able to move a pod. Admission refuses keys of our domain by now; nodes
// that were made before may have some.
func podLabels(node *v1alpha1.SeiNode) map[string]string {
	labels := requestedLabels(node)
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, v1alpha1.LabelDomain) })
	maps.Copy(labels, ourPodLabels(node))
	return labels
}

// requestedLabels are the labels that the spec leads to, keys of our domain included: leaving
// those out is no change of the spec.
func requestedLabels(node *v1alpha1.SeiNode) map[string]string {
	labels := map[string]string{}
	for key, value := range node.Spec.PodLabels {
		labels[key] = string(value)
	}
	maps.Copy(labels, ourPodLabels(node))
	return labels
}

func ourPodLabels(node *v1alpha1.SeiNode) map[string]string {
	labels := objectLabels(node)
	if snapshots := node.Spec.TendermintSnapshots(); snapshots != nil && snapshots.Publish != nil {
		labels[v1alpha1.LabelSnapshotPublish] = "true"
	}
	return labels
}

// podAnnotations are ours and the user's, who may decide otherwise about what is not of our domain.
func podAnnotations(node *v1alpha1.SeiNode) map[string]string {
	annotations := ourPodAnnotations()
	maps.Copy(annotations, requestedAnnotations(node))
	return annotations
}

// requestedAnnotations are the annotations that the spec asks for beyond ours: writing one of ours
// down is no change.
func requestedAnnotations(node *v1alpha1.SeiNode) map[string]string {
	ours, annotations := ourPodAnnotations(), map[string]string{}
	for key, value := range node.Spec.PodAnnotations {
		if own, there := ours[key]; !there || own != string(value) {
			annotations[key] = string(value)
		}
	}
	return annotations
}

func ourPodAnnotations() map[string]string {
	return map[string]string{annotationDoNotDisrupt: "true"}
}

// bootstrapLabels leave out the user's labels and the fleet's: what selects by
// them would send traffic to a node that is still replaying.
func bootstrapLabels(node *v1alpha1.SeiNode) map[string]string {
	labels := objectLabels(node)
	delete(labels, v1alpha1.LabelDeployment)
	labels[v1alpha1.LabelComponent] = v1alpha1.ComponentBootstrap
	return labels
}

func ownerReference(node *v1alpha1.SeiNode) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind("SeiNode").
		WithName(node.Name).
		WithUID(node.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// RestartValue is the value of sei.io/restart a pod was made with.
func RestartValue(podAnnotations map[string]string) string {
	return podAnnotations[v1alpha1.AnnotationRestart]
}
