package api_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fullManifests together have every field of every spec.
func fullManifests(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	manifests := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		content := decode(t, string(text))
		kind, _ := content["kind"].(string)
		obj := object(t, kind, "x", "{}")
		obj.Object["spec"] = content["spec"]
		manifests[filepath.Base(file)] = obj
	}
	return manifests
}

// find looks for a manifest of a kind that has a field.
func find(manifests map[string]*unstructured.Unstructured, kind, path string) (*unstructured.Unstructured, place, bool) {
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		obj := manifests[name]
		if at, ok := locate(obj.Object, path); ok && obj.GetKind() == kind {
			return obj, at, true
		}
	}
	return nil, nil, false
}

// place is where a schema path is in a manifest: maps by name, lists by index.
type place []string

// String writes a place as the API server does in its answers.
func (p place) String() string {
	var b strings.Builder
	for i, part := range p {
		if _, err := strconv.Atoi(part); err == nil {
			fmt.Fprintf(&b, "[%s]", part)
			continue
		}
		if i > 0 {
			b.WriteString(".")
		}
		b.WriteString(part)
	}
	return b.String()
}

// in is the value at a place.
func (p place) in(obj *unstructured.Unstructured) any {
	var value any = obj.Object
	for _, part := range p {
		value = child(value, part)
	}
	return value
}

// locate finds a schema path in a manifest, in the first list item that has it.
func locate(value any, path string) (place, bool) {
	if path == "" {
		return nil, true
	}
	head, rest, _ := strings.Cut(path, ".")
	switch v := value.(type) {
	case map[string]any:
		name, brackets, isList := strings.Cut(head, "[")
		name = strings.TrimSuffix(name, "{}")
		next, ok := v[name]
		if !ok {
			return nil, false
		}
		if isList {
			rest = strings.TrimSuffix("["+brackets+"."+rest, ".")
		}
		if strings.HasSuffix(head, "{}") {
			return locateInMap(name, next, rest)
		}
		below, ok := locate(next, rest)
		return append(place{name}, below...), ok
	case []any:
		for i, item := range v {
			if below, ok := locate(item, rest); ok {
				return append(place{strconv.Itoa(i)}, below...), true
			}
		}
	}
	return nil, false
}

func locateInMap(name string, value any, rest string) (place, bool) {
	entries, _ := value.(map[string]any)
	for key, entry := range entries {
		if below, ok := locate(entry, rest); ok {
			return append(place{name, key}, below...), true
		}
	}
	return nil, false
}

// with returns a copy of the manifest with another value at a place; the value
// removed takes the field away.
func with(t *testing.T, obj *unstructured.Unstructured, at place, value any) *unstructured.Unstructured {
	t.Helper()
	changed := obj.DeepCopy()
	var container any = changed.Object
	for _, part := range at[:len(at)-1] {
		container = child(container, part)
	}
	last := at[len(at)-1]
	switch c := container.(type) {
	case map[string]any:
		if value == removed {
			delete(c, last)
		} else {
			c[last] = value
		}
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		c[i] = value
	default:
		t.Fatalf("there is no %s in %v", at, obj.Object)
	}
	return changed
}

// removed is the absence of a value.
var removed = new(struct{})

func child(container any, part string) any {
	switch c := container.(type) {
	case map[string]any:
		return c[part]
	case []any:
		i, err := strconv.Atoi(part)
		if err == nil && i < len(c) {
			return c[i]
		}
	}
	return nil
}
