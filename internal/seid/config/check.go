package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ordinalVariable stands for a node's ordinal in some fields of a fleet's template. Admission cannot
// look for it in every override: the rule would cost more than an API server grants.
const ordinalVariable = "$(ORDINAL)"

// CheckOverrides finds keys that do not exist, keys that nobody may set and values that do not
// parse, without looking at any node's files. What depends on the files is found by Apply.
func CheckOverrides(overrides map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		key, err := resolve(name)
		if err != nil {
			errs = append(errs, overrideError(err))
			continue
		}
		if err := key.refuseSigning(); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
			continue
		}
		if strings.Contains(overrides[name], ordinalVariable) {
			errs = append(errs, fmt.Errorf("%q=%q: %s means nothing in overrides, only in the Secret names of a fleet's template: write the value out",
				name, overrides[name], ordinalVariable))
			continue
		}
		if err := checkSnapshotDir(key, overrides[name]); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
			continue
		}
		if key.Kind == KindAny || key.Name == "version" {
			continue
		}
		if _, err := parseValue(key.Kind, overrides[name]); err != nil {
			errs = append(errs, fmt.Errorf("%q=%q: %w", name, overrides[name], err))
		}
	}
	return errors.Join(errs...)
}
