package podsim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons a kubelet gives for waiting and terminated containers.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
	reasonPullFailed   = "ErrImagePull"
	reasonPullBackOff  = "ImagePullBackOff"
	reasonCrashLoop    = "CrashLoopBackOff"
	reasonCompleted    = "Completed"
	reasonError        = "Error"
)

// exitKilled is the code of a process that got SIGKILL.
const exitKilled = 137

// container is the life of one container.
type container struct {
	spec *corev1.Container
	// init containers come before the others; restartable ones keep running.
	init, restartable bool

	running   *corev1.ContainerStateRunning
	ended     *corev1.ContainerStateTerminated
	last      *corev1.ContainerStateTerminated
	reason    string // while it waits
	message   string
	id        string
	restarts  int32
	started   bool
	ready     bool
	pulled    bool
	restartAt time.Time
	startedAt time.Time // what the status has is cut to seconds
	// files are what Container.Files tells.
	files map[string][]byte
	// mounted is what Container.Mounted tells.
	mounted func(path string) map[string][]byte
}

func newContainers(pod *corev1.Pod) []*container {
	all := make([]*container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for i := range pod.Spec.InitContainers {
		spec := &pod.Spec.InitContainers[i]
		always := spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
		all = append(all, &container{spec: spec, init: true, restartable: always, reason: reasonInitializing})
	}
	for i := range pod.Spec.Containers {
		reason := reasonCreating
		if len(pod.Spec.InitContainers) > 0 {
			reason = reasonInitializing
		}
		all = append(all, &container{spec: &pod.Spec.Containers[i], reason: reason})
	}
	return all
}

// passed reports whether the init container lets the next one start.
func (c *container) passed() bool {
	if c.restartable {
		return c.running != nil && c.started
	}
	return c.ended != nil && c.ended.ExitCode == 0
}

// restarts reports whether a container that ended is started again.
func (c *container) restartsUnder(policy corev1.RestartPolicy) bool {
	switch {
	case c.restartable:
		return true
	case policy == corev1.RestartPolicyNever:
		return false
	case c.init || policy == corev1.RestartPolicyOnFailure:
		return c.ended.ExitCode != 0
	default:
		return true
	}
}

func (c *container) start(now time.Time) {
	c.startedAt = now
	c.running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Truncate(time.Second))}
	if c.ended != nil {
		c.last = c.ended
		c.restarts++
	}
	c.ended, c.pulled, c.reason, c.message = nil, true, "", ""
	sum := sha256.Sum256([]byte(uuid.NewString()))
	c.id = "containerd://" + hex.EncodeToString(sum[:])
}

func (c *container) end(now time.Time, code int32) {
	reason := reasonCompleted
	if code != 0 {
		reason = reasonError
	}
	c.ended = &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: c.running.StartedAt,
		FinishedAt: metav1.NewTime(now.Truncate(time.Second)), ContainerID: c.id,
	}
	c.running, c.ready, c.started = nil, false, false
}

// state is the container's state as the API shows it.
func (c *container) state() corev1.ContainerState {
	switch {
	case c.running != nil:
		return corev1.ContainerState{Running: c.running}
	case c.reason != "":
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: c.reason, Message: c.message}}
	default:
		return corev1.ContainerState{Terminated: c.ended}
	}
}

// status is the container's status as the API shows it.
func (c *container) status() corev1.ContainerStatus {
	started := c.started
	s := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, State: c.state(), RestartCount: c.restarts, Started: &started,
		// A completed init container counts as ready.
		Ready: c.ready || (c.init && !c.restartable && c.passed()),
	}
	if c.last != nil {
		s.LastTerminationState = corev1.ContainerState{Terminated: c.last}
	}
	if c.reason == reasonCrashLoop && c.ended != nil {
		s.LastTerminationState = corev1.ContainerState{Terminated: c.ended}
	}
	if c.pulled {
		s.ImageID = imageID(c.spec.Image)
		s.ContainerID = c.id
	}
	return s
}

// imageID is the same for the same image, as a digest would be.
func imageID(image string) string {
	return fmt.Sprintf("registry.test/%s@sha256:%x", image, sha256.Sum256([]byte(image)))
}
