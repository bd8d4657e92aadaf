package fault

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// result is one run that was made.
type result struct {
	// Run is its name, as FAULT_ONLY takes it.
	Run    string `json:"run"`
	Failed bool   `json:"failed,omitempty"`
	// Missed: the call was not made this time. How often a sidecar is asked depends on how long it
	// takes.
	Missed bool          `json:"missed,omitempty"`
	Took   time.Duration `json:"took"`
}

// cell is the row of the table that the result counts in.
func (r result) cell() string {
	scenario, rest, _ := strings.Cut(r.Run, "/")
	disturbance, _, _ := strings.Cut(rest, "/")
	return scenario + "\t" + disturbance
}

// replay is the command that makes the run again.
func (r result) replay() string {
	return "FAULT_ONLY='" + r.Run + "' go test ./test/fault -count=1 -v"
}

// report collects results and tells how far it got.
type report struct {
	out io.Writer
	// total is how many are made now, left is how many there are beside, and earlier are those that were made before an
	// interruption.
	total   int
	left    int
	earlier []result
	began   time.Time

	mu       sync.Mutex
	results  []result
	failures []string
	told     time.Time
}

// add takes a result up.
func (r *report) add(one result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, one)
	if one.Failed {
		r.failures = append(r.failures, one.replay())
		_, _ = fmt.Fprintf(r.out, "fault: failed; once more: %s\n", one.replay())
	}
	now := time.Now()
	if now.Sub(r.told) < 10*time.Second {
		return
	}
	r.told = now
	spent := now.Sub(r.began)
	left := spent / time.Duration(len(r.results)) * time.Duration(r.total-len(r.results))
	_, _ = fmt.Fprintf(r.out, "fault: %d of %d runs, %d failed, %s, about %s left\n",
		len(r.earlier)+len(r.results), len(r.earlier)+r.total, len(r.failures), spent.Round(time.Second), left.Round(time.Second))
}

// publish shows the table, and leaves it where the stage of make test finds it.
func (r *report) publish(t *testing.T) {
	t.Helper()
	text := r.table()
	_, _ = io.WriteString(r.out, text)
	root, err := envtest.RepositoryRoot()
	if err == nil {
		err = os.WriteFile(filepath.Join(root, ".cache", "fault-report.txt"), []byte(text), 0o600)
	}
	if err != nil {
		t.Errorf("writing the report: %v", err)
	}
}

// row is what the runs of one kind came to.
type row struct {
	runs, failed, missed int
	took                 time.Duration
}

func (w row) with(one result) row {
	w.runs++
	w.took += one.Took
	if one.Failed {
		w.failed++
	}
	if one.Missed {
		w.missed++
	}
	return w
}

// table shows the results by scenario and disturbance, and the commands that replay the failures.
func (r *report) table() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows, all := map[string]row{}, row{}
	for _, one := range slices.Concat(r.earlier, r.results) {
		rows[one.cell()], all = rows[one.cell()].with(one), all.with(one)
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "scenario\tdisturbance\truns\tfailed\tnot met\tseconds per run")
	show := func(name string, sum row) {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\n", name, sum.runs, sum.failed, sum.missed, sum.took.Seconds()/float64(max(1, sum.runs)))
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		show(key, rows[key])
	}
	show("all\t", all)
	_ = w.Flush()
	fmt.Fprintf(&b, "%s", time.Since(r.began).Round(time.Second))
	if len(r.earlier) > 0 {
		fmt.Fprintf(&b, "; %d of the runs were made before", len(r.earlier))
	}
	if r.left > 0 {
		fmt.Fprintf(&b, "; %d runs are left", r.left)
	}
	b.WriteString("\n")
	for _, replay := range r.failures {
		fmt.Fprintf(&b, "failed; once more: %s\n", replay)
	}
	return b.String()
}
