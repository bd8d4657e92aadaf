package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Kind is the type of a key's value.
type Kind string

// The kinds of values.
const (
	KindString   Kind = "string"
	KindBool     Kind = "bool"
	KindInt      Kind = "int"
	KindUint     Kind = "uint"
	KindFloat    Kind = "float"
	KindDuration Kind = "duration"
	// KindList is a TOML array of strings.
	KindList Kind = "[]string"
	// KindCommaList is a list that the file holds as one comma-separated string.
	KindCommaList Kind = "comma-separated []string"
	// KindDigits is a number that the file holds as a string.
	KindDigits Kind = "digits"
	// KindLabels is a list of name=value pairs.
	KindLabels Kind = "labels"
	// KindAny is the kind of raw keys that nothing is known about.
	KindAny Kind = "any"
)

// parseValue reads an override and returns what belongs in the TOML file.
func parseValue(kind Kind, s string) (any, error) {
	switch kind {
	case KindBool:
		return parseBool(s)
	case KindInt:
		return parseInt(s)
	case KindUint:
		return parseUint(s)
	case KindFloat:
		return parseFloat(s)
	case KindDuration:
		return parseDuration(s)
	case KindList:
		items, err := parseList(s)
		return toAny(items), err
	case KindCommaList:
		items, err := parseList(s)
		return strings.Join(items, ","), err
	case KindDigits:
		n, err := parseUint(s)
		return strconv.FormatInt(n, 10), err
	case KindLabels:
		return parseLabels(s)
	case KindAny:
		return guess(s), nil
	}
	return s, nil
}

// canonical gives the value of a file the form that parseValue would give it.
// Reading is lenient where seid is: numbers and booleans may be quoted.
func canonical(kind Kind, v any) (any, error) {
	switch v := v.(type) {
	case string:
		if kind == KindList {
			return nil, errors.New("want a list")
		}
		if kind == KindLabels {
			return nil, errors.New("want a list of pairs")
		}
		return parseValue(kind, v)
	case bool:
		if kind == KindBool || kind == KindAny {
			return v, nil
		}
	case int64:
		return canonicalInt(kind, v)
	case float64:
		return canonicalFloat(kind, v)
	case []any:
		return canonicalList(kind, v)
	default:
		if kind == KindAny {
			return v, nil
		}
	}
	return nil, fmt.Errorf("want %s, got %s", article(kind), describe(v))
}

func canonicalInt(kind Kind, v int64) (any, error) {
	switch {
	case kind == KindUint && v < 0, kind == KindDigits && v < 0:
		return nil, fmt.Errorf("%d is negative", v)
	case kind == KindInt, kind == KindUint, kind == KindAny:
		return v, nil
	case kind == KindFloat:
		return float64(v), nil
	case kind == KindDigits:
		return strconv.FormatInt(v, 10), nil
	}
	return nil, fmt.Errorf("want %s, got %s", article(kind), describe(v))
}

func canonicalFloat(kind Kind, v float64) (any, error) {
	switch {
	case kind == KindFloat || kind == KindAny:
		return v, nil
	case (kind == KindInt || kind == KindUint) && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return canonicalInt(kind, int64(v))
	}
	return nil, fmt.Errorf("want %s, got %s", article(kind), describe(v))
}

func canonicalList(kind Kind, v []any) (any, error) {
	switch kind {
	case KindAny:
		return v, nil
	case KindLabels:
		for _, pair := range v {
			if p, ok := pair.([]any); !ok || len(p) != 2 {
				return nil, errors.New("want a list of pairs")
			}
		}
		return v, nil
	case KindList:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				return nil, fmt.Errorf("want a list of strings, got %s in it", describe(e))
			}
		}
		return v, nil
	}
	return nil, fmt.Errorf("want %s, got a list", article(kind))
}

func parseBool(s string) (any, error) {
	switch strings.ToLower(s) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return nil, fmt.Errorf("%q is not a boolean: want true or false", s)
}

func parseInt(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// parseUint returns int64 because that is all a TOML file can hold.
func parseUint(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a whole number of at least 0", s)
	}
	return n, nil
}

func parseFloat(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	return f, nil
}

func parseDuration(s string) (any, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration: want for example 500ms, 10s or 2h45m", s)
	}
	return d.String(), nil
}

func parseList(s string) ([]string, error) {
	items := []string{}
	if strings.TrimSpace(s) == "" {
		return items, nil
	}
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("%q has an empty entry: want a comma-separated list", s)
		}
		items = append(items, item)
	}
	return items, nil
}

func parseLabels(s string) (any, error) {
	items, err := parseList(s)
	if err != nil {
		return nil, err
	}
	labels := []any{}
	for _, item := range items {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not a label: want name=value", item)
		}
		labels = append(labels, []any{name, value})
	}
	return labels, nil
}

// guess reads a value of unknown kind the way a TOML file would, and takes what
// is no TOML value as text.
func guess(s string) any {
	var doc map[string]any
	if strings.ContainsAny(s, "\r\n") || toml.Unmarshal([]byte("v = "+s), &doc) != nil || len(doc) != 1 {
		return s
	}
	switch v := doc["v"].(type) {
	case bool, int64, float64, []any, string:
		return v
	}
	return s
}

func toAny(items []string) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

func article(kind Kind) string {
	switch kind {
	case KindInt, KindUint, KindDigits:
		return "a whole number"
	case KindBool:
		return "a boolean"
	case KindFloat:
		return "a number"
	case KindDuration:
		return "a duration in quotes"
	case KindList:
		return "a list of strings"
	case KindLabels:
		return "a list of pairs"
	}
	return "text"
}

func describe(v any) string {
	switch v := v.(type) {
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case string:
		return fmt.Sprintf("the text %q", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a section"
	}
	return fmt.Sprintf("a %T", v)
}
