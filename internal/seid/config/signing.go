package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// seid signs blocks in mode validator and in no other: only there its consensus engine is given
// the key. What decides about it stands in config.toml, and seid reads that without regard to
// case, takes a dot in a key for a section, and prefers both to the usual spelling. So does this
// file. Nobody but the node's mode may set any of it: with a second key, a state file that forgot
// what was signed, or a signer elsewhere a validator signs the same height twice.

// ErrDecidesSigning is found by errors.Is when something would change how a node signs.
var ErrDecidesSigning = errors.New("decides how a node signs blocks")

const (
	pathMode   = "mode"
	pathSigner = "priv-validator"
)

// DecidesSigning reports whether a place, in any spelling, decides whether seid signs blocks, with
// which key, and where it remembers what it has signed. The flat keys of older consensus engines
// count too.
func (p Place) DecidesSigning() bool {
	path := fold(p.Path)
	return strings.HasPrefix(path, pathSigner) || p.File == ConfigToml && path == pathMode || p.File == AppToml && path == placeMode.Path
}

func fold(path string) string { return strings.ReplaceAll(strings.ToLower(path), "_", "-") }

// holdsSigning reports whether a section holds such a place.
func (p Place) holdsSigning() bool {
	return p.DecidesSigning() || p.File == placeMode.File && strings.HasPrefix(placeMode.Path, p.Path+".")
}

// refuseSigning says why nobody may set a place; nil when that is allowed.
func refuseSigning(p Place) error {
	if !p.DecidesSigning() {
		return nil
	}
	return signingError(p)
}

func signingError(p Place) error {
	if strings.HasPrefix(fold(p.Path), pathSigner) {
		return fmt.Errorf("%s %w: a validator whose key, signing state or signer is elsewhere may sign a height twice; remove the key", p, ErrDecidesSigning)
	}
	return fmt.Errorf("%s %w: the mode follows from what the node is and cannot be set here; remove the key", p, ErrDecidesSigning)
}

// refuseSigning says why nobody may set a key; nil when that is allowed.
func (k Key) refuseSigning() error {
	for _, p := range slices.Concat(k.Places, k.Variants) {
		if err := refuseSigning(p); err != nil {
			return err
		}
	}
	return nil
}

// Signs reports whether seid signs blocks with these files when its key is in the validator set.
// Of several spellings of the mode one is enough.
func Signs(files Files) bool {
	return slices.Contains(texts(files.Config, pathMode), string(seid.ModeValidator))
}

// RemoteSigner is the address on which seid waits for another process that has its key; empty when
// it uses the key file.
func RemoteSigner(files Files) string { return files.text(pathSigner, "laddr") }

// SigningVariable reports whether an environment variable would set what decides about signing:
// seid reads every key of config.toml from one, and prefers it to the file.
func SigningVariable(name string) bool {
	key, ours := strings.CutPrefix(name, strings.ToUpper(seid.BinaryName)+"_")
	path := strings.ToLower(strings.ReplaceAll(key, "_", "-"))
	return ours && (path == pathMode || strings.HasPrefix(path, pathSigner))
}

// texts are the texts that a file holds under a path in any spelling that seid takes for it, the
// one that seid prefers first.
func texts(table map[string]any, path string) []string {
	var odd, plain []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		lower := strings.ToLower(name)
		rest, inside := strings.CutPrefix(path, lower+".")
		var found []string
		if lower == path {
			if text, ok := table[name].(string); ok {
				found = []string{text}
			}
		} else if section, ok := table[name].(map[string]any); ok && inside {
			found = texts(section, rest)
		}
		if name == lower && !strings.Contains(name, ".") {
			plain = append(plain, found...)
		} else {
			odd = append(odd, found...)
		}
	}
	return append(odd, plain...)
}

// ruleSigningSpelling finds second spellings of what decides about signing.
func ruleSigningSpelling(v *view) {
	second := func(path string) {
		if (Place{ConfigToml, path}).DecidesSigning() {
			v.errorf(path, "is another spelling of a key that %v, and seid prefers it: remove it from %s", ErrDecidesSigning, ConfigToml)
		}
	}
	for _, path := range v.files.Config.leaves() {
		if path != strings.ToLower(path) {
			second(path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.files.Config)) {
		if strings.Contains(name, ".") && name == strings.ToLower(name) {
			second(name)
		}
	}
}
