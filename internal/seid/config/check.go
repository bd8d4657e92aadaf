package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// CheckOverrides finds keys that do not exist and values that do not parse, without
// looking at any node's files. What depends on the files is found by Apply.
func CheckOverrides(overrides map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		key, err := resolve(name)
		if err != nil {
			errs = append(errs, overrideError(err))
			continue
		}
		if key.Kind == KindAny || key.Name == "mode" || key.Name == "version" {
			continue
		}
		if _, err := parseValue(key.Kind, overrides[name]); err != nil {
			errs = append(errs, fmt.Errorf("%q=%q: %w", name, overrides[name], err))
		}
	}
	return errors.Join(errs...)
}
