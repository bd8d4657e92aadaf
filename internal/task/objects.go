package task

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Objects are the objects of a node. A nil one does not exist.
type Objects struct {
	StatefulSet   *appsv1.StatefulSet
	Service       *corev1.Service
	NetworkPolicy *networkingv1.NetworkPolicy
	// Certificate is the Secret with the certificate of the node's sidecar, without its content.
	Certificate *metav1.PartialObjectMetadata
	// Pod is the node's own pod, or that of its bootstrap Job.
	Pod *corev1.Pod
	// PodObstacle says why there is no pod although there should be one; empty when it is
	// about to be made.
	PodObstacle string
	Claim       *corev1.PersistentVolumeClaim
	Job         *batchv1.Job
	// Peers are the node's peers as far as they could be resolved.
	Peers []string
}

// IsNodesPod reports whether a pod was made by the node's own StatefulSet or Job, by uid all
// the way up. Only such a pod is dialled: whoever else has the name and the labels would be
// handed the operator's token.
func (o *Objects) IsNodesPod(node *v1alpha1.SeiNode, pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	bySet := o.StatefulSet != nil && metav1.IsControlledBy(pod, o.StatefulSet) && metav1.IsControlledBy(o.StatefulSet, node)
	byJob := o.Job != nil && metav1.IsControlledBy(pod, o.Job) && metav1.IsControlledBy(o.Job, node)
	return bySet || byJob
}
