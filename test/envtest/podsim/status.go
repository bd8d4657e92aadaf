package podsim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podStatus is the status a kubelet reports for a pod. Conditions of others,
// for example DisruptionTarget, stay.
func podStatus(pod *corev1.Pod, r *run, hostIP string, now time.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.Phase = r.phase()
	status.StartTime = &r.acceptedAt
	status.ObservedGeneration = pod.Generation
	status.HostIP, status.HostIPs = hostIP, []corev1.HostIP{{IP: hostIP}}
	if r.startedAny() || r.finished != "" {
		status.PodIP, status.PodIPs = r.ip, []corev1.PodIP{{IP: r.ip}}
	}
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	for _, c := range r.containers {
		if c.init {
			status.InitContainerStatuses = append(status.InitContainerStatuses, c.status())
		} else {
			status.ContainerStatuses = append(status.ContainerStatuses, c.status())
		}
	}
	setConditions(&status, pod, r, now)
	return status
}

func (r *run) phase() corev1.PodPhase {
	switch {
	case r.finished != "":
		return r.finished
	case r.initialized && slices.ContainsFunc(r.containers, func(c *container) bool { return !c.init && c.pulled }):
		return corev1.PodRunning
	default:
		return corev1.PodPending
	}
}

func (r *run) startedAny() bool {
	return slices.ContainsFunc(r.containers, func(c *container) bool { return c.pulled })
}

// setConditions reports the conditions in the order in which a pod gets them.
func setConditions(status *corev1.PodStatus, pod *corev1.Pod, r *run, now time.Time) {
	done := r.finished != ""
	completed := ""
	if done {
		completed = "PodCompleted"
	}
	set := func(kind corev1.PodConditionType, ok bool, reason, message string) {
		if ok {
			reason, message = "", ""
		}
		setCondition(status, corev1.PodCondition{
			Type: kind, Status: conditionStatus(ok), Reason: reason, Message: message, ObservedGeneration: pod.Generation,
		}, now)
	}
	set(corev1.PodReadyToStartContainers, r.startedAny() && !done, "", "")
	set(corev1.PodInitialized, r.initialized || len(pod.Spec.InitContainers) == 0, "ContainersNotInitialized",
		"containers with incomplete status: "+names(r.containers, func(c *container) bool { return c.init && !c.passed() }))

	unready := names(r.containers, func(c *container) bool { return (!c.init || c.restartable) && !c.ready })
	reason, message := "ContainersNotReady", "containers with unready status: "+unready
	if done {
		reason, message = completed, ""
	}
	ready := unready == "[]" && r.initialized && !done
	set(corev1.ContainersReady, ready, reason, message)
	gated := slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
		return !hasCondition(pod, g.ConditionType)
	})
	if ready && gated {
		reason, message = "ReadinessGatesNotReady", "a readiness gate is not met"
	}
	set(corev1.PodReady, ready && !gated, reason, message)
}

func names(containers []*container, which func(*container) bool) string {
	list := "["
	for _, c := range containers {
		if which(c) {
			if len(list) > 1 {
				list += " "
			}
			list += c.spec.Name
		}
	}
	return list + "]"
}

func conditionStatus(ok bool) corev1.ConditionStatus {
	if ok {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// setCondition keeps the transition time while the status stays the same.
func setCondition(status *corev1.PodStatus, c corev1.PodCondition, now time.Time) {
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	for i := range status.Conditions {
		old := &status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		*old = c
		return
	}
	status.Conditions = append(status.Conditions, c)
}

func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}
