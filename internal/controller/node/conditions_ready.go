package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/task"
)

// ready says how the node is, from its phase and its pod. The kubelet's readiness
// probe asks the chain itself whether it is in sync.
func (s *scope) ready() {
	status, reason, message := readiness(s.node, s.observed.Pod)
	if reason == v1alpha1.ReasonPodPending && s.observed.PodObstacle != "" {
		message = s.observed.PodObstacle
	}
	conditions.Set(&s.node.Status.Conditions, s.node.Generation, s.now, v1alpha1.ConditionReady, status, reason, message)
}

func readiness(node *v1alpha1.SeiNode, pod *corev1.Pod) (metav1.ConditionStatus, string, string) {
	no := metav1.ConditionFalse
	switch {
	case node.Spec.Paused:
		return no, v1alpha1.ReasonPaused, "the pod is stopped by spec.paused"
	case node.Status.Phase == v1alpha1.NodeFailed:
		return no, v1alpha1.ReasonInitFailed, failedAdvice(node)
	}
	if reason, message, found := task.PodTrouble(pod); found {
		return no, reason, message
	}
	if node.Status.Phase != v1alpha1.NodeRunning {
		return no, v1alpha1.ReasonInitializing, ""
	}
	return podReadiness(pod)
}

func failedAdvice(node *v1alpha1.SeiNode) string {
	message := "the node could not be brought up"
	if last := node.Status.LastPlan; last != nil {
		message = failureWords(last)
	}
	return message + ". Change the spec, or set the annotation " + v1alpha1.AnnotationRetry + " to any new value, to try again"
}

// podReadiness is the readiness of a running node whose containers are not in trouble.
func podReadiness(pod *corev1.Pod) (metav1.ConditionStatus, string, string) {
	switch {
	case pod == nil:
		return metav1.ConditionFalse, v1alpha1.ReasonPodPending, "there is no pod; the StatefulSet controller makes one"
	case nodeLost(pod):
		return metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown, fmt.Sprintf("node %s does not answer, so nobody knows whether the pod runs", pod.Spec.NodeName)
	case task.PodCondition(pod, corev1.PodReady) == corev1.ConditionTrue && pod.DeletionTimestamp == nil:
		return metav1.ConditionTrue, v1alpha1.ReasonInSync, ""
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return metav1.ConditionFalse, v1alpha1.ReasonPodNotReady, "the pod is being replaced"
	case pod.Status.Phase == corev1.PodPending:
		return metav1.ConditionFalse, v1alpha1.ReasonPodPending, pendingWords(pod)
	case seidStarted(pod):
		return metav1.ConditionFalse, v1alpha1.ReasonNotInSync,
			"seid runs and does not keep up: it is behind, has no peer or no block yet, does not answer, or is about to be restarted"
	default:
		return metav1.ConditionFalse, v1alpha1.ReasonPodNotReady, "seid waits behind the start gate or is starting"
	}
}

// nodeLost reports whether the pod's kubelet has fallen silent. The node controller then
// takes the pod's readiness away, while what the kubelet said last about its containers
// stays.
func nodeLost(pod *corev1.Pod) bool {
	ready, containers := task.PodCondition(pod, corev1.PodReady), task.PodCondition(pod, corev1.ContainersReady)
	return pod.Status.Phase == corev1.PodUnknown || ready == corev1.ConditionUnknown ||
		ready == corev1.ConditionFalse && containers == corev1.ConditionTrue
}

func pendingWords(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "the pod cannot be scheduled: " + c.Message
		}
	}
	return "the pod is starting"
}

// seidStarted reports whether seid has passed the start gate.
func seidStarted(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.Name == render.ContainerSeid {
			return c.Started != nil && *c.Started
		}
	}
	return false
}
