package sidecarsim

import (
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	seiv1alpha1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
)

// Options of Sidecars.
type Options struct {
	// Container is the name of the sidecar container; "sidecar" if empty.
	Container string
	// Port is used for containers that declare none; 7777 if zero.
	Port int32
	// Keys are those of the cluster's tokens; see KeysOf. With them sidecars let in whom the
	// environment of their container says, as the real one does.
	Keys auth.Keys
	// Token is, without Keys, the only bearer token accepted; empty accepts any,
	// but one there must be.
	Token string
	// Logf gets troubles; Start sets it to the test's.
	Logf func(format string, args ...any)
}

// Sidecars are the sidecars of all simulated pods. Nodes are named
// namespace/name, as in the label sei.io/node.
type Sidecars struct {
	opts Options
	dir  string
	// model has a lock of its own; no other is taken while it is held.
	model *model

	mu        sync.Mutex
	poke      func(namespace, pod string)
	processes map[types.UID]*process
	rules     []*taskRule
	faults    []*faultRule
	requests  []Request
	cutOff    map[types.UID]bool
}

var _ podsim.Runtime = (*Sidecars)(nil)

// Start makes Sidecars that end with the test. Pass them to podsim as Runtime.
func Start(tb testing.TB, opts Options) *Sidecars {
	tb.Helper()
	if opts.Logf == nil {
		opts.Logf = tb.Logf
	}
	s, err := New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// New makes Sidecars; Stop ends them.
func New(opts Options) (*Sidecars, error) {
	if opts.Container == "" {
		opts.Container = "sidecar"
	}
	if opts.Port == 0 {
		opts.Port = 7777
	}
	if opts.Logf == nil {
		opts.Logf = func(string, ...any) {}
	}
	dir, err := envtest.NewWorkdir()
	if err != nil {
		return nil, fmt.Errorf("making room for task stores: %w", err)
	}
	return &Sidecars{
		opts: opts, dir: dir, model: newModel(), poke: func(string, string) {},
		processes: map[types.UID]*process{}, cutOff: map[types.UID]bool{},
	}, nil
}

// Stop ends all sidecars and forgets their stores.
func (s *Sidecars) Stop() {
	s.mu.Lock()
	processes := s.processes
	s.processes = map[types.UID]*process{}
	s.mu.Unlock()
	for _, p := range processes {
		p.stop()
	}
	_ = os.RemoveAll(s.dir)
}

// NodeOf is the name under which a pod's node is known here.
func NodeOf(pod *corev1.Pod) string {
	if name := pod.Labels[seiv1alpha1.LabelNode]; name != "" {
		return pod.Namespace + "/" + name
	}
	return pod.Namespace + "/" + pod.Name
}

// Notify implements podsim.Runtime.
func (s *Sidecars) Notify(poke func(namespace, pod string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poke = poke
}

// Started implements podsim.Runtime: a sidecar container that starts listens, and
// seid waits behind its gate.
func (s *Sidecars) Started(c podsim.Container) {
	if c.Name == containerSeid {
		s.model.chainStarted(c)
		s.settle(c.Pod.UID)
	}
	if c.Name != s.opts.Container {
		return
	}
	p, err := s.startProcess(c)
	if err != nil {
		s.opts.Logf("sidecarsim: starting the sidecar of %s/%s: %v", c.Pod.Namespace, c.Pod.Name, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[c.Pod.UID] = p
}

// Stopped implements podsim.Runtime.
func (s *Sidecars) Stopped(c podsim.Container) {
	if c.Name == containerSeid {
		s.model.chainStopped(c)
	}
	if c.Name != s.opts.Container {
		return
	}
	s.mu.Lock()
	p := s.processes[c.Pod.UID]
	delete(s.processes, c.Pod.UID)
	s.mu.Unlock()
	if p != nil {
		p.stop()
	}
}

// Probe implements podsim.Runtime. Probes of the sidecar's own paths get the
// sidecar's answer; all others ask whether the node is in sync.
func (s *Sidecars) Probe(c podsim.Container, _ podsim.ProbeKind, probe *corev1.Probe) bool {
	if probe.HTTPGet != nil {
		switch probe.HTTPGet.Path {
		case "/v0/healthz", "/v0/startupz":
			p := s.process(c.Pod.UID)
			return p != nil && p.ready()
		case "/v0/livez":
			return s.process(c.Pod.UID) != nil
		case api.PathInSync:
			return s.process(c.Pod.UID) != nil && s.keepsUp(NodeOf(c.Pod), c.Pod.UID) == nil
		}
	}
	return s.keepsUp(NodeOf(c.Pod), c.Pod.UID) == nil
}

// SetReachable implements podsim.Runtime: an unreachable sidecar accepts
// connections and never answers.
func (s *Sidecars) SetReachable(pod types.UID, reachable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reachable {
		delete(s.cutOff, pod)
	} else {
		s.cutOff[pod] = true
	}
}

func (s *Sidecars) process(pod types.UID) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[pod]
}

// processOf is the process of a node's pod, the newest if there are two.
func (s *Sidecars) processOf(node string) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	var newest *process
	for _, p := range s.processes {
		if p.node == node && (newest == nil || p.started.After(newest.started)) {
			newest = p
		}
	}
	return newest
}

// Ready reports whether a node's gate is open.
func (s *Sidecars) Ready(node string) bool {
	p := s.processOf(node)
	return p != nil && p.ready()
}

func (s *Sidecars) pokePod(p *process) {
	s.mu.Lock()
	poke := s.poke
	s.mu.Unlock()
	poke(p.pod.Namespace, p.pod.Name)
}
