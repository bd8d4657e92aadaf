package node

import (
	"errors"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Mode is one kind of node, by all the names it goes under.
type Mode struct {
	// Field is the field of the spec that selects it.
	Field string
	// Role is the value of the label sei.io/role.
	Role string
	// Seid is the profile that seid is configured with.
	Seid seid.Mode
	// Words is what people call it.
	Words string

	selected func(*v1alpha1.SeiNodeSpec) bool
}

// modes is every mode there is. A replayer is a full node with other settings.
var modes = []Mode{
	{"fullNode", v1alpha1.RoleNode, seid.ModeFull, "full node", func(s *v1alpha1.SeiNodeSpec) bool { return s.FullNode != nil }},
	{"archive", v1alpha1.RoleArchive, seid.ModeArchive, "archive", func(s *v1alpha1.SeiNodeSpec) bool { return s.Archive != nil }},
	{"replayer", v1alpha1.RoleReplayer, seid.ModeFull, "replayer", func(s *v1alpha1.SeiNodeSpec) bool { return s.Replayer != nil }},
	{"validator", v1alpha1.RoleValidator, seid.ModeValidator, "validator", func(s *v1alpha1.SeiNodeSpec) bool { return s.Validator != nil }},
	{"seed", v1alpha1.RoleSeed, seid.ModeSeed, "seed", func(s *v1alpha1.SeiNodeSpec) bool { return s.Seed != nil }},
}

// Modes lists every mode.
func Modes() []Mode { return modes }

// errNoMode is a spec of a mode that this version does not know, or of none.
var errNoMode = errors.New("the spec selects no mode that this version of the operator knows: " +
	"set one of fullNode, archive, replayer, validator and seed, or upgrade the operator")

// ModeOf is the mode that a spec selects. One that is not known is an error and never taken for
// another.
func ModeOf(spec *v1alpha1.SeiNodeSpec) (Mode, error) {
	for _, m := range modes {
		if m.selected(spec) {
			return m, nil
		}
	}
	return Mode{}, errNoMode
}

// ServesRPC reports whether nodes of this mode answer clients.
func (m Mode) ServesRPC() bool { return m.Seid.ServesRPC() }
