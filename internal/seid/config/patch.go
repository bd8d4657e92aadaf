package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxPatchDepth bounds how deep a patch may nest. The files nest three deep.
const maxPatchDepth = 16

// ParsePatch decodes the JSON of one file's patch without turning its integers
// into floats.
func ParsePatch(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var patch map[string]any
	if err := dec.Decode(&patch); err != nil {
		return nil, fmt.Errorf("parsing patch: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("parsing patch: more than one JSON value")
	}
	if patch == nil {
		return nil, errors.New("parsing patch: want an object of keys")
	}
	return patch, nil
}

// Patch merges raw TOML keys into the files: tables merge, null deletes, all
// else replaces. A file that does not exist begins empty. The error names the
// place at fault; nothing is merged then.
func Patch(files Files, patch map[string]map[string]any) (Files, error) {
	out := files.clone()
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		file, err := parseFileName(name)
		if err != nil {
			return Files{}, err
		}
		slot, err := out.slot(file)
		if err != nil {
			return Files{}, err
		}
		if *slot == nil {
			*slot = Tree{}
		}
		if err := merge(*slot, patch[name], Place{File: file}, 1); err != nil {
			return Files{}, err
		}
	}
	return out, nil
}

func merge(table, patch map[string]any, at Place, depth int) error {
	if depth > maxPatchDepth {
		return fmt.Errorf("%s: nested deeper than %d", at, maxPatchDepth)
	}
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		place := Place{at.File, strings.TrimPrefix(at.Path+"."+name, ".")}
		if !bareKey.MatchString(name) {
			return fmt.Errorf("%s: %q is not a TOML key: nest sections as objects, keys have letters, digits, - and _", at.File, name)
		}
		if patch[name] == nil {
			if place.holdsSigning() {
				return signingError(place)
			}
			delete(table, name)
			continue
		}
		if err := refuseSigning(place); err != nil {
			return err
		}
		sub, isTable := patch[name].(map[string]any)
		if isTable {
			if err := mergeSection(table, name, sub, place, depth); err != nil {
				return err
			}
			continue
		}
		if _, wasTable := table[name].(map[string]any); wasTable {
			return fmt.Errorf("%s is a section: want an object, or null to delete it", place)
		}
		value, err := patchValue(place, table[name], patch[name], depth)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		table[name] = value
	}
	return nil
}

func mergeSection(table map[string]any, name string, patch map[string]any, place Place, depth int) error {
	if unified, isKey := byPlace[place]; isKey {
		return fmt.Errorf("%s is a value (%s): want %s, got an object", place, unified, article(registry[unified].Kind))
	}
	next, ok := table[name].(map[string]any)
	if !ok {
		if _, exists := table[name]; exists {
			return fmt.Errorf("%s is a value: want no object", place)
		}
		next = map[string]any{}
	}
	if err := merge(next, patch, place, depth+1); err != nil {
		return err
	}
	table[name] = next
	return nil
}

// patchValue gives a JSON value its TOML form. A key of the table gets the form
// of its kind; numbers of unknown keys stay what they are in the file.
func patchValue(place Place, existing, value any, depth int) (any, error) {
	value, err := fromJSON(value, depth)
	if err != nil {
		return nil, err
	}
	if unified, ok := byPlace[place]; ok {
		return canonical(registry[unified].Kind, value)
	}
	if n, isInt := value.(int64); isInt {
		if _, wasFloat := existing.(float64); wasFloat {
			return float64(n), nil
		}
	}
	return value, nil
}

// fromJSON turns what JSON decoding gives into what a TOML tree holds. Whole
// numbers become integers however they were decoded.
func fromJSON(value any, depth int) (any, error) {
	if depth > maxPatchDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxPatchDepth)
	}
	switch v := value.(type) {
	case string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		return wholeNumber(v)
	case json.Number:
		return fromNumber(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			if e == nil {
				return nil, errors.New("a list cannot hold null")
			}
			item, err := fromJSON(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = item
		}
		return out, nil
	case map[string]any: // inside a list: a table without merge
		out := map[string]any{}
		return out, merge(out, v, Place{}, depth+1)
	}
	return nil, fmt.Errorf("cannot be written to a TOML file: %T", value)
}

func fromNumber(n json.Number) (any, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil || !strings.ContainsAny(n.String(), ".eE") {
		return nil, fmt.Errorf("the number %s is too large", n)
	}
	return f, nil
}

func wholeNumber(f float64) (any, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("%v is not a number", f)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return int64(f), nil
	}
	return f, nil
}
