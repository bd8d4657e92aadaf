package fleet

import (
	"slices"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Decision is what to do about a fleet.
type Decision struct {
	// TargetHash identifies what the nodes are brought to.
	TargetHash string
	Ceremony   Ceremony
	// Nodes is how the members are judged, by ordinal.
	Nodes []Node
	// Moves are the ordinals of those that may take over the template now.
	Moves []int
	// Changes are the fields a rollout is about.
	Changes []string
	// Next is the upgrade that the chain has scheduled; nil when there is none.
	Next *v1alpha1.ScheduledUpgrade
	// Upgrade is the one that the fleet goes through; nil when there is none.
	Upgrade *v1alpha1.ScheduledUpgrade
}

// Decide works out what the template asks for and which nodes may take it over now.
func Decide(o *Observation, cfg *platform.Config) (Decision, error) {
	hash, err := TargetHash(o.Fleet, cfg)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{
		TargetHash: hash, Nodes: make([]Node, 0, len(o.Members)),
		Ceremony: DecideCeremony(o.Fleet, CeremonyFacts{Genesis: o.Genesis, Founders: o.Founders}, o.Now),
		Next:     nextUpgrade(o.Members), Upgrade: upgradeUnderWay(o),
	}
	validators := d.Ceremony.validators()
	for i := range o.Members {
		m := &o.Members[i]
		rolled, err := m.rolled()
		if err != nil {
			return Decision{}, err
		}
		d.Changes = append(d.Changes, rolled...)
		d.Nodes = append(d.Nodes, d.judge(o, m, len(rolled) == 0).outside(NotInGenesis(m.own(), validators)))
	}
	slices.Sort(d.Changes)
	d.Changes = slices.Compact(d.Changes)
	d.Moves = Moves(d.Nodes, MaxUnavailable(o.Fleet))
	return d, nil
}

// rolled lists the fields in which a member has to move.
func (m *Member) rolled() ([]string, error) {
	if m.own() == nil || m.Live.DeletionTimestamp != nil {
		return nil, nil
	}
	return m.Target.Rolled(m.Live)
}

// judge looks at a member; current says whether its spec holds what the template asks for.
func (d *Decision) judge(o *Observation, m *Member, current bool) Node {
	l := look{current: current, restarted: m.Restarted, partition: Partition(o.Fleet), minReady: MinReady(o.Fleet), now: o.Now}
	if d.Upgrade != nil {
		l.upgrade = d.Upgrade.Name
	}
	n := observe(m.Target, m.own(), l).restartedBy(m.Task)
	n.FirstSync = m.own() == nil || firstSync(o.Fleet, m.Live)
	switch {
	case m.Foreign != "":
		n.Why = m.Foreign
	case m.Refused != "":
		n.Why, n.Failed, n.Refused = m.Refused, m.Refused, true
	}
	return n
}

// Judge looks at the members as acting on a decision has left them.
func (d *Decision) Judge(o *Observation, after []Member) []Node {
	nodes := make([]Node, 0, len(after))
	for i := range after {
		nodes = append(nodes, d.judge(o, &after[i], d.Nodes[i].Current || after[i].Moved).outside(d.Nodes[i].NotInGenesis))
	}
	return nodes
}

// Halted is the decision once a node was refused: of the others only those that are down move.
func (d Decision) Halted() Decision {
	d.Moves = slices.DeleteFunc(slices.Clone(d.Moves), func(ordinal int) bool {
		return slices.ContainsFunc(d.Nodes, func(n Node) bool { return n.Ordinal == ordinal && (n.Ready || n.Unknown) })
	})
	return d
}

// MayMove reports whether a member may take over the template now.
func (d *Decision) MayMove(i int) bool { return slices.Contains(d.Moves, d.Nodes[i].Ordinal) }

// LeavesAlone reports whether nothing is written of a member now: it is another owner's or about to
// go, or it is not there and would wait without success, for a genesis that never comes or for an address
// that its Service does not have yet.
func (d *Decision) LeavesAlone(m *Member) bool {
	if m.Live == nil {
		return d.Ceremony.State == CeremonyBlocked || m.Target.Awaits != ""
	}
	return m.Foreign != "" || m.Live.DeletionTimestamp != nil
}

// Want is what a member should be now: the template, or as much of it as a node may take
// over that has to wait for its turn.
func (d *Decision) Want(i int, m *Member) (Child, error) {
	switch {
	case m.Live == nil:
		return m.Target, nil
	case d.Nodes[i].Current || d.MayMove(i):
		return m.Target.KeepingRestart(m.Live), nil
	default:
		return m.Target.Held(m.Live)
	}
}
