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

// Running is what is known of the node that a change meets.
type Running struct {
	// InSync: the node keeps up with its chain.
	InSync bool
	// Synced: the node was in sync at least once, so it never syncs its state again.
	Synced bool
}

// RestartKeys are the changes that only a restart of seid brings into force. The engine's
// own notes and the settings of the command line are no matter to a running node, and
// further peers can wait for its next start. The first ones cannot, unless the node is in
// sync without them: it would stay alone until then.
func RestartKeys(changed []ChangedKey, node Running) []ChangedKey {
	return slices.DeleteFunc(slices.Clone(changed), func(c ChangedKey) bool { return !needsRestart(c, node) })
}

// NeedsRestart reports whether seid has to be started over for any of the changes to count.
func NeedsRestart(changed []ChangedKey) bool { return len(RestartKeys(changed, Running{})) > 0 }

func needsRestart(c ChangedKey, node Running) bool {
	switch {
	case c.Place.File == ClientToml:
		return false
	case c.Place.File == AppToml && strings.HasPrefix(c.Place.Path, "sei."):
		return false
	case c.Place.File == ConfigToml && strings.HasPrefix(c.Place.Path, "statesync."):
		return !node.Synced
	case c.Key == keyPersistentPeers:
		return !node.InSync && isEmpty(c.Old) && !isEmpty(c.New)
	case c.Key != "" && registry[c.Key].HotReload:
		return false
	}
	return true
}

const (
	keyPersistentPeers = "network.p2p.persistent_peers"
	keyExternalAddress = "network.p2p.external_address"
	keyRPCAddress      = "network.rpc.listen_address"
	keyP2PAddress      = "network.p2p.listen_address"
)

func isEmpty(value any) bool { return value == nil || value == "" }
