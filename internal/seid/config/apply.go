package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// The versions of the configuration schema.
const (
	MinVersion     = 1
	CurrentVersion = 2
)

// Where the engine notes what it did. seid ignores the section.
var (
	placeMode         = Place{AppToml, "sei.mode"}
	placeVersion      = Place{AppToml, "sei.version"}
	placeRawOverrides = Place{AppToml, "sei.raw-overrides"}
	placeEngineMode   = Place{ConfigToml, "mode"}
	placeMoniker      = Place{ConfigToml, "moniker"}
	placeChainID      = Place{ClientToml, "chain-id"}
)

// Intent is what a node's configuration should become.
type Intent struct {
	// Mode selects the profile. It may be empty for an incremental apply.
	Mode seid.Mode
	// Overrides are set over the profile; keys are unified (evm.http_port) or
	// raw (config.toml:p2p.pex).
	Overrides map[string]string
	// Moniker is the node's name for its peers; empty keeps the one in the files.
	Moniker string
	// Incremental changes only what Overrides, Mode and Moniker name and leaves
	// the profile alone.
	Incremental bool
	// TargetVersion is the schema version; 0 means CurrentVersion.
	TargetVersion int
	// ChainID is the chain of the node. seid takes it from client.toml and refuses a
	// genesis of another one; empty keeps what is there.
	ChainID string
	// KeepStateSync keeps the section statesync as it is where state sync is on: the node
	// is about to fetch its first state, and the profile knows nothing of that.
	KeepStateSync bool
	// CPUs is what the node may use; 0 keeps seid's own sizes of worker pools.
	CPUs int
	// Defaults are the files as `seid init` of the node's version writes them for
	// the mode. With them a full apply sets every modelled key again, so
	// overrides that are gone from the intent are gone from the files, and keeps
	// only the keys it does not model. Without them the files given to Apply are
	// taken as fresh from `seid init`.
	Defaults *Files
	// Facts are checked together with the result.
	Facts Facts
}

// ValidationError is returned by Apply and Reload when the result would break
// the rules. Nothing was changed.
type ValidationError struct{ Diagnostics Diagnostics }

// Error implements error. The form is part of the sidecar's wire contract.
func (e *ValidationError) Error() string {
	return "config validation failed: " + e.Diagnostics.JSON()
}

// Apply returns the configuration that intent asks for, or an error that names
// every key at fault. Applied again to its own result it gives equal files.
func Apply(files Files, intent Intent) (Files, error) {
	if err := checkIntent(files, intent); err != nil {
		return Files{}, err
	}
	out := files.clone()
	if !intent.Incremental {
		out = startOver(out, intent)
		for _, s := range profile(intent.Mode, intent.CPUs) {
			if err := applySetting(&out, s); err != nil {
				return Files{}, fmt.Errorf("applying the %s profile: %w", intent.Mode, err)
			}
		}
	}
	if err := stamp(&out, intent); err != nil {
		return Files{}, err
	}
	if err := applyOverrides(&out, intent.Overrides); err != nil {
		return Files{}, err
	}
	if d := Validate(out, intent.Facts); d.HasErrors() {
		return Files{}, &ValidationError{Diagnostics: d}
	}
	return out, nil
}

func checkIntent(files Files, intent Intent) error {
	switch {
	case files.Config == nil:
		return errors.New("config.toml is missing: seid init has not run")
	case files.App == nil:
		return errors.New("app.toml is missing: seid init has not run")
	case intent.Mode == "" && !intent.Incremental:
		return errors.New("mode is required for non-incremental config resolution")
	case intent.TargetVersion != 0 && (intent.TargetVersion < MinVersion || intent.TargetVersion > CurrentVersion):
		return fmt.Errorf("targetVersion %d is not supported: want %d to %d", intent.TargetVersion, MinVersion, CurrentVersion)
	}
	if intent.Mode != "" {
		_, err := seid.ParseMode(string(intent.Mode))
		return err
	}
	return nil
}

// startOver returns the defaults with those values of files in them that the
// table does not model and that no earlier override wrote. Other spellings of what decides about
// signing are not kept: an imported home would bring them along.
func startOver(files Files, intent Intent) Files {
	if intent.Defaults == nil {
		return files
	}
	out := intent.Defaults.clone()
	if files.Client != nil {
		out.Client = files.Client
	}
	overridden := rawOverrides(files)
	for _, name := range []FileName{ConfigToml, AppToml} {
		tree := files.tree(name)
		for _, path := range tree.leaves() {
			place := Place{name, path}
			_, modelled := byPlace[place]
			if modelled || place == placeRawOverrides || place.DecidesSigning() || slices.Contains(overridden, place.String()) {
				continue
			}
			value, _ := tree.get(path)
			// A key that is a value in one version and a section in another stays
			// what this version makes of it.
			_ = out.set(place, value)
		}
	}
	if section, ok := files.Config.get("statesync"); ok && intent.KeepStateSync && newView(files).flag("state_sync.enable") {
		out.Config["statesync"] = cloneValue(section)
	}
	// The moniker is modelled, but it is the node's own and not a default.
	if moniker, ok := files.lookup(placeMoniker); ok {
		_ = out.set(placeMoniker, moniker)
	}
	return out
}

