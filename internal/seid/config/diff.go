package config

import (
	"reflect"
	"slices"
	"strings"
)

// ChangedKey is one difference between two configurations.
type ChangedKey struct {
	Place Place
	// Key is the unified key of the place, or "" if there is none.
	Key string
	// Old and New are nil where the key does not exist.
	Old, New any
}

// Diff lists what changed, ordered by file and path. Values that mean the same,
// such as 10 and "10" for a number, do not differ.
func Diff(before, after Files) []ChangedKey {
	var changed []ChangedKey
	for _, name := range FileNames() {
		paths := append(before.tree(name).leaves(), after.tree(name).leaves()...)
		slices.Sort(paths)
		for _, path := range slices.Compact(paths) {
			place := Place{name, path}
			oldValue, _ := before.lookup(place)
			newValue, _ := after.lookup(place)
			unified := byPlace[place]
			if !sameValue(unified, oldValue, newValue) {
				changed = append(changed, ChangedKey{Place: place, Key: unified, Old: oldValue, New: newValue})
			}
		}
	}
	return changed
}

func sameValue(unified string, a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	if unified == "" || a == nil || b == nil {
		return false
	}
	kind := registry[unified].Kind
	canonicalA, errA := canonical(kind, a)
	canonicalB, errB := canonical(kind, b)
	return errA == nil && errB == nil && reflect.DeepEqual(canonicalA, canonicalB)
}

// NeedsRestart reports whether seid has to be started anew for any of the
// changes to count. The engine's own notes and the settings of the command line
// are no matter to a running node, and further peers can wait for its next start.
// Its first ones cannot: a node without any would stay alone until then.
func NeedsRestart(changed []ChangedKey) bool {
	return slices.ContainsFunc(changed, func(c ChangedKey) bool {
		switch {
		case c.Place.File == ClientToml:
			return false
		case c.Place.File == AppToml && strings.HasPrefix(c.Place.Path, "sei."):
			return false
		case c.Key == keyPersistentPeers:
			return isEmpty(c.Old) && !isEmpty(c.New)
		case c.Key != "" && registry[c.Key].HotReload:
			return false
		}
		return true
	})
}

const keyPersistentPeers = "network.p2p.persistent_peers"

func isEmpty(value any) bool { return value == nil || value == "" }
