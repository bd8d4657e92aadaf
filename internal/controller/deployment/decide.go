package deployment

import (
	"slices"

	"github.com/sei-operator/sei-operator/internal/fleet"
)

// decide works out what the template asks for and which nodes may take it over now.
func (r *Reconciler) decide(s *scope) error {
	var err error
	if s.targetHash, err = fleet.TargetHash(s.snd, r.Platform); err != nil {
		return err
	}
	s.ceremony = fleet.DecideCeremony(s.snd, s.genesis, s.now)
	if err := s.judge(); err != nil {
		return err
	}
	moves := fleet.Moves(s.nodes, fleet.MaxUnavailable(s.snd))
	for i, m := range s.members {
		m.moves = slices.Contains(moves, s.nodes[i].Ordinal)
		if m.live == nil || m.foreign != "" {
			continue
		}
		changes, err := m.target.Rolled(m.live)
		if err != nil {
			return err
		}
		s.changes = append(s.changes, changes...)
	}
	slices.Sort(s.changes)
	s.changes = slices.Compact(s.changes)
	return nil
}
