package cli

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podDetail sums up a pod as `kubectl get pods` does.
func podDetail(pod *corev1.Pod, now time.Time) PodDetail {
	d := PodDetail{
		Name: pod.Name, Containers: len(pod.Spec.Containers), Status: string(pod.Status.Phase), Machine: pod.Spec.NodeName,
		Age: elapsed(&metav1.Time{Time: pod.CreationTimestamp.Time}, now),
	}
	if pod.Status.Reason != "" {
		d.Status = pod.Status.Reason
	}
	// A sidecar is an init container that keeps running, and counts as a container.
	always := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			always[c.Name] = true
		}
	}
	d.Containers += len(always)
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			d.Restarts += c.RestartCount
			if c.Ready && (always[c.Name] || !isInit(pod, c.Name)) {
				d.Ready++
			}
			if trouble := containerTrouble(c); trouble != "" {
				d.Status = trouble
			}
		}
	}
	if pod.DeletionTimestamp != nil {
		d.Status = "Terminating"
	}
	return d
}

func isInit(pod *corev1.Pod, name string) bool {
	for _, c := range pod.Spec.InitContainers {
		if c.Name == name {
			return true
		}
	}
	return false
}

// containerTrouble is why a container does not run, in the kubelet's word; empty when it does, or when
// it is about to.
func containerTrouble(c *corev1.ContainerStatus) string {
	if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
		return w.Reason
	}
	if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
		return t.Reason
	}
	return ""
}
