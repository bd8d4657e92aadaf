package schema

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// result is what came of the values of one field.
type result struct {
	field field
	// values were tried; of them so many are in force, were compared with a new object, were refused by
	// the API server, and were reported in a condition.
	values, inForce, compared, refused, reported int
	failed                                       bool
	took                                         time.Duration
}

// report collects the results of all fields.
type report struct {
	began time.Time

	mu      sync.Mutex
	results map[string]*result
}

func (r *report) add(of *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[of.field.String()] = of
}

// publish writes the table of all fields to .cache/schema-report.txt.
func (r *report) publish(t *testing.T, root string, fields []field) {
	t.Helper()
	text := r.table(fields)
	path := filepath.Join(root, ".cache", "schema-report.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Errorf("writing the report: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	t.Log(lines[len(lines)-1])
}

func (r *report) table(fields []field) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "kind\tfield\tclass\tvalues\tin force\tcompared\trefused\treported\tfailed\tseconds\twhy")
	sum, classes := result{}, map[class]int{}
	failures := 0
	for _, f := range fields {
		n := about(f)
		classes[n.class]++
		one := r.results[f.String()]
		if one == nil {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t\t\t\t\t\t\t\t%s\n", f.kind, f.path, n.class, n.reason())
			continue
		}
		failed := ""
		if one.failed {
			failed, failures = "failed", failures+1
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%.1f\t%s\n", f.kind, f.path, n.class,
			one.values, one.inForce, one.compared, one.refused, one.reported, failed, one.took.Seconds(), n.reason())
		sum.values += one.values
		sum.inForce += one.inForce
		sum.compared += one.compared
		sum.refused += one.refused
		sum.reported += one.reported
	}
	_ = w.Flush()
	kinds := make([]string, 0, len(classes))
	for of, count := range classes {
		kinds = append(kinds, fmt.Sprintf("%d %s", count, of))
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Compare(b, a) })
	fmt.Fprintf(&b, "%d fields (%s), %d tried: %d values, %d in force, %d compared with a new object, %d refused, %d reported; %d fields failed; %s\n",
		len(fields), strings.Join(kinds, ", "), len(r.results), sum.values, sum.inForce, sum.compared, sum.refused, sum.reported, failures,
		time.Since(r.began).Round(time.Second))
	return b.String()
}

// reason is why a field is not walked like others.
func (n note) reason() string {
	return strings.Join(slices.DeleteFunc([]string{n.why, n.notNew, n.stays}, func(s string) bool { return s == "" }), "; ")
}
