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
