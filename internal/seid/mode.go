package seid

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is what a node is for. It decides the node's configuration profile.
type Mode string

// The modes of a node.
const (
	ModeValidator Mode = "validator"
	ModeFull      Mode = "full"
	ModeSeed      Mode = "seed"
	ModeArchive   Mode = "archive"
)

// Modes lists every mode, in the order in which people name them.
func Modes() []Mode { return []Mode{ModeValidator, ModeFull, ModeSeed, ModeArchive} }

// ParseMode reads a mode. Modes are lower case on the wire and on disk.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); m.Valid() {
		return m, nil
	}
	return "", fmt.Errorf("invalid mode %q: want one of %s", s, strings.Join(modeNames(), ", "))
}

// Valid reports whether m is one of Modes.
func (m Mode) Valid() bool { return slices.Contains(Modes(), m) }

// ConsensusEngineMode is the mode as the consensus engine's own configuration
// spells it: it knows no archive nodes, only full nodes that prune nothing.
func (m Mode) ConsensusEngineMode() Mode {
	if m == ModeArchive {
		return ModeFull
	}
	return m
}

// ServesRPC reports whether nodes of this mode answer clients. Validators and
// seeds do not: they take part in consensus or hand out addresses.
func (m Mode) ServesRPC() bool { return m == ModeFull || m == ModeArchive }

func modeNames() []string {
	names := make([]string, 0, len(Modes()))
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	return names
}
