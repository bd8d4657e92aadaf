package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrNotHotReloadable is found by errors.Is when a field needs a restart.
var ErrNotHotReloadable = errors.New("not hot-reloadable")

// HotReloadable lists the unified keys that may change without a restart.
func HotReloadable() []string { return slices.Clone(hotReload) }

// Reload changes hot-reloadable keys and checks the result.
func Reload(files Files, fields map[string]string) (Files, error) {
	var cold []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key, err := KeyInfo(name)
		if err != nil {
			if near := nearest(name, hotReload); near != "" {
				return Files{}, fmt.Errorf("unknown field %q: did you mean %q? (%w)", name, near, ErrUnknownKey)
			}
			return Files{}, fmt.Errorf("unknown field %q: hot-reloadable are %v (%w)", name, hotReload, ErrUnknownKey)
		}
		if !key.HotReload {
			cold = append(cold, name)
		}
	}
	if len(cold) > 0 {
		return Files{}, fmt.Errorf("fields %v are %w and require a restart", cold, ErrNotHotReloadable)
	}
	out := files.clone()
	if err := applyOverrides(&out, fields); err != nil {
		return Files{}, err
	}
	if d := Validate(out, Facts{}); d.HasErrors() {
		return Files{}, &ValidationError{Diagnostics: d}
	}
	return out, nil
}
