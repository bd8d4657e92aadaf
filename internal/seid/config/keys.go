package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Place is where a value lives: a file and a dotted TOML path in it.
type Place struct {
	File FileName
	Path string
}

// String spells the place the way raw keys do.
func (p Place) String() string { return string(p.File) + ":" + p.Path }

// Key is one unified key.
type Key struct {
	// Name is dotted snake case, for example network.p2p.persistent_peers.
	Name string
	Kind Kind
	// Places are where the key is written: all of them. A key without a place
	// is accepted and written nowhere.
	Places []Place
	// Variants are where other versions of seid keep the same setting. They are
	// used where the node's files have them, because seid prefers them then.
	Variants []Place
	// HotReload: the key may be changed without a restart.
	HotReload bool
}

// ErrUnknownKey is found by errors.Is in errors about keys that do not exist.
var ErrUnknownKey = errors.New("unknown key")

// hotReload are the keys that config-reload accepts.
var hotReload = []string{
	"evm.cors_origins",
	"evm.deny_list",
	"logging.level",
	"mempool.size",
	"network.p2p.persistent_peers",
	"network.rpc.cors_allowed_origins",
	"network.rpc.lag_threshold",
	"network.rpc.listen_address",
	"network.rpc.max_open_connections",
}

var (
	registry = buildRegistry()
	byPlace  = indexPlaces(registry)
)

func buildRegistry() map[string]Key {
	keys := make(map[string]Key, len(table))
	for _, r := range table {
		places, variants, _ := strings.Cut(r.where, " | ")
		keys[r.name] = Key{
			Name: r.name, Kind: r.kind,
			Places: splitPlaces(places), Variants: splitPlaces(variants),
			HotReload: slices.Contains(hotReload, r.name),
		}
	}
	return keys
}

func splitPlaces(s string) []Place {
	if s == "" {
		return nil
	}
	var places []Place
	for part := range strings.SplitSeq(s, " + ") {
		file, path, _ := strings.Cut(part, ":")
		places = append(places, Place{File: FileName(file), Path: path})
	}
	return places
}

func indexPlaces(keys map[string]Key) map[Place]string {
	index := map[Place]string{}
	for name, k := range keys {
		for _, p := range slices.Concat(k.Places, k.Variants) {
			index[p] = name
		}
	}
	return index
}

// Keys lists the names of all unified keys, sorted.
func Keys() []string { return slices.Sorted(maps.Keys(registry)) }

// KeyInfo tells everything about a unified key. The error for an unknown key
// names the nearest one.
func KeyInfo(name string) (Key, error) {
	if k, ok := registry[name]; ok {
		return k, nil
	}
	return Key{}, unknownKey(name)
}

// bareKey is what a TOML key looks like that needs no quotes.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// resolve finds the key an override names: a unified one, or a raw one
// (file:path), which becomes the unified key of that place if there is one.
func resolve(name string) (Key, error) {
	file, path, raw := strings.Cut(name, ":")
	if !raw {
		return KeyInfo(name)
	}
	fileName, err := parseFileName(file)
	if err != nil {
		return Key{}, fmt.Errorf("raw key %q: %w", name, err)
	}
	for step := range strings.SplitSeq(path, ".") {
		if !bareKey.MatchString(step) {
			return Key{}, fmt.Errorf("raw key %q: %q is not a dotted path of TOML keys", name, path)
		}
	}
	place := Place{File: fileName, Path: path}
	kind := KindAny
	if unified, ok := byPlace[place]; ok {
		kind = registry[unified].Kind
	}
	return Key{Name: name, Kind: kind, Places: []Place{place}}, nil
}

// where lists the places of k that are in use in files: those that exist, and
// if none does the key's own.
func (k Key) where(files Files) []Place {
	var present []Place
	for _, p := range slices.Concat(k.Variants, k.Places) {
		if _, ok := files.lookup(p); ok {
			present = append(present, p)
		}
	}
	switch {
	case len(present) == 0:
		return k.Places
	case len(k.Variants) > 0:
		return present
	}
	return k.Places
}

// read returns the value that seid would take, as it is in the file.
func (k Key) read(files Files) (any, bool) {
	for _, p := range k.where(files) {
		if v, ok := files.lookup(p); ok {
			return v, true
		}
	}
	return nil, false
}

func unknownKey(name string) error {
	if near := nearest(name, Keys()); near != "" {
		return fmt.Errorf("%w %q: did you mean %q?", ErrUnknownKey, name, near)
	}
	return fmt.Errorf("%w %q: it is neither a unified key nor a raw one like config.toml:p2p.pex", ErrUnknownKey, name)
}
