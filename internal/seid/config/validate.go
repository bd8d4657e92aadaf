package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Facts are things about the node that decide whether a configuration is right
// and that the files do not tell.
type Facts struct {
	// StateWithoutStore: there is committed state, and no state store was ever
	// written beside it.
	StateWithoutStore bool
	// Defaults are the files that `seid init` of the node's version writes; nil: not known.
	Defaults *Files
	// BuildTags are what the node's seid was built with; nil: not known.
	BuildTags []string
}

func (f Facts) lacksTag(tag string) bool {
	return f.BuildTags != nil && !slices.Contains(f.BuildTags, tag)
}

// Validate checks files against the rules of the chain. Keys that the files do
// not have are not checked, except where seid refuses to start without them.
func Validate(files Files, facts Facts) Diagnostics {
	v := newView(files)
	v.facts = facts
	v.checkTypes()
	for _, rule := range rules {
		rule(v)
	}
	return v.found
}

// view reads unified keys from files and collects what is found wrong.
type view struct {
	files Files
	facts Facts
	found Diagnostics
}

func newView(files Files) *view { return &view{files: files} }

func (v *view) errorf(field, format string, args ...any) {
	v.found = append(v.found, Diagnostic{SeverityError, field, fmt.Sprintf(format, args...)})
}

func (v *view) warnf(field, format string, args ...any) {
	v.found = append(v.found, Diagnostic{SeverityWarning, field, fmt.Sprintf(format, args...)})
}

// checkTypes finds values that seid could not read.
func (v *view) checkTypes() {
	for _, name := range Keys() {
		key := registry[name]
		for _, p := range key.where(v.files) {
			value, ok := v.files.lookup(p)
			if !ok {
				continue
			}
			if _, err := canonical(key.Kind, value); err != nil {
				v.errorf(name, "%s: %v", p, err)
			}
		}
	}
}

// value returns a key in its canonical form, if it is there and readable.
func (v *view) value(name string) (any, bool) {
	key := registry[name]
	raw, ok := key.read(v.files)
	if !ok {
		return nil, false
	}
	value, err := canonical(key.Kind, raw)
	return value, err == nil
}

func (v *view) text(name string) string {
	value, _ := v.value(name)
	s, _ := value.(string)
	return s
}

func (v *view) flag(name string) bool {
	value, _ := v.value(name)
	b, _ := value.(bool)
	return b
}

func (v *view) integer(name string) (int64, bool) {
	value, _ := v.value(name)
	n, ok := value.(int64)
	return n, ok
}

// number is any value with a size, so that rules need not care for its kind.
func (v *view) number(name string) (float64, bool) {
	value, _ := v.value(name)
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case string:
		if registry[name].Kind == KindDuration {
			d, err := time.ParseDuration(n)
			return float64(d), err == nil
		}
	}
	return 0, false
}

// list returns the entries of a list key of either form.
func (v *view) list(name string) []string {
	value, _ := v.value(name)
	switch l := value.(type) {
	case string:
		items, _ := parseList(l)
		return items
	case []any:
		var items []string
		for _, e := range l {
			items = append(items, fmt.Sprint(e))
		}
		return items
	}
	return nil
}

// oneOf reports a text that is none of the allowed ones.
func (v *view) oneOf(field, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	v.errorf(field, "is %q: want one of %s", value, strings.Join(allowed, ", "))
}
