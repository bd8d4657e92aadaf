package task

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
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

// PodTrouble finds a container that cannot start or does not stay up. The words stay the
// same while the trouble does, and the reasons are those of condition Ready.
func PodTrouble(pod *corev1.Pod) (reason, message string, found bool) {
	if pod == nil || pod.DeletionTimestamp != nil {
		return "", "", false
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			switch waiting := list[i].State.Waiting; {
			case waiting == nil:
			case isPullFailure(waiting.Reason):
				return v1alpha1.ReasonImagePullFailed, fmt.Sprintf("container %s cannot pull image %s: check its name and the pull secrets",
					list[i].Name, list[i].Image), true
			case waiting.Reason == "CrashLoopBackOff":
				return v1alpha1.ReasonPodCrashLooping, crashWords(pod.Name, &list[i]), true
			}
		}
	}
	return "", "", false
}

// isPullFailure reports whether a container waits because its image cannot be had.
func isPullFailure(waitingReason string) bool {
	switch waitingReason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError":
		return true
	default:
		return false
	}
}

func crashWords(pod string, c *corev1.ContainerStatus) string {
	message := fmt.Sprintf("container %s is crash-looping", c.Name)
	if t := c.LastTerminationState.Terminated; t != nil {
		message += fmt.Sprintf(" with exit code %d", t.ExitCode)
	}
	return fmt.Sprintf("%s: see kubectl logs %s -c %s --previous", message, pod, c.Name)
}
