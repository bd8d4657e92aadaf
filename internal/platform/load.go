package platform

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Load reads the configuration from a file; "" means there is none and gives
// the defaults. The error lists every mistake as file:line: field: what.
func Load(path string) (*Config, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil { //nolint:gosec // the operator is told which file to read
			return nil, fmt.Errorf("reading platform configuration: %w", err)
		}
	}
	cfg, err := parse(cmp.Or(path, "defaults"), data)
	if err != nil {
		return nil, fmt.Errorf("reading platform configuration: %w", err)
	}
	return cfg, nil
}

func parse(name string, data []byte) (*Config, error) {
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	cfg := &Config{}
	d := &decoder{lines: map[string]int{}}
	if root != nil {
		d.decode(root, reflect.ValueOf(cfg).Elem(), "")
	}
	if len(d.problems) == 0 {
		cfg.applyDefaults()
		d.problems = check(cfg, d.lines)
	}
	if len(d.problems) > 0 {
		return nil, problemsError(name, d.problems)
	}
	return cfg, nil
}

// document is the content of the file's only YAML document, nil if it is empty.
func document(name string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, extra yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, syntaxError(name, err)
	}
	switch err := dec.Decode(&extra); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntaxError(name, err)
	default:
		return nil, fmt.Errorf("%s:%d: a second YAML document begins here: put everything in one", name, extra.Line)
	}
}

// syntaxError turns "yaml: line 3: ..." into the form of all other mistakes.
func syntaxError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		return fmt.Errorf("%s:%s", name, rest)
	}
	return fmt.Errorf("%s: %s", name, text)
}

func problemsError(name string, problems []problem) error {
	slices.SortStableFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.field, b.field), cmp.Compare(a.text, b.text))
	})
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", name, p.line, cmp.Or(p.field, "(top level)"), p.text))
	}
	return errors.Join(errs...)
}
