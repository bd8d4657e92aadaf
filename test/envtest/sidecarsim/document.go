package sidecarsim

import (
	"context"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

type amendment struct {
	node   string
	change func(*api.Node)
}

// Amend has a node's document changed before it is handed out, for what the model
// does not know, until the returned function is called. An empty node means every one.
func (s *Sidecars) Amend(node string, change func(*api.Node)) (remove func()) {
	a := &amendment{node, change}
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	m.amends = append(m.amends, a)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.amends = slices.DeleteFunc(m.amends, func(other *amendment) bool { return other == a })
	}
}

// document is the answer to GET /v0/node.
func (p *process) document(context.Context) api.Node {
	gate := p.gateState()
	p.all.settle(p.pod.UID)
	m := p.all.model
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.chains[p.pod.UID]
	running := c != nil && c.running()
	doc := api.Node{
		APILevel: m.levelOf(p.node),
		Gate:     p.gate.document(gate),
		Home:     m.homeDocument(m.home(p.volume), p, c),
		Seid:     m.seidDocument(m.home(p.volume), c),
		Sync:     m.syncOf(p.node, running),
	}
	doc.Seid.Version = versionOf(p.pod) // a sidecar asks the seid in its own container, as it was started
	if export := m.home(p.volume).export; export != nil && doc.APILevel >= api.LevelResultExport {
		doc.ResultExport = new(*export)
	}
	if doc.APILevel >= api.LevelPublish {
		doc.Published = &api.Published{Keep: m.home(p.volume).publish}
	}
	m.upgradesDocument(&doc, m.home(p.volume), c)
	for _, a := range m.amends {
		if a.node == "" || a.node == p.node {
			a.change(&doc)
		}
	}
	return doc
}

func (g *gate) document(is api.Gate) api.Gate {
	doc := api.Gate{State: is.State, HeldBy: is.HeldBy, Since: timeOf(g.since)}
	if is.State != api.GateOpen {
		return doc
	}
	doc.Refusal, doc.Opened = g.refusal, &api.Opening{}
	if g.expect != nil {
		doc.Opened = &api.Opening{ConfigHash: g.expect.ConfigHash, ConsensusAddress: g.expect.ConsensusAddress}
	}
	return doc
}

// homeDocument is what can be seen of a home; p and c may be nil.
func (m *model) homeDocument(h *home, p *process, c *chain) api.Home {
	doc := api.Home{
		Stage: h.stage(), GenesisHash: h.genesis, ConfigHash: h.files.hash, NodeID: h.nodeID(), Signs: h.signs(),
		StateSync: h.stateSync, Emptied: h.emptied && !h.started && len(h.restored) == 0,
	}
	if h.validation != nil {
		doc.Validation = new(*h.validation)
	}
	if h.refused != nil {
		doc.Refused = new(*h.refused)
	}
	key := mountedKey{mounted: p != nil && mountsKey(p.pod)} // not known before the container starts
	if c != nil {
		key = c.key
	}
	doc.ConsensusAddress = h.key(key)
	return doc
}

func (m *model) seidDocument(h *home, c *chain) api.Seid {
	doc := api.Seid{Starts: h.starts}
	if h.lastExit != nil {
		doc.LastExit, doc.Divergence = new(*h.lastExit), h.lastExit.Divergence
	}
	if c == nil {
		if h.started {
			doc.State = api.SeidExited
		}
		return doc
	}
	doc.State, doc.Since, doc.Version = c.state, timeOf(c.since), c.version
	if c.running() {
		doc.ConfigHash, doc.ConsensusAddress = c.with.hash, c.address
		doc.RestartDue = places(restartDue(c.with, h.files, m.syncOf(c.node, true).State == api.SyncInSync))
	}
	return doc
}

// Home is a node's home as its document shows it, also while no pod runs.
func (s *Sidecars) Home(node string) api.Home {
	s.settleNode(node)
	p := s.processOf(node)
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	volume, known := m.volumes[node]
	if !known {
		return api.Home{Stage: api.HomeEmpty}
	}
	return m.homeDocument(m.home(volume), p, m.chainOf(node))
}

// Process is a node's chain process as its document shows it.
func (s *Sidecars) Process(node string) api.Seid {
	s.settleNode(node)
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seidDocument(m.home(m.volumes[node]), m.chainOf(node))
}

// Disk is what lies on a node's volume beside what its document shows.
type Disk struct {
	Mode      string
	Overrides map[string]string
	// StateSync: the node is set to fetch its first state from peers.
	StateSync bool
	// Restored are the heights of the snapshots that were restored, in order; 0 for
	// the newest.
	Restored []int64
	// Good is the hash of the last configuration that passed validation.
	Good string
}

// Disk looks at a node's volume.
func (s *Sidecars) Disk(node string) Disk {
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.home(m.volumes[node])
	disk := Disk{
		Mode: string(h.files.mode), Overrides: maps.Clone(h.files.overrides), StateSync: h.stateSync, Restored: slices.Clone(h.restored),
	}
	if h.good != nil {
		disk.Good = h.good.hash
	}
	return disk
}

// keepsUp says why no client should be sent to a pod's node; nil means that its seid
// runs and is in sync.
func (s *Sidecars) keepsUp(node string, pod types.UID) error {
	s.settle(pod)
	m := s.model
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.chains[pod]
	sync := m.syncOf(node, c != nil && c.running())
	switch {
	case sync.State == api.SyncInSync:
		return nil
	case sync.Message != "":
		return errors.New(sync.Message)
	default:
		return errors.New("the node is out of sync: " + string(sync.State))
	}
}
