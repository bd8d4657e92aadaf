package schema

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

type props = apiextensionsv1.JSONSchemaProps

// valid are values that a schema allows, by type, enum, bounds and pattern. There are none where the
// schema alone does not tell.
func valid(s *props) []any {
	switch {
	case len(s.Enum) > 0:
		return enumerated(s)
	case s.XPreserveUnknownFields != nil:
		return []any{map[string]any{"a": int64(1)}, "text"}
	case s.XIntOrString:
		return nil
	}
	switch s.Type {
	case "boolean":
		return []any{true, false}
	case "integer":
		return numbers(s)
	case "string":
		return texts(s)
	case "object":
		return []any{map[string]any{}}
	}
	return nil
}

func enumerated(s *props) []any {
	values := make([]any, 0, len(s.Enum))
	for _, raw := range s.Enum {
		var value any
		// What is no JSON is no value either: none can be generated, and the walk says so.
		if json.Unmarshal(raw.Raw, &value) == nil {
			values = append(values, value)
		}
	}
	return values
}

// numbers are the bounds.
func numbers(s *props) []any {
	low, high := int64(1), int64(3)
	if s.Minimum != nil {
		low = int64(*s.Minimum)
		high = low + 2
	}
	if s.Maximum != nil {
		high = int64(*s.Maximum)
	}
	return []any{low, high}
}

// texts are two that match the pattern, or any two if there is none.
func texts(s *props) []any {
	if s.Pattern == "" {
		return []any{"walk-a", "walk-b"}
	}
	// A pattern with $ before the end of the text would match at the end of a line too.
	random := rapid.StringMatching(s.Pattern)
	var values []any
	for seed := 1; len(values) < 2 && seed < 100; seed++ {
		text := random.Example(seed)
		if s.MaxLength == nil || int64(len(text)) <= *s.MaxLength {
			values = append(values, text)
		}
	}
	return values
}

// odd are values that the schema forbids, and where it forbids little, some that nobody wants. Each has to
// be refused, reported, or acted on.
func odd(s *props) []any {
	switch {
	case len(s.Enum) > 0:
		return []any{"Nonsense", int64(7)}
	case s.XPreserveUnknownFields != nil:
		return nil
	case s.XIntOrString:
		return []any{"Nonsense", "-1", true}
	}
	switch s.Type {
	case "boolean":
		return []any{"Nonsense"}
	case "integer":
		return oddNumbers(s)
	case "string":
		return oddTexts(s)
	case "object":
		return []any{"Nonsense"}
	}
	return nil
}

func oddNumbers(s *props) []any {
	values := []any{"Nonsense"}
	if s.Minimum != nil {
		values = append(values, int64(*s.Minimum)-1)
	} else {
		values = append(values, int64(-1))
	}
	if s.Maximum != nil {
		values = append(values, int64(*s.Maximum)+1)
	}
	return values
}

func oddTexts(s *props) []any {
	values := []any{int64(7), "Ünfit välue!"}
	if s.MinLength != nil && *s.MinLength > 0 {
		values = append(values, "")
	}
	if s.MaxLength != nil {
		values = append(values, strings.Repeat("a", int(*s.MaxLength)+1))
	}
	return values
}

// overlay lays a merge patch over a spec: maps merge, null removes.
func overlay(base, patch map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(base)
	for k, v := range patch {
		next, isMap := v.(map[string]any)
		old, wasMap := out[k].(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case isMap && wasMap:
			out[k] = overlay(old, next)
		default:
			out[k] = runtime.DeepCopyJSONValue(v)
		}
	}
	return out
}
