package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Covers reports whether a live object already holds everything want would
// apply. What else the live object holds, defaults of the API server above all,
// does not matter. If it does not cover, path names the first difference.
//
// Lists that the API server merges by a key (containers, environment, volumes,
// ports) are compared by that key and may hold more; all others must be equal in
// length and order.
func Covers(want, live any) (ok bool, path string) {
	wantTree, err := jsonTree(want)
	if err != nil {
		return false, err.Error()
	}
	liveTree, err := jsonTree(live)
	if err != nil {
		return false, err.Error()
	}
	if fields, isObject := wantTree.(map[string]any); isObject {
		// Typed objects out of a cache have no type of their own.
		delete(fields, "kind")
		delete(fields, "apiVersion")
	}
	path, differs := difference(wantTree, liveTree, place{})
	return !differs, path
}

// place is where in an object a value lies.
type place struct {
	path string
	// field and parent are the innermost two field names.
	field, parent string
}

func (p place) child(name string) place {
	return place{path: strings.TrimPrefix(p.path+"."+name, "."), field: name, parent: p.field}
}

func (p place) item(key any) place {
	return place{path: fmt.Sprintf("%s[%v]", p.path, key), parent: p.field}
}

func difference(want, live any, at place) (path string, differs bool) {
	switch want := want.(type) {
	case nil:
		return "", false
	case map[string]any:
		return objectDifference(want, live, at)
	case []any:
		return listDifference(want, live, at)
	default:
		return at.path, !sameScalar(want, live, at)
	}
}

// omittedWhenEmpty are the objects that typed values leave out when empty and
// that mean the same either way. Of others, as emptyDir or a label selector, the
// mere presence has a meaning.
var omittedWhenEmpty = []string{"labels", "annotations", "nodeSelector", "matchLabels", "requests", "limits", "resources"}

func objectDifference(want map[string]any, live any, at place) (string, bool) {
	have, isObject := live.(map[string]any)
	if !isObject {
		return at.path, live != nil || len(want) > 0 || !slices.Contains(omittedWhenEmpty, at.field)
	}
	for _, name := range sortedKeys(want) {
		if path, differs := difference(want[name], have[name], at.child(name)); differs {
			return path, true
		}
	}
	return "", false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// mergeKeys names, for the lists that are merged by a key, that key.
var mergeKeys = map[string]string{
	"containers": "name", "initContainers": "name", "env": "name", "ports": "name", "volumes": "name",
	"imagePullSecrets": "name", "volumeMounts": "mountPath", "ownerReferences": "uid",
}

func listDifference(want []any, live any, at place) (string, bool) {
	have, isList := live.([]any)
	if !isList {
		return at.path, live != nil || len(want) > 0
	}
	if key, merged := mergeKeys[at.field]; merged {
		return mergedDifference(want, have, key, at)
	}
	if len(want) != len(have) {
		return at.path, true
	}
	for i := range want {
		if path, differs := difference(want[i], have[i], at.item(i)); differs {
			return path, true
		}
	}
	return "", false
}

func mergedDifference(want, have []any, key string, at place) (string, bool) {
	for _, item := range want {
		id := keyOf(item, key)
		match := slices.IndexFunc(have, func(other any) bool { return id != nil && keyOf(other, key) == id })
		if match < 0 {
			return at.item(id).path, true
		}
		if path, differs := difference(item, have[match], at.item(id)); differs {
			return path, true
		}
	}
	return "", false
}

func keyOf(item any, key string) any {
	fields, _ := item.(map[string]any)
	return fields[key]
}

// sameScalar compares text, numbers and truth values. Quantities are equal when
// they mean the same; an empty text is as good as none, but false and zero are
// not: there are fields whose default is something else.
func sameScalar(want, live any, at place) bool {
	if want == live || (want == "" && live == nil) {
		return true
	}
	if at.parent != "requests" && at.parent != "limits" {
		return false
	}
	a, errA := resource.ParseQuantity(fmt.Sprint(want))
	b, errB := resource.ParseQuantity(fmt.Sprint(live))
	return errA == nil && errB == nil && a.Cmp(b) == 0
}

// jsonTree is a value as JSON sees it. Numbers keep their digits.
func jsonTree(value any) (any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", value, err)
	}
	return tree, nil
}
