package sidecarsim

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// upgrades is what the chain's state on a volume has of upgrades.
type upgrades struct {
	// known: a seid has run on the state and was asked.
	known   bool
	applied []api.AppliedUpgrade
	plan    *api.Upgrade
	// needed is the upgrade that seid has stopped for.
	needed *api.Upgrade
}

// apply makes an upgrade part of the state.
func (u *upgrades) apply(done *api.Upgrade) {
	u.applied = slices.Concat([]api.AppliedUpgrade{{Name: done.Name, Height: done.Height}}, u.applied)
	u.plan, u.needed = nil, nil
}

// SetHandlers says which upgrades the seid of an image has. With images that were never named here
// seid runs on any state and stops for every upgrade.
func (s *Sidecars) SetHandlers(image string, names ...string) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.handlers[image] = names
}

// Applied gives a node's volume a state to which upgrades are applied, newest first, of which no seid
// has been asked yet.
func (s *Sidecars) Applied(node string, all ...api.AppliedUpgrade) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.home(s.model.volumes[node]).upgrades = upgrades{applied: all}
}

// Plan has a node's chain schedule an upgrade; nil cancels it.
func (s *Sidecars) Plan(node string, plan *api.Upgrade) {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.home(s.model.volumes[node]).upgrades.plan = plan
}

// ReachUpgrade takes a node to the height of the upgrade that is scheduled: its seid applies it, or
// stops for it.
func (s *Sidecars) ReachUpgrade(node string) error {
	s.settleNode(node)
	m := s.model
	m.mu.Lock()
	c := m.chainOf(node)
	if c == nil || !c.running() || c.home.upgrades.plan == nil {
		m.mu.Unlock()
		return fmt.Errorf("reaching an upgrade with %s: it does not run, or none is scheduled", node)
	}
	u := &c.home.upgrades
	if m.hasHandler(c.version, u.plan.Name) {
		u.apply(u.plan)
	} else {
		u.needed = u.plan
		m.refuse(c)
	}
	m.mu.Unlock()
	if p := s.process(c.pod); p != nil {
		s.pokePod(p)
	}
	return nil
}

func (m *model) hasHandler(image, name string) bool { return slices.Contains(m.handlers[image], name) }

// refuse ends a process that does not run on its state, as the upgrade module does.
func (m *model) refuse(c *chain) {
	u, exit := &c.home.upgrades, api.Exit{At: time.Now(), Reason: api.ExitUpgradeNeeded, Code: 2}
	_, listed := m.handlers[c.version]
	switch {
	case u.needed != nil && !m.hasHandler(c.version, u.needed.Name):
		exit.Upgrade = u.needed
		exit.Message = fmt.Sprintf("panic: UPGRADE %q NEEDED at height: %d: ", u.needed.Name, u.needed.Height)
		c.refused = &api.UpgradeRefusal{Kind: api.RefusedNeeded, Name: u.needed.Name, Message: exit.Message}
	case u.needed != nil:
		u.apply(u.needed)
		return
	case listed && len(u.applied) > 0 && !m.hasHandler(c.version, u.applied[0].Name):
		exit.Upgrade = &api.Upgrade{Name: u.applied[0].Name}
		exit.Message = "panic: Wrong app version 0, upgrade handler is missing for " + u.applied[0].Name + " upgrade plan"
		c.refused = &api.UpgradeRefusal{Kind: api.RefusedHandlerMissing, Name: u.applied[0].Name, Message: exit.Message}
	case u.plan != nil && !u.plan.Minor && m.hasHandler(c.version, u.plan.Name):
		exit.Reason, exit.Upgrade = api.ExitTooEarly, &api.Upgrade{Name: u.plan.Name}
		exit.Message = fmt.Sprintf("panic: BINARY UPDATED BEFORE TRIGGER! UPGRADE %q - in binary but not executed on chain", u.plan.Name)
		c.refused = &api.UpgradeRefusal{Kind: api.RefusedTooEarly, Name: u.plan.Name, Message: exit.Message}
	default:
		u.known = true
		return
	}
	c.end(exit, api.SeidExited)
}

// upgradesDocument adds what is reported upgrades. c may be nil.
func (m *model) upgradesDocument(doc *api.Node, h *home, c *chain) {
	u := &h.upgrades
	doc.Upgrade = u.plan
	if u.needed != nil {
		doc.Upgrade = u.needed
	}
	if c != nil && c.refused != nil && c.refused.Kind != api.RefusedTooEarly {
		doc.Sync = api.Sync{State: api.SyncUpgradeNeeded, Message: "seid has stopped: the chain needs another binary from this height on"}
	}
	if doc.APILevel < api.LevelUpgrades {
		return
	}
	told := &api.Upgrades{Known: u.known, Needed: u.needed}
	if u.known {
		told.Applied = slices.Clone(u.applied)
	} else if exit := h.lastExit; exit != nil && exit.Reason == api.ExitUpgradeNeeded && exit.Upgrade != nil && exit.Upgrade.Height == 0 {
		told.Applied = []api.AppliedUpgrade{{Name: exit.Upgrade.Name}}
	}
	if c != nil {
		told.Refusal = c.refused
	}
	doc.Upgrades = told
}
