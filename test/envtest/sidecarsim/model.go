package sidecarsim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// model is what the sidecars look at and change: homes on volumes, and the chain
// processes of pods. Homes survive pods, processes do not.
type model struct {
	mu    sync.Mutex
	homes map[string]*home
	// chains are the seid containers that run, by pod.
	chains map[types.UID]*chain
	// volumes names the volume that a node was seen on last.
	volumes map[string]string
	// derived counts the volumes of each node whose keys are derived from its name; nil when none are.
	derived map[string]int

	syncs map[string]api.Sync
	// handlers are the upgrades that the seid of an image has.
	handlers map[string][]string
	levels   map[string]int
	verdicts []*verdict
	amends   []*amendment

	starts     []SeidStart
	violations []string
	leases     Leases
}

func newModel() *model {
	return &model{
		homes: map[string]*home{}, chains: map[types.UID]*chain{}, volumes: map[string]string{},
		syncs: map[string]api.Sync{}, handlers: map[string][]string{}, levels: map[string]int{},
	}
}

// home is the home of a volume; an empty one if nothing was done there yet. The
// caller holds the lock.
func (m *model) home(volume string) *home {
	h := m.homes[volume]
	if h == nil {
		h = &home{volume: volume, identity: volume, restarts: map[string]int{}}
		m.homes[volume] = h
	}
	return h
}

// use notes that a node's pod uses a volume.
func (m *model) use(node, volume string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.volumes[node] = volume
	h := m.home(volume)
	if m.derived == nil || h.identity != volume {
		return
	}
	_, name, _ := strings.Cut(node, "/")
	m.derived[name]++
	h.identity = fmt.Sprintf("volume %d of %s", m.derived[name], name)
}

// DeriveKeys derives the keys on volumes from the names of their nodes: the first volume of a node
// has the same keys in every world. Otherwise they are the volume's own.
func (s *Sidecars) DeriveKeys() {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.derived = map[string]int{}
}

func (m *model) levelOf(node string) int {
	if level, set := m.levels[node]; set {
		return level
	}
	return api.Level
}

// syncOf is the sync state of a node.
func (m *model) syncOf(node string, running bool) api.Sync {
	sync, set := m.syncs[node]
	if !set {
		sync = api.Sync{State: api.SyncInSync, Height: 1000}
	}
	if !running && sync.State != api.SyncHalted && sync.State != api.SyncUpgradeNeeded {
		return api.Sync{State: api.SyncNotRunning, Message: "seid does not run"}
	}
	return sync
}

type verdict struct {
	judge func(overrides map[string]string, seidVersion string) error
}

// RefuseConfig has config-validate refuse the configurations that judge gives an
// error for, until the returned function is called.
func (s *Sidecars) RefuseConfig(judge func(overrides map[string]string, seidVersion string) error) (remove func()) {
	v := &verdict{judge}
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verdicts = append(m.verdicts, v)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.verdicts = slices.DeleteFunc(m.verdicts, func(other *verdict) bool { return other == v })
	}
}

// SetLevel makes a node's sidecar one of an older API level, now and in pods to
// come: it does not know the paths and parameters that came later.
func (s *Sidecars) SetLevel(node string, level int) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.levels[node] = level
}

// SetSync decides the sync state of a node while its seid runs, in the node
// document and in the answer to readiness probes.
func (s *Sidecars) SetSync(node string, state api.SyncState, message string) {
	s.model.mu.Lock()
	s.model.syncs[node] = api.Sync{State: state, Message: message}
	s.model.mu.Unlock()
	if p := s.processOf(node); p != nil {
		s.settle(p.pod.UID)
		s.pokePod(p)
	}
}

// SetInSync decides whether a node keeps up with its chain while its seid runs.
func (s *Sidecars) SetInSync(node string, inSync bool) {
	if inSync {
		s.SetSync(node, api.SyncInSync, "")
		return
	}
	s.SetSync(node, api.SyncBehind, "the node is out of sync")
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
