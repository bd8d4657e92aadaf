package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// mutant is one deliberate defect.
type mutant struct {
	ID string `json:"id"`
	// What describes the defect in one line.
	What string `json:"what"`
	// Touches is what the defect endangers.
	Touches string `json:"touches"`
	// File is the changed file, relative to the root of the repository.
	File string `json:"file"`
	// Old occurs in the file exactly once and is replaced by New.
	Old string `json:"old"`
	New string `json:"new"`
	// Tests run after those of the file's own package: each is a package, optionally with -run and
	// a name.
	Tests []string `json:"tests,omitempty"`
	// Hangs means that the defect makes a test hang.
	Hangs bool `json:"hangs,omitempty"`
}

// vital lists what no defect may touch unnoticed.
var vital = []string{"budget", "delete", "gate", "key"}

// touchable lists all values that Touches may have.
var touchable = append([]string{"cache", "config", "genesis", "ownership", "plan", "status", "task", "upgrade", "volume"}, vital...)

func byID(a, b *mutant) int { return strings.Compare(a.ID, b.ID) }

func (m *mutant) vital() bool { return slices.Contains(vital, m.Touches) }

// stages returns the tests to run, the narrowest first.
func (m *mutant) stages() []string {
	own := "./" + path.Dir(m.File)
	if slices.ContainsFunc(m.Tests, func(test string) bool { return test == own || strings.HasPrefix(test, own+" ") }) {
		return m.Tests
	}
	return append([]string{own}, m.Tests...)
}

// load reads all tables.
func load(root string) ([]*mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, "hack", "mutants", "table", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("looking for tables: %w", err)
	}
	var all []*mutant
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a table of this repository
		if err != nil {
			return nil, fmt.Errorf("reading a table: %w", err)
		}
		var some []*mutant
		if err := yaml.UnmarshalStrict(text, &some); err != nil {
			return nil, fmt.Errorf("reading %s: %w", filepath.Base(file), err)
		}
		all = append(all, some...)
	}
	return all, nil
}

var (
	idPattern    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	stagePattern = regexp.MustCompile(`^\./[a-z0-9/]+( -run [^ ]+)?$`)
)

// check returns an error for mistakes in a table, and for entries that no longer match the source.
func check(root string, all []*mutant) error {
	var problems []error
	seen := map[string]bool{}
	for _, m := range all {
		problem := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf(m.ID+": "+format, args...))
		}
		switch {
		case !idPattern.MatchString(m.ID):
			problem("the id is not words with hyphens")
		case seen[m.ID]:
			problem("the id is there twice")
		case m.What == "":
			problem("nothing says what is wrong with it")
		case !slices.Contains(touchable, m.Touches):
			problem("touches %q, which is none of %v", m.Touches, touchable)
		}
		seen[m.ID] = true
		for _, stage := range m.Tests {
			if !stagePattern.MatchString(stage) {
				problem("%q is no package with at most -run", stage)
			}
		}
		if _, err := m.apply(root); err != nil {
			problem("%w", err)
		}
	}
	return errors.Join(problems...)
}

// apply returns the text of the file with the defect in it.
func (m *mutant) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File)) //nolint:gosec // a file of this repository
	if err != nil {
		return "", fmt.Errorf("reading the source: %w", err)
	}
	if m.Old == "" || m.Old == m.New {
		return "", errors.New("it changes nothing")
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("the source has moved on: %s has the old text %d times, want once: %s", m.File, n, m.Old)
	}
	return strings.Replace(string(text), m.Old, m.New, 1), nil
}
