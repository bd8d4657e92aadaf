package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// tree is a spec as JSON sees it, so that fields can be taken by their path.
type tree map[string]any

func treeOf(spec *v1alpha1.SeiNodeSpec) (tree, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encoding a spec: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var t tree
	if err := dec.Decode(&t); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	return t, nil
}

func (t tree) spec() (*v1alpha1.SeiNodeSpec, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encoding a spec: %w", err)
	}
	spec := &v1alpha1.SeiNodeSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	return spec, nil
}

func (t tree) get(path string) any {
	parent, leaf := t.parentOf(path)
	return parent[leaf]
}

// put sets a field, or removes it when the value is nil. A field of a mode that the
// spec does not have is left out.
func (t tree) put(path string, value any) {
	parent, leaf := t.parentOf(path)
	switch {
	case parent == nil:
	case value == nil:
		delete(parent, leaf)
	default:
		parent[leaf] = value
	}
}

func (t tree) parentOf(path string) (parent map[string]any, leaf string) {
	first, rest, nested := strings.Cut(path, ".")
	if !nested {
		return t, first
	}
	parent, _ = t[first].(map[string]any)
	return parent, rest
}

// rolledPaths are the fields that go by a rollout, sorted.
var rolledPaths = func() []string {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(Fields)) {
		if Fields[path].Rolled() {
			paths = append(paths, path)
		}
	}
	return paths
}()

// differences are the rolled fields in which two specs differ.
func (t tree) differences(other tree) []string {
	var found []string
	for _, path := range rolledPaths {
		if !reflect.DeepEqual(t.get(path), other.get(path)) {
			found = append(found, path)
		}
	}
	return found
}

// hashOf is the first 16 hex digits of the SHA-256 of a value's JSON. Maps are
// encoded in the order of their keys.
func hashOf(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding %T: %w", value, err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:16], nil
}
