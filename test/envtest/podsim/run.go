package podsim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// run is what the kubelet knows about one pod.
type run struct {
	mu         sync.Mutex
	ip         string
	acceptedAt metav1.Time
	startAt    time.Time
	containers []*container
	claims     map[string]types.UID
	// initialized latches: a sidecar that restarts later does not undo it.
	initialized bool
	// mounting is set while Secrets or ConfigMaps of the pod are missing.
	mounting bool
	stopAt   time.Time
	finished corev1.PodPhase
	// written is the pod as the last status write returned it; the informer
	// may lag behind.
	written *corev1.Pod
}

// step is one look at a pod's containers.
type step struct {
	ctx context.Context //nolint:containedctx // a step is one call, cut into methods
	sim *Simulator
	pod *corev1.Pod
	run *run
	now time.Time
	// wake is when to look again; zero means at the next event.
	wake time.Time
}

func (st *step) wakeAt(at time.Time) {
	if st.wake.IsZero() || at.Before(st.wake) {
		st.wake = at
	}
}

// advance takes the containers one change further and reports whether there
// was one.
func (st *step) advance() bool {
	r := st.run
	if r.finished != "" {
		return false
	}
	blocked := false
	for _, c := range r.containers {
		if blocked && !r.initialized {
			break
		}
		if !c.init && !r.initialized {
			r.initialize()
			return true
		}
		if st.advanceContainer(c) {
			return true
		}
		blocked = blocked || (c.init && !c.passed())
	}
	return st.finish()
}

// initialize lets the main containers begin.
func (r *run) initialize() {
	r.initialized = true
	for _, c := range r.containers {
		if !c.init {
			c.reason = reasonCreating
		}
	}
}

func (st *step) advanceContainer(c *container) bool {
	b := st.sim.containerBehaviour(st.pod.Namespace, st.pod.Name, c.spec.Name, c.spec.Image)
	switch {
	case c.running != nil:
		return st.advanceRunning(c, b)
	case c.reason != "":
		return st.advanceWaiting(c, b)
	default:
		return st.advanceEnded(c)
	}
}

func (st *step) advanceWaiting(c *container, b Behaviour) bool {
	switch {
	case b.Hold:
		return false
	case b.PullError != "" && !c.pulled:
		return failPull(c, b.PullError)
	case st.now.Before(c.restartAt):
		st.wakeAt(c.restartAt)
		return false
	}
	files, err := st.sim.secretFiles(st.ctx, st.pod, c)
	if err != nil {
		c.message = err.Error()
		st.wakeAt(st.now.Add(mountRetry))
		return false
	}
	c.files = files
	c.mounted = st.sim.mountedBy(st.pod, c)
	c.start(st.now)
	st.sim.runtime.Started(st.container(c))
	return true
}

// failPull reports the failure first and the waiting afterwards.
func failPull(c *container, message string) bool {
	switch c.reason {
	case reasonPullBackOff:
		return false
	case reasonPullFailed:
		c.reason, c.message = reasonPullBackOff, fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", c.spec.Image, message)
	default:
		c.reason, c.message = reasonPullFailed, message
	}
	return true
}

func (st *step) advanceRunning(c *container, b Behaviour) bool {
	exitAt := c.startedAt.Add(b.ExitAfter)
	switch {
	case b.Exit != nil && !st.now.Before(exitAt):
		st.end(c, *b.Exit)
		return true
	case b.Exit != nil:
		st.wakeAt(exitAt)
	case c.init && !c.restartable && !b.Linger:
		st.end(c, 0)
		return true
	}
	started := c.started || (!b.NotStarted && st.probe(c, StartupProbe, c.spec.StartupProbe))
	ready := started && !b.NotReady && st.probe(c, ReadinessProbe, c.spec.ReadinessProbe)
	changed := started != c.started || ready != c.ready
	c.started, c.ready = started, ready
	return changed
}

func (st *step) probe(c *container, kind ProbeKind, probe *corev1.Probe) bool {
	return probe == nil || st.sim.runtime.Probe(st.container(c), kind, probe)
}

// advanceEnded restarts what has to be: the first time at once, later with a
// growing pause.
func (st *step) advanceEnded(c *container) bool {
	if !c.restartsUnder(st.pod.Spec.RestartPolicy) {
		return false
	}
	if c.restarts == 0 {
		c.reason, c.restartAt = reasonCreating, st.now
		return true
	}
	pause := min(st.sim.opts.CrashBackOff<<min(c.restarts-1, 10), 5*time.Minute)
	c.restartAt = st.now.Add(pause)
	c.reason = reasonCrashLoop
	c.message = fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		pause, c.spec.Name, st.pod.Name, st.pod.Namespace, st.pod.UID)
	return true
}

func (st *step) end(c *container, code int32) {
	ended := st.container(c)
	ended.ExitCode = code
	st.sim.runtime.Stopped(ended)
	c.end(st.now, code)
}

// finish ends the pod when its containers have: then its sidecars go too.
func (st *step) finish() bool {
	failed := false
	for _, c := range st.run.containers {
		if c.restartable {
			continue
		}
		if c.ended == nil || c.reason != "" || c.restartsUnder(st.pod.Spec.RestartPolicy) {
			return false
		}
		failed = failed || c.ended.ExitCode != 0
		if c.init && failed {
			break
		}
	}
	st.stopAll(0)
	st.run.finished = corev1.PodSucceeded
	if failed {
		st.run.finished = corev1.PodFailed
	}
	return true
}

// stopAll ends every running container, main ones before sidecars.
func (st *step) stopAll(code int32) {
	for _, c := range slices.Backward(st.run.containers) {
		if c.running != nil {
			st.end(c, code)
		}
	}
}

func (st *step) container(c *container) Container {
	return Container{Pod: st.pod, Name: c.spec.Name, ID: c.id, IP: st.run.ip, Claims: st.run.claims, Files: c.files, Mounted: c.mounted}
}
