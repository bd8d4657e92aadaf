package task

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/internal/render"
)

// SidecarStarted is when the pod's sidecar container started; false while it does
// not run.
func SidecarStarted(pod *corev1.Pod) (time.Time, bool) {
	if pod == nil || pod.DeletionTimestamp != nil || pod.Status.PodIP == "" {
		return time.Time{}, false
	}
	for i := range pod.Status.InitContainerStatuses {
		s := &pod.Status.InitContainerStatuses[i]
		if s.Name == render.ContainerSidecar && s.State.Running != nil {
			return s.State.Running.StartedAt.Time, true
		}
	}
	return time.Time{}, false
}

// PodCondition is the status of one of a pod's conditions; empty while nobody has set it.
func PodCondition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.ConditionStatus {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			return pod.Status.Conditions[i].Status
		}
	}
	return ""
}
