package podsim

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Container is one container of a simulated pod while it runs.
type Container struct {
	Pod  *corev1.Pod
	Name string
	// ID is new for every start.
	ID string
	// IP of the pod: a loopback address of its own.
	IP string
	// Claims are the UIDs of the claims the pod mounts, by the volume's name.
	Claims map[string]types.UID
	// Files are the single files of Secrets that the container mounts, by the path
	// they are mounted at. They are those of the container's start: a mount by
	// subPath never follows later edits.
	Files map[string][]byte
	// Mounted are the files of a Secret that the container mounts as a folder at a path, as they are
	// now: such a mount follows edits. Of a Secret that was deleted the last ones stay.
	Mounted func(path string) map[string][]byte
	// ExitCode is how it ended; 0 while it runs.
	ExitCode int32
}

// ProbeKind tells the probes of a container apart.
type ProbeKind string

// The probes that are asked. Liveness probes are not: use Kill.
const (
	StartupProbe   ProbeKind = "startup"
	ReadinessProbe ProbeKind = "readiness"
)

// Runtime is what runs in the containers. Calls for one pod never overlap.
type Runtime interface {
	// Started is called when a container starts, before the API shows it.
	Started(Container)
	// Stopped is called when a container has ended.
	Stopped(Container)
	// Probe answers a probe of a running container.
	Probe(Container, ProbeKind, *corev1.Probe) bool
	// SetReachable is called when the network to a pod breaks or heals.
	SetReachable(podUID types.UID, reachable bool)
	// Notify hands over a function to call when answers to a pod's probes changed.
	Notify(func(namespace, pod string))
}

// NoRuntime is a Runtime in which every probe succeeds at once.
type NoRuntime struct{}

// Started implements Runtime.
func (NoRuntime) Started(Container) {}

// Stopped implements Runtime.
func (NoRuntime) Stopped(Container) {}

// Probe implements Runtime.
func (NoRuntime) Probe(Container, ProbeKind, *corev1.Probe) bool { return true }

// SetReachable implements Runtime.
func (NoRuntime) SetReachable(types.UID, bool) {}

// Notify implements Runtime.
func (NoRuntime) Notify(func(namespace, pod string)) {}
