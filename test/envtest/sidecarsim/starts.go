package sidecarsim

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// SeidStart is one start of seid.
type SeidStart struct {
	At     time.Time
	Node   string
	Pod    types.UID
	Volume string
	// Version is the image of the container seid.
	Version string
	// ConfigHash and Overrides are the configuration it started with.
	ConfigHash string
	Overrides  map[string]string
	// Address is what it signs with; empty when it signs with none.
	Address string
}

// Leases tells who may sign with which address. Its functions must not call the
// Sidecars.
type Leases struct {
	// Holder is the UID of the object that holds an address; empty for nobody.
	Holder func(address string) (uid string)
	// Owner is the UID of the object that a node, namespace/name, belongs to.
	Owner func(node string) (uid string)
}

// SetLeases has every start of seid compared with the reservations of addresses.
func (s *Sidecars) SetLeases(leases Leases) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.leases = leases
}

// startChain starts seid with what is on disk.
func (m *model) startChain(c *chain, expect *wire.Expectation) *SeidStart {
	h := c.home
	h.started = true
	h.starts++
	c.with, c.address = h.files, c.signer()
	c.with.overrides = maps.Clone(h.files.overrides)
	c.state, c.since = api.SeidRunning, time.Now()
	start := SeidStart{
		At: c.since, Node: c.node, Pod: c.pod, Volume: h.volume, Version: c.version,
		ConfigHash: c.with.hash, Overrides: c.with.overrides, Address: c.address,
	}
	m.starts = append(m.starts, start)
	defer m.refuse(c)
	if expect != nil && expect.ConsensusAddress != c.address {
		m.violatef("S1: %s started with address %q behind a gate that was opened for %q", c.node, c.address, expect.ConsensusAddress)
	}
	for _, other := range m.chains {
		if other != c && other.running() && c.address != "" && other.address == c.address {
			m.violatef("S1: %s started with address %s, with which %s runs in pod %s", c.node, c.address, other.node, other.pod)
		}
	}
	if h.failedFor(c.version) {
		m.violatef("S2: %s started seid %s on configuration %q, which failed validation: %s", c.node, c.version, h.files.hash, h.validation.Error)
	}
	return &start
}

// checkLease is called without the lock: the test's functions may take their time.
func (m *model) checkLease(start SeidStart) {
	m.mu.Lock()
	leases := m.leases
	m.mu.Unlock()
	if start.Address == "" || leases.Holder == nil || leases.Owner == nil {
		return
	}
	holder, owner := leases.Holder(start.Address), leases.Owner(start.Node)
	if holder == "" || holder == owner {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.violatef("S1: %s (%s) started with address %s, which is held by %s", start.Node, owner, start.Address, holder)
}

// Starts are the starts of a node's seid, in order; an empty node means all.
func (s *Sidecars) Starts(node string) []SeidStart {
	s.settleNode(node)
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.model.starts), func(start SeidStart) bool { return node != "" && start.Node != node })
}

// Violations are all breaches of invariants ever seen: seid started with an address
// that another object holds, that another process runs with, or that is not the one its
// gate was opened for (S1), or on a configuration that failed validation for its version (S2), and two pods that run
// seid on one volume (S7).
func (s *Sidecars) Violations() []string {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	return slices.Clone(s.model.violations)
}
