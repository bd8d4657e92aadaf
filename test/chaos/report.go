package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is what a run has seen, and how it is judged.
type Report struct {
	Seed   uint64
	Length time.Duration
	// Began is when the disturbances began, Calm when the last one was undone, and Settled when all was well again; zero
	// if it never was.
	Began, Calm, Settled time.Time
	// Nodes are the rows of the picture that show processes, the validators first.
	Nodes  []string
	Events []Event
	Runs   []Run
	Gaps   []Gap
	Bound  time.Duration
	// Facts are figures, Verdicts what must hold.
	Facts    []Fact
	Verdicts []Verdict
}

// Fact is a figure with its name.
type Fact struct{ Name, Value string }

// Verdict is one thing that must hold: what it was judged by, and where it did not hold.
type Verdict struct {
	Name, Seen string
	Violations []string
}

// shownGaps is how many gaps are told one by one.
const shownGaps = 10

// Markdown is the report as a page. picture is the name of the picture's file.
func (r *Report) Markdown(picture string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A run of make chaos\n\nSeed %d, %s of disturbances from %s UTC.\n\n", r.Seed, r.Length, r.Began.UTC().Format(time.DateTime))
	fmt.Fprintf(&b, "![Events, processes and block gaps over time](%s)\n\n", picture)
	b.WriteString("| must hold | judged by | result |\n|---|---|---|\n")
	for _, v := range r.Verdicts {
		result := "holds"
		if len(v.Violations) > 0 {
			result = "**violated**: " + strings.Join(v.Violations, "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", v.Name, v.Seen, cell(result))
	}
	b.WriteString("\n| | |\n|---|---|\n")
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, cell(f.Value))
	}
	r.writeNodes(&b)
	r.writeGaps(&b)
	r.writeEvents(&b)
	return b.String()
}

func (r *Report) writeNodes(b *strings.Builder) {
	end := r.Calm
	if r.Settled.After(end) {
		end = r.Settled
	}
	b.WriteString("\n## Processes of seid\n\n| node | processes | without one in all | at most |\n|---|---|---|---|\n")
	for _, node := range r.Nodes {
		total, longest := Away(r.Runs, node, r.Began, end)
		fmt.Fprintf(b, "| %s | %d | %.0f s | %.0f s |\n", node, len(runsOf(r.Runs, node)), total.Seconds(), longest.Seconds())
	}
}

func (r *Report) writeGaps(b *strings.Builder) {
	longest := slices.Clone(r.Gaps)
	slices.SortFunc(longest, func(a, b Gap) int { return cmp.Compare(b.Took(), a.Took()) })
	fmt.Fprintf(b, "\n## The longest gaps between blocks\n\n*Able* is the longest part of a gap in which more than two thirds of the voting power ran. "+
		"The bound, %s, is for that part.\n\n| at | block | gap | able |\n|---|---|---|---|\n", r.Bound)
	for _, g := range longest[:min(len(longest), shownGaps)] {
		fmt.Fprintf(b, "| %s | %d | %.1f s | %.1f s |\n", r.at(g.From), g.Height, g.Took().Seconds(), g.Able.Seconds())
	}
}

func (r *Report) writeEvents(b *strings.Builder) {
	b.WriteString("\n## Events\n\n| at | | on | what | longest gap until the next |\n|---|---|---|---|---|\n")
	for i, e := range r.Events {
		until := r.Calm
		if i+1 < len(r.Events) {
			until = r.Events[i+1].At
		}
		what := e.What
		if !e.Until.IsZero() {
			what += fmt.Sprintf(", for %.0f s", e.Until.Sub(e.At).Seconds())
		}
		if e.Missed != "" {
			what += " (not done: " + e.Missed + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.1f s |\n", r.at(e.At), e.Kind, e.Row, cell(what), r.longestGap(e.At, until).Seconds())
	}
}

// longestGap is that among the gaps that began in a span of time, or lasted into it.
func (r *Report) longestGap(from, to time.Time) time.Duration {
	longest := time.Duration(0)
	for _, g := range r.Gaps {
		if g.To.After(from) && g.From.Before(to) {
			longest = max(longest, g.Took())
		}
	}
	return longest
}

func (r *Report) at(t time.Time) string {
	since := t.Sub(r.Began).Round(time.Second)
	return fmt.Sprintf("%d:%02d", int(since.Minutes()), int(since.Seconds())%60)
}

// cell is a text that fits into a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text)
}
