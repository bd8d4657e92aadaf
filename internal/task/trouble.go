package task

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// loopRestarts is how often a container was restarted that runs again after it has waited in
	// CrashLoopBackOff: the kubelet does not wait the first time.
	loopRestarts = 2
	// shortestProof and longestProof bound how long a container has to run after a crash until it
	// counts as well. One that has run for the longer one and then crashed is in no loop: some of
	// its restarts may be long ago, or were asked for.
	shortestProof = 10 * time.Second
	longestProof  = 2 * time.Minute
)

// PodTrouble finds a container that cannot start or does not stay up; the zero value when there is
// none. seid is what the sidecar reports the chain process; nil when it tells nothing.
//
// A crash loop does not end when the container runs again: it has to run longer than it did before.
// The gate starts seid once and ends with it, so that the container's restarts are seid's.
func PodTrouble(pod *corev1.Pod, seid *api.Seid, now time.Time) domain.Trouble {
	if t := startTrouble(pod, seid); t.Reason != "" {
		return t
	}
	for _, c := range containers(pod) {
		if until, looping := loopsUntil(c, seid); looping && now.Before(until) {
			t := crashLoop(pod.Name, c, c.LastTerminationState.Terminated)
			t.Until = until
			return t
		}
	}
	return domain.Trouble{}
}

// startTrouble finds a container that does not run and cannot be started, or has crashed and is not
// started again yet.
func startTrouble(pod *corev1.Pod, seid *api.Seid) domain.Trouble {
	for _, c := range containers(pod) {
		waiting, ended := c.State.Waiting, c.State.Terminated
		switch {
		case waiting != nil && isPullFailure(waiting.Reason):
			return domain.Trouble{Reason: v1alpha1.ReasonImagePullFailed, Message: fmt.Sprintf(
				"container %s cannot pull image %s: check its name and the pull secrets", c.Name, c.Image)}
		case waiting != nil && waiting.Reason == "CreateContainerConfigError":
			return domain.Trouble{Reason: v1alpha1.ReasonContainerConfigFailed, Message: fmt.Sprintf(
				"container %s cannot be created: %s: create what is missing, or correct the spec", c.Name, waiting.Message)}
		case waiting != nil && waiting.Reason == "CrashLoopBackOff":
			return crashLoop(pod.Name, c, c.LastTerminationState.Terminated)
		case ended != nil && c.RestartCount+1 >= loopRestarts && crashedSoon(c.Name, ended, seid):
			return crashLoop(pod.Name, c, ended) // the kubelet is about to say so
		}
	}
	return domain.Trouble{}
}

// containers are those of a pod that is to run.
func containers(pod *corev1.Pod) []*corev1.ContainerStatus {
	if pod == nil || pod.DeletionTimestamp != nil {
		return nil
	}
	var all []*corev1.ContainerStatus
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
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

// loopsUntil is until when a container that runs is still in the crash loop it was in: until it has
// run for twice as long as the time before.
func loopsUntil(c *corev1.ContainerStatus, seid *api.Seid) (until time.Time, looping bool) {
	running, last := c.State.Running, c.LastTerminationState.Terminated
	if running == nil || last == nil || c.RestartCount < loopRestarts || !crashedSoon(c.Name, last, seid) {
		return time.Time{}, false
	}
	began := running.StartedAt.Time
	// The container also runs while seid waits behind the gate.
	if c.Name == render.ContainerSeid && seid != nil && seid.State == api.SeidRunning && seid.Since != nil && seid.Since.After(began) {
		began = *seid.Since
	}
	return began.Add(min(max(2*lasted(last), shortestProof), longestProof)), true
}

func lasted(ended *corev1.ContainerStateTerminated) time.Duration {
	return ended.FinishedAt.Sub(ended.StartedAt.Time)
}

// crashedSoon reports whether a container ended by itself, and so soon that this is part of a loop.
func crashedSoon(container string, ended *corev1.ContainerStateTerminated, seid *api.Seid) bool {
	if lasted(ended) >= longestProof {
		return false
	}
	if container == render.ContainerSeid && seid != nil && endedThisRun(seid.LastExit, ended) {
		return slices.Contains([]api.ExitReason{api.ExitCrash, api.ExitOutOfDisk, api.ExitUnknown}, seid.LastExit.Reason)
	}
	// A process that was asked to end does so with 0, or by SIGINT or SIGTERM.
	return !slices.Contains([]int32{0, 130, 143}, ended.ExitCode)
}

// endedThisRun reports whether an exit of seid is what ended a run of its container, which ends with
// the same code. Times in a pod are whole seconds: an exit in the second in which the run began may
// be that of the run before.
func endedThisRun(exit *api.Exit, ended *corev1.ContainerStateTerminated) bool {
	return exit != nil && !exit.At.Before(ended.StartedAt.Time) && exit.Code == int(ended.ExitCode)
}

func crashLoop(pod string, c *corev1.ContainerStatus, last *corev1.ContainerStateTerminated) domain.Trouble {
	facts := fmt.Sprintf("%d restarts", c.RestartCount)
	if c.RestartCount == 1 {
		facts = "1 restart"
	}
	if last != nil {
		facts = fmt.Sprintf("exit code %d, %s", last.ExitCode, facts)
	}
	return domain.Trouble{Reason: v1alpha1.ReasonPodCrashLooping, Message: fmt.Sprintf(
		"container %s is crash-looping (%s): see kubectl logs %s -c %s --previous", c.Name, facts, pod, c.Name)}
}
