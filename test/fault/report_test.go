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
	scenario, disturbance string
	failed                bool
	// missed: the call was not made this time. How often a sidecar is asked depends on how long it
	// takes.
	missed bool
	took   time.Duration
}

// report collects results and tells how far it got.
type report struct {
	out   io.Writer
	total int
	began time.Time

	mu       sync.Mutex
	results  []result
	failures []string
	told     time.Time
}

// add takes a result up; replay is the command that makes the run again.
func (r *report) add(one result, replay string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, one)
	if one.failed {
		r.failures = append(r.failures, replay)
		_, _ = fmt.Fprintf(r.out, "fault: failed; once more: %s\n", replay)
	}
	now := time.Now()
	if now.Sub(r.told) < 10*time.Second {
		return
	}
	r.told = now
	spent := now.Sub(r.began)
	left := spent / time.Duration(len(r.results)) * time.Duration(r.total-len(r.results))
	_, _ = fmt.Fprintf(r.out, "fault: %d of %d runs, %d failed, %s, about %s left\n",
		len(r.results), r.total, len(r.failures), spent.Round(time.Second), left.Round(time.Second))
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
	w.took += one.took
	if one.failed {
		w.failed++
	}
	if one.missed {
		w.missed++
	}
	return w
}

// table shows the results by scenario and disturbance, and the commands that replay the failures.
func (r *report) table() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows, all := map[string]row{}, row{}
	for _, one := range r.results {
		key := one.scenario + "\t" + one.disturbance
		rows[key], all = rows[key].with(one), all.with(one)
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
	fmt.Fprintf(&b, "%s\n", time.Since(r.began).Round(time.Second))
	for _, replay := range r.failures {
		fmt.Fprintf(&b, "failed; once more: %s\n", replay)
	}
	return b.String()
}
