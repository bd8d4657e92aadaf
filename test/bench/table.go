package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// markdown is the whole report: a section for each part.
func (r *Report) markdown() string {
	var b strings.Builder
	if len(r.Writes) > 0 {
		r.writeWrites(&b)
	}
	for _, runs := range r.bySize() {
		writeRuns(&b, runs)
	}
	if r.Busy != nil {
		fmt.Fprintf(&b, "### One node's change while %d nodes are created\n\nLoad average before: %.1f.\n\n", r.Busy.Nodes, r.Busy.LoadAverage)
		writeCells(&b, [][]string{
			{"", "ours", "aim"}, rule(3),
			{"image change of one node, median", fmt.Sprintf(inSeconds, r.Busy.Change.Median), ""},
			{"the longest of " + fmt.Sprint(r.Busy.Change.Count), fmt.Sprintf(inSeconds, r.Busy.Change.Max), fmt.Sprintf("≤ %d s", busyAim)},
			{"all new nodes done", fmt.Sprintf(inSeconds, r.Busy.AllDone), ""},
		})
		b.WriteString("\n")
	}
	if len(r.Growth) > 0 {
		r.writeGrowth(&b)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *Report) writeWrites(b *strings.Builder) {
	fmt.Fprintf(b, "### Single writes\n\nLoad average before: %.1f.\n\n", r.WritesLoad)
	cells := make([][]string, 0, 2+len(r.Writes))
	cells = append(cells, []string{"object", "request", "API server", "etcd"}, rule(4))
	for _, w := range r.Writes {
		cells = append(cells, []string{w.Object, w.Request, fmt.Sprintf("%.1f ms", w.APIServer), fmt.Sprintf("%.1f ms", w.Etcd)})
	}
	writeCells(b, cells)
	b.WriteString("\n")
}

func (r *Report) writeGrowth(b *strings.Builder) {
	b.WriteString("### Growth\n\n")
	cells := make([][]string, 0, 2+len(r.Growth))
	cells = append(cells, []string{
		"settled nodes", "memory", "CPU per minute at rest", "cold start", "one node's change, median", "longest", "load average before",
	}, rule(7))
	for _, g := range r.Growth {
		cells = append(cells, []string{
			fmt.Sprint(g.Nodes), fmt.Sprintf(inMiB, g.Memory), fmt.Sprintf(inSeconds, g.RestCPU), fmt.Sprintf(inSeconds, g.ColdStart),
			fmt.Sprintf(inSeconds, g.Change.Median), fmt.Sprintf(inSeconds, g.Change.Max), fmt.Sprintf("%.1f", g.LoadAverage),
		})
	}
	writeCells(b, cells)
	b.WriteString("\n")
}

// writeRuns writes the runs with one number of nodes.
func writeRuns(b *strings.Builder, runs []*Run) {
	first := runs[0]
	loads := make([]string, 0, len(runs))
	for _, run := range runs {
		loads = append(loads, fmt.Sprintf("%.1f", run.LoadAverage))
	}
	fmt.Fprintf(b, "### %d nodes, Kubernetes %s\n\n", first.Nodes, strings.TrimPrefix(first.Kubernetes, "v"))
	fmt.Fprintf(b, "Runs: %d, load average before each: %s.\n\n", len(runs), strings.Join(loads, ", "))
	lines := rowsOf(first.Nodes)
	cells := make([][]string, 0, 2+len(lines))
	cells = append(cells, []string{"", "ours", "spread", "public operator", "aim", ""}, rule(6))
	for _, line := range lines {
		figure, mark := line.spreadOf(runs), ""
		if line.missed(runs) {
			mark = "missed"
		}
		cells = append(cells, []string{line.name, line.show(figure.Median), line.rangeText(figure, len(runs)), line.public, line.aimText(), mark})
	}
	writeCells(b, cells)
	b.WriteString("\nRequests per node:\n\n")
	writeCells(b, requestCells(first))
	b.WriteString("\nWrites per new node, whoever makes them:\n\n")
	cells = append(make([][]string, 0, 3+len(first.Load.Everybody)), []string{"write", "per node"}, rule(2))
	var sum float64
	for _, kind := range slices.Sorted(maps.Keys(first.Load.Everybody)) {
		sum += first.Load.Everybody[kind]
		cells = append(cells, []string{kind, fmt.Sprintf("%.2f", first.Load.Everybody[kind])})
	}
	writeCells(b, append(cells, []string{"all", fmt.Sprintf("%.1f", sum)}))
	b.WriteString("\n")
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
