package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/printers"
)

// unknown stands where a fact is missing; an empty cell is shown so, too. blank is a cell in which no
// fact belongs.
const (
	unknown = "-"
	blank   = " "
)

// A column of a table. Wide columns are printed with -o wide only.
type column struct {
	name string
	wide bool
}

// table is printed as kubectl prints its tables: capitals, three spaces, no lines.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print(w io.Writer, wide bool) error {
	out := printers.GetNewTabWriter(w)
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	for _, row := range append([][]string{names}, t.rows...) {
		if _, err := fmt.Fprintln(out, strings.Join(t.shown(row, wide), "\t")); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (t *table) shown(row []string, wide bool) []string {
	cells := make([]string, 0, len(row))
	for i, cell := range row {
		if t.columns[i].wide && !wide {
			continue
		}
		switch cell {
		case "":
			cell = unknown
		case blank:
			cell = ""
		}
		cells = append(cells, cell)
	}
	return cells
}

// columnGap is what the printer leaves between two columns.
const columnGap = 3

// before is how wide the columns are that stand before one, without those that are for -o wide.
func (t *table) before(column int) int {
	width := 0
	for i, c := range t.columns[:column] {
		if c.wide {
			continue
		}
		widest := len(c.name)
		for _, row := range t.rows {
			widest = max(widest, utf8.RuneCountInString(row[i]))
		}
		width += widest + columnGap
	}
	return width
}

// cutColumn shortens the cells of a column to a width.
func (t *table) cutColumn(column, width int) {
	for _, row := range t.rows {
		row[column] = cut(row[column], width, false)
	}
}

// cut shortens a sentence to a width, unless the output is wide.
func cut(sentence string, width int, wide bool) string {
	if runes := []rune(sentence); !wide && len(runes) > width {
		return string(runes[:width-3]) + "..."
	}
	return sentence
}
