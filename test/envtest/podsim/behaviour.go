package podsim

import (
	"slices"
	"time"
)

// Match says which pods and containers a Behaviour is for. Empty fields match
// everything.
type Match struct {
	Namespace, Pod, Container, Image string
}

func (m Match) pod(namespace, pod string) bool {
	return (m.Namespace == "" || m.Namespace == namespace) && (m.Pod == "" || m.Pod == pod)
}

func (m Match) container(namespace, pod, container, image string) bool {
	return m.pod(namespace, pod) && (m.Container == "" || m.Container == container) && (m.Image == "" || m.Image == image)
}

// Behaviour is how pods or containers deviate from starting at once and
// running forever. The fields of several matching behaviours add up; later
// ones win.
type Behaviour struct {
	// Unschedulable keeps a pod from being scheduled, with this message.
	Unschedulable string
	// StartDelay is the time between scheduling and the first container.
	StartDelay time.Duration
	// StopDelay is how long the containers take to end when the pod is
	// deleted. What takes longer than the grace period is killed.
	StopDelay time.Duration
	// IP makes pods use this address, for example one that was just freed.
	IP string

	// PullError makes the container's image unavailable, with this message.
	PullError string
	// Hold keeps a container from starting.
	Hold bool
	// Linger keeps an init container running that would have completed.
	Linger bool
	// Exit ends the container with this code whenever it has run for ExitAfter.
	Exit      *int32
	ExitAfter time.Duration
	// NotStarted and NotReady fail the container's probes.
	NotStarted, NotReady bool
}

// over lays a behaviour over another.
func (b Behaviour) over(base Behaviour) Behaviour {
	if b.Unschedulable != "" {
		base.Unschedulable = b.Unschedulable
	}
	if b.StartDelay != 0 {
		base.StartDelay = b.StartDelay
	}
	if b.StopDelay != 0 {
		base.StopDelay = b.StopDelay
	}
	if b.IP != "" {
		base.IP = b.IP
	}
	if b.PullError != "" {
		base.PullError = b.PullError
	}
	if b.Exit != nil {
		base.Exit, base.ExitAfter = b.Exit, b.ExitAfter
	}
	base.Hold = base.Hold || b.Hold
	base.Linger = base.Linger || b.Linger
	base.NotStarted = base.NotStarted || b.NotStarted
	base.NotReady = base.NotReady || b.NotReady
	return base
}

type rule struct {
	match     Match
	behaviour Behaviour
}

// Rule makes what matches behave this way until the returned function is
// called. Both take effect at once, also on pods that exist.
func (s *Simulator) Rule(match Match, behaviour Behaviour) (remove func()) {
	r := &rule{match, behaviour}
	s.mu.Lock()
	s.rules = append(s.rules, r)
	s.mu.Unlock()
	s.pokeMatching(match)
	return func() {
		s.mu.Lock()
		s.rules = slices.DeleteFunc(s.rules, func(other *rule) bool { return other == r })
		s.mu.Unlock()
		s.forgive(match)
		s.pokeMatching(match)
	}
}

// podBehaviour adds up what is said about a pod as a whole.
func (s *Simulator) podBehaviour(namespace, pod string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b Behaviour
	for _, r := range s.rules {
		if r.match.pod(namespace, pod) {
			b = r.behaviour.over(b)
		}
	}
	return b
}

// containerBehaviour adds up what is said about one container.
func (s *Simulator) containerBehaviour(namespace, pod, container, image string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b Behaviour
	for _, r := range s.rules {
		if r.match.container(namespace, pod, container, image) {
			b = r.behaviour.over(b)
		}
	}
	return b
}
