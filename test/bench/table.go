package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// table is a run as Markdown.
func table(r *Run, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %d nodes, Kubernetes %s, load average before the run %.1f\n\n", r.Nodes, strings.TrimPrefix(r.Kubernetes, "v"), r.LoadAverage)
	cells := make([][]string, 0, len(rows)+2)
	cells = append(cells, []string{"", "ours", "public operator", "aim", ""}, rule(5))
	for _, line := range rows {
		mark := ""
		if line.missed() {
			mark = "missed"
		}
		cells = append(cells, []string{line.name, line.show(line.value), line.public, line.aimText(), mark})
	}
	writeCells(&b, cells)
	b.WriteString("\nRequests per node:\n\n")
	writeCells(&b, requestCells(r))
	return b.String()
}

// requestCells lists what the operator asked of the API server, by step.
func requestCells(r *Run) [][]string {
	kinds := map[string]bool{}
	for _, c := range []Requests{r.Load.Settled, r.Update.Requests} {
		for kind := range c.ByKind {
			kinds[kind] = true
		}
	}
	share := func(c Requests, kind string) string {
		return fmt.Sprintf("%.2f", float64(c.ByKind[kind])/float64(r.Nodes))
	}
	cells := make([][]string, 0, len(kinds)+2)
	cells = append(cells, []string{"request", "creation", "image change"}, rule(3))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		cells = append(cells, []string{kind, share(r.Load.Settled, kind), share(r.Update.Requests, kind)})
	}
	return cells
}

// rule is the line under the head of a table.
func rule(columns int) []string { return slices.Repeat([]string{"---"}, columns) }

// writeCells writes rows of equal length with their columns aligned.
func writeCells(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		b.WriteString("|")
		for i, cell := range row {
			fmt.Fprintf(b, " %s%s |", cell, strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		b.WriteString("\n")
	}
}
