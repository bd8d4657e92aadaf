package platform

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills a value from YAML nodes by its json tags, which is how the
// Kubernetes types name their fields. It continues after a mistake, so that one
// start shows all of them, and remembers the line of every field for the checks
// that follow.
type decoder struct {
	lines    map[string]int
	problems []problem
}

// problem is one mistake in the file.
type problem struct {
	line  int
	field string
	text  string
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

func (d *decoder) failf(n *yaml.Node, field, format string, args ...any) {
	d.problems = append(d.problems, problem{line: n.Line, field: field, text: fmt.Sprintf(format, args...)})
}

func (d *decoder) decode(n *yaml.Node, into reflect.Value, field string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if _, known := d.lines[field]; !known {
		d.lines[field] = n.Line
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return // "archive:" with nothing behind it says nothing
	}
	switch {
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.decode(n, into.Elem(), field)
	case reflect.PointerTo(into.Type()).Implements(unmarshalerType):
		d.decodeSelf(n, into, field)
	case into.Kind() == reflect.Struct:
		d.decodeStruct(n, into, field)
	case into.Kind() == reflect.Map:
		d.decodeMap(n, into, field)
	case into.Kind() == reflect.Slice:
		d.decodeList(n, into, field)
	default:
		d.decodeScalar(n, into, field)
	}
}

// decodeSelf hands the value to types that read themselves: quantities,
// durations, ports.
func (d *decoder) decodeSelf(n *yaml.Node, into reflect.Value, field string) {
	if n.Kind != yaml.ScalarNode {
		d.failf(n, field, "want a single value, not a %s", kindName(n))
		return
	}
	var value any
	if err := n.Decode(&value); err != nil {
		d.failf(n, field, "%v", err)
		return
	}
	raw, err := json.Marshal(value)
	if err == nil {
		err = into.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw)
	}
	if err != nil {
		d.failf(n, field, "%q cannot be read: %v", n.Value, err)
	}
}

func (d *decoder) decodeStruct(n *yaml.Node, into reflect.Value, field string) {
	d.eachEntry(n, field, func(key, value *yaml.Node, path string) {
		target := fieldByName(into, key.Value)
		if !target.IsValid() {
			d.failf(key, path, "unknown field; there are: %s", strings.Join(fieldNames(into.Type()), ", "))
			return
		}
		d.decode(value, target, path)
	})
}

func (d *decoder) decodeMap(n *yaml.Node, into reflect.Value, field string) {
	if n.Kind == yaml.MappingNode {
		into.Set(reflect.MakeMap(into.Type()))
	}
	d.eachEntry(n, field, func(key, value *yaml.Node, path string) {
		element := reflect.New(into.Type().Elem()).Elem()
		d.decode(value, element, path)
		into.SetMapIndex(reflect.ValueOf(key.Value).Convert(into.Type().Key()), element)
	})
}

func (d *decoder) eachEntry(n *yaml.Node, field string, visit func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		d.failf(n, field, "want a mapping of names to values, not a %s", kindName(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := strings.TrimPrefix(field+"."+key.Value, ".")
		if seen[key.Value] {
			d.failf(key, path, "written twice")
			continue
		}
		seen[key.Value] = true
		d.lines[path] = key.Line
		visit(key, value, path)
	}
}

func (d *decoder) decodeList(n *yaml.Node, into reflect.Value, field string) {
	if n.Kind != yaml.SequenceNode {
		d.failf(n, field, "want a list, not a %s", kindName(n))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.decode(item, into.Index(i), fmt.Sprintf("%s[%d]", field, i))
	}
}

var scalarTags = map[reflect.Kind]string{
	reflect.String: "!!str", reflect.Bool: "!!bool",
	reflect.Int32: "!!int", reflect.Int64: "!!int",
}

func (d *decoder) decodeScalar(n *yaml.Node, into reflect.Value, field string) {
	want, known := scalarTags[into.Kind()]
	switch {
	case !known:
		d.failf(n, field, "cannot be set in this file")
	case n.Kind != yaml.ScalarNode:
		d.failf(n, field, "want a single value, not a %s", kindName(n))
	case n.Tag != want && want == "!!str":
		d.failf(n, field, "want text: put %s in quotes", n.Value)
	case n.Tag != want:
		d.failf(n, field, "want %s, not %q", map[string]string{"!!bool": "true or false", "!!int": "a whole number"}[want], n.Value)
	default:
		if err := n.Decode(into.Addr().Interface()); err != nil {
			d.failf(n, field, "%q cannot be read: %v", n.Value, err)
		}
	}
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	default:
		return "single value"
	}
}
