package sidecarsim

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// gate is what a sidecar knows of its start gate beside the engine, which knows
// whether it is open, and who holds it. It lives as long as the sidecar.
type gate struct {
	// expect is what the gate was opened for; nil for whatever is there.
	expect  *wire.Expectation
	since   time.Time
	refusal string
}

// conditions are those of the model's gate. Permissions to open it without an operator are not
// modelled: the simulated sidecars always hear of one.
type conditions struct{ *process }

var _ engine.Conditions = conditions{}

// Check implements engine.Conditions.
func (c conditions) Check(_ context.Context, p wire.MarkReady) (api.Opening, error) {
	if err := c.mayOpen(p); err != nil {
		return api.Opening{}, err
	}
	if p.Expect == nil {
		return api.Opening{}, nil
	}
	return api.Opening{ConfigHash: p.Expect.ConfigHash, ConsensusAddress: p.Expect.ConsensusAddress}, nil
}

// Permit implements engine.Conditions.
func (conditions) Permit(wire.MarkReady, api.Opening) error { return nil }

// Revoke implements engine.Conditions.
func (conditions) Revoke() error { return nil }

// Refusal implements engine.Conditions.
func (c conditions) Refusal() string {
	c.all.model.mu.Lock()
	defer c.all.model.mu.Unlock()
	return c.gate.refusal
}

// mayOpen is the condition of mark-ready. What it accepts is what the gate was
// opened for.
func (p *process) mayOpen(params wire.MarkReady) error {
	m := p.all.model
	m.mu.Lock()
	defer m.mu.Unlock()
	if params.Expect != nil {
		if err := m.meets(p, *params.Expect); err != nil {
			return err
		}
	}
	p.gate.expect, p.gate.since, p.gate.refusal = params.Expect, time.Now(), ""
	return nil
}

// meets compares what a caller believes of the node with what is there.
func (m *model) meets(p *process, want wire.Expectation) error {
	h, version := m.home(p.volume), versionOf(p.pod)
	if h.files.hash != want.ConfigHash {
		return unmet("the configuration on disk is %q, not %q", h.files.hash, want.ConfigHash)
	}
	if !h.validFor(version) {
		return unmet("configuration %q has not passed validation for seid %s", h.files.hash, version)
	}
	key := mountedKey{mounted: mountsKey(p.pod)}
	if c := m.chains[p.pod.UID]; c != nil {
		key = c.key
	} else if key.mounted && h.signs() {
		return api.Retryable(api.CodeUnavailable, fmt.Errorf("the container %s has not started, so its key is not known yet", containerSeid))
	}
	signer := ""
	if h.signs() {
		signer = h.key(key)
	}
	if signer != want.ConsensusAddress {
		return unmet("seid would sign with the consensus address %q, not %q", signer, want.ConsensusAddress)
	}
	return nil
}

func unmet(format string, args ...any) error {
	return api.Terminal(api.CodePrecondition, fmt.Errorf(format, args...))
}

// refusal says why an open gate does not let seid start. Sidecars of older levels
// let it start whatever is there.
func (c *chain) refusal(g *gate, level int) string {
	h := c.home
	switch {
	case level < api.LevelNode:
		return ""
	case c.key.err != nil && h.signs():
		return fmt.Sprintf("the mounted consensus key cannot be read: %v", c.key.err)
	case g.expect != nil && c.signer() != g.expect.ConsensusAddress:
		return fmt.Sprintf("the consensus address is %q, and the gate was opened for %q", c.signer(), g.expect.ConsensusAddress)
	case h.failedFor(c.version):
		return "the configuration failed validation: " + h.validation.Error
	case h.files.hash != "" && !h.validFor(c.version):
		return fmt.Sprintf("configuration %q has not been validated for seid %s", h.files.hash, c.version)
	}
	return ""
}

// settle lets happen in a pod what is due: a process that waits behind an open gate
// starts, and a node that is in sync was so once.
func (s *Sidecars) settle(pod types.UID) {
	p := s.process(pod)
	if p == nil {
		return // without its sidecar no gate opens
	}
	if start := s.model.settle(p, p.ready()); start != nil {
		s.model.checkLease(*start)
		s.pokePod(p)
	}
}

func (s *Sidecars) settleNode(node string) {
	if p := s.processOf(node); p != nil {
		s.settle(p.pod.UID)
	}
}

func (m *model) settle(p *process, open bool) *SeidStart {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.chains[p.pod.UID]
	if c == nil {
		return nil
	}
	var start *SeidStart
	if open && c.state == api.SeidWaiting {
		if p.gate.refusal = c.refusal(&p.gate, m.levelOf(p.node)); p.gate.refusal == "" {
			start = m.startChain(c, p.gate.expect)
		}
	}
	if c.running() && m.syncOf(c.node, true).State == api.SyncInSync {
		c.home.synced = true
	}
	return start
}