func rawOverrides(files Files) []string {
	list, _ := files.lookup(placeRawOverrides)
	var names []string
	items, _ := list.([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			names = append(names, s)
		}
	}
	return names
}

func applySetting(files *Files, s setting) error {
	key, err := KeyInfo(s.key)
	if err != nil {
		return err
	}
	if _, present := key.read(*files); s.onlyIfPresent && !present {
		return nil
	}
	value, err := parseValue(key.Kind, s.value)
	if err != nil {
		return fmt.Errorf("%s: %w", s.key, err)
	}
	return write(files, key, value)
}

// write sets a key at all its places. A value that means the same as the one in
// the file replaces it too: the file then has the canonical form.
func write(files *Files, key Key, value any) error {
	for _, p := range key.where(*files) {
		if err := files.set(p, value); err != nil {
			return err
		}
	}
	return nil
}

// stamp writes the mode, the version, the moniker and the chain.
func stamp(files *Files, intent Intent) error {
	type entry struct {
		place Place
		value any
	}
	var entries []entry
	if intent.Mode != "" {
		entries = append(entries,
			entry{placeEngineMode, string(intent.Mode.ConsensusEngineMode())}, entry{placeMode, string(intent.Mode)})
	}
	if intent.Moniker != "" {
		entries = append(entries, entry{placeMoniker, intent.Moniker})
	}
	if intent.ChainID != "" && files.Client != nil {
		entries = append(entries, entry{placeChainID, intent.ChainID})
	}
	if version := intent.TargetVersion; !intent.Incremental || version != 0 {
		if version == 0 {
			version = CurrentVersion
		}
		entries = append(entries, entry{placeVersion, int64(version)})
	}
	for _, e := range entries {
		if err := files.set(e.place, e.value); err != nil {
			return err
		}
	}
	return nil
}

// applyOverrides sets every override, or returns all errors there are.
func applyOverrides(files *Files, overrides map[string]string) error {
	var errs []error
	written := map[Place]string{}
	raw := rawOverrides(*files)
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		key, err := resolve(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("applying overrides: %w", overrideError(err)))
			continue
		}
		if err := applyOverride(files, key, overrides[name], written); err != nil {
			errs = append(errs, fmt.Errorf("applying override %q=%q: %w", name, overrides[name], err))
			continue
		}
		if key.Kind == KindAny && !slices.Contains(raw, name) {
			raw = append(raw, name)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return noteRawOverrides(files, raw)
}

// overrideError keeps the wording of the wire contract for unknown keys.
func overrideError(err error) error {
	if errors.Is(err, ErrUnknownKey) {
		return &wordedError{text: strings.Replace(err.Error(), ErrUnknownKey.Error(), "unknown override key", 1), cause: err}
	}
	return err
}

type wordedError struct {
	text  string
	cause error
}

func (e *wordedError) Error() string { return e.text }
func (e *wordedError) Unwrap() error { return e.cause }

func applyOverride(files *Files, key Key, text string, written map[Place]string) error {
	if key.Name == "mode" || key.Name == "version" {
		return checkStamped(*files, key, text)
	}
	if err := key.refuseSigning(); err != nil {
		return err
	}
	value, err := parseOverride(*files, key, text)
	if err != nil {
		return err
	}
	for _, p := range key.where(*files) {
		if other, ok := written[p]; ok {
			if existing, _ := files.lookup(p); !reflect.DeepEqual(existing, value) {
				return fmt.Errorf("override %q sets %s to something else", other, p)
			}
		}
		written[p] = key.Name
	}
	return write(files, key, value)
}

// parseOverride reads the text of an override. A raw key that nothing is known
// about keeps the type its value has in the file.
func parseOverride(files Files, key Key, text string) (any, error) {
	if key.Kind != KindAny {
		return parseValue(key.Kind, text)
	}
	existing, _ := key.read(files)
	switch existing.(type) {
	case string:
		return text, nil
	case bool:
		return parseBool(text)
	case int64:
		return parseInt(text)
	case float64:
		return parseFloat(text)
	}
	return guess(text), nil
}

// checkStamped lets the two keys that the intent itself sets be repeated.
func checkStamped(files Files, key Key, text string) error {
	want, _ := files.lookup(key.Places[len(key.Places)-1])
	if got, err := parseValue(key.Kind, text); err != nil || got != want {
		return fmt.Errorf("%s is %v: it is set by the intent, not by an override", key.Name, want)
	}
	return nil
}

// noteRawOverrides remembers which unmodelled keys came from overrides, so that
// a later full apply can tell them from keys that are just not known.
func noteRawOverrides(files *Files, names []string) error {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return files.set(placeRawOverrides, toAny(names))
}
