package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// enough is how many percent of the mutants have to be noticed.
const enough = 97

func (v *verdict) caught() bool { return v.Err == nil && v.By != "" }

// words describes the result of a mutant in one line.
func (v *verdict) words() string {
	switch {
	case v.Err != nil:
		return fmt.Sprintf("%s: TABLE ERROR: %v", v.ID, v.Err)
	case v.By == "":
		return fmt.Sprintf("%s: NOT CAUGHT (%s): %s", v.ID, v.Touches, v.What)
	default:
		return fmt.Sprintf("%s: caught by %s in %.0f s", v.ID, v.By, v.Took.Seconds())
	}
}

// table returns the results of all mutants as a table.
func table(verdicts []verdict) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "mutant\ttouches\tcaught by\tseconds")
	for i := range verdicts {
		v := &verdicts[i]
		by := v.By
		switch {
		case v.Err != nil:
			by = "TABLE ERROR"
		case by == "":
			by = "NOT CAUGHT"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\n", v.ID, v.Touches, by, v.Took.Seconds())
	}
	_ = w.Flush()
	return b.String()
}

// sum returns an error if too many mutants were not noticed, if a vital one was not, or if the
// table has mistakes.
func sum(out io.Writer, verdicts []verdict) error {
	var problems []error
	caught := 0
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.caught():
			caught++
		case v.Err != nil || v.vital():
			problems = append(problems, errors.New(v.words()))
		default:
			_, _ = fmt.Fprintln(out, v.words())
		}
	}
	_, _ = fmt.Fprintf(out, "%d of %d mutants caught\n", caught, len(verdicts))
	if caught*100 < enough*len(verdicts) {
		problems = append(problems, fmt.Errorf("only %d of %d were caught, want %d of 100", caught, len(verdicts), enough))
	}
	return errors.Join(problems...)
}

// results are the tests that noticed each mutant in its last run; empty for none.
type results map[string]string

// merge adds the results of some mutants to the known results, and saves them for the next run.
func merge(file string, verdicts []verdict) (results, error) {
	known := results{}
	text, err := os.ReadFile(file) //nolint:gosec // a file of the cache of this repository
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading earlier results: %w", err)
	}
	for i := range verdicts {
		if verdicts[i].Err == nil {
			known[verdicts[i].ID] = verdicts[i].By
		}
	}
	if text, err = json.MarshalIndent(known, "", "\t"); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping the results: %w", err)
	}
	return known, nil
}

// page returns the table for the documentation. It has no times, so that it changes only with the
// code.
func page(mutants []*mutant, known results) string {
	var rows strings.Builder
	caught := 0
	for _, m := range mutants {
		by, made := known[m.ID]
		switch {
		case !made:
			by = "not made yet"
		case by == "":
			by = "**nothing**"
		default:
			caught++
			by = "`" + strings.ReplaceAll(by, "|", `\|`) + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", m.ID, m.What, m.Touches, by)
	}
	return fmt.Sprintf(`# Deliberate defects

Written by `+"`make mutants`"+`: it makes these defects one at a time and looks for a test that fails
([testing](testing.md#mutants)). %d of %d were noticed.

| mutant | what is wrong | touches | noticed by |
|---|---|---|---|
%s`, caught, len(mutants), rows.String())
}
