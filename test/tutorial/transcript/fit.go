package transcript

import (
	"fmt"
	"regexp"
	"strings"
)

// Anything stands for any number of lines where it is a line of a page, and for any text within a line.
const Anything = "..."

// varying is what differs from run to run, with what stands in its place when outputs are compared.
var varying = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b`), "TIME"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "AGE"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+\b`), "ADDRESS"},
	{regexp.MustCompile(`\bv?\d+\.\d+\.\d+\b`), "VERSION"},
	{regexp.MustCompile(`\b[0-9a-fA-F]*([0-9][a-fA-F]|[a-fA-F][0-9])[0-9a-fA-F]{6,}\b`), "HASH"},
	{regexp.MustCompile(`\bheight \d+\b`), "height N"},
	{regexp.MustCompile(`\b\d+ (files|rights)\b`), "N $1"},
}

var (
	cells = regexp.MustCompile(` {2,}`)
	count = regexp.MustCompile(`^\d+%?$`)
)

// normal is a line without what differs from run to run: times, ages, addresses, versions, hashes, heights, the width of columns,
// and cells of a table that are a number.
func normal(line string) string {
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.instead)
	}
	columns := cells.Split(strings.TrimRight(line, " "), -1)
	for i, cell := range columns {
		if len(columns) > 1 && count.MatchString(cell) {
			columns[i] = "N"
		}
	}
	return strings.Join(columns, "  ")
}

// Fits reports whether an output is the one that a page shows, but for what differs from run to run. If not, the error
// shows the first line of the page that has no counterpart.
func Fits(page, output []string) error {
	want, got := normalLines(page), normalLines(output)
	if fits(want, got) {
		return nil
	}
	for i, line := range want {
		if !fits(append(want[:i+1:i+1], Anything), got) {
			return fmt.Errorf("the page has %q, which does not follow in the output:\n%s", line, strings.Join(output, "\n"))
		}
	}
	return fmt.Errorf("the output has more lines than the page:\n%s", strings.Join(output, "\n"))
}

// normalLines leaves out empty lines at the end.
func normalLines(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, normal(line))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func fits(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == Anything:
		return fits(want[1:], got) || len(got) > 0 && fits(want, got[1:])
	case len(got) == 0 || !lineFits(want[0], got[0]):
		return false
	}
	return fits(want[1:], got[1:])
}

func lineFits(want, got string) bool {
	parts := strings.Split(want, Anything)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}
