package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// theReport is what the suite tells at its end.
var theReport report

// report is how long each scenario took, and what was measured on the way. Nothing fails by a figure: it is that of a
// busy machine.
type report struct {
	mu        sync.Mutex
	scenarios []row
	figures   []row
}

type row struct {
	name  string
	value string
	took  time.Duration
}

// watch notes how long a scenario takes from here to its end.
func (r *report) watch(t *testing.T) {
	t.Helper()
	began := time.Now()
	t.Cleanup(func() {
		result := "passed"
		if t.Failed() {
			result = "FAILED"
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.scenarios = append(r.scenarios, row{t.Name(), result, time.Since(began)})
	})
}

// figuref notes something that was measured.
func (r *report) figuref(t *testing.T, name, format string, args ...any) {
	t.Helper()
	value := fmt.Sprintf(format, args...)
	t.Logf("%s: %s", name, value)
	r.note(name, value)
}

// note keeps a figure that no scenario has measured.
func (r *report) note(name, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = append(r.figures, row{name: name, value: value})
}

// text is the whole report, the longest scenario first.
func (r *report) text(setup, total time.Duration) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(r.scenarios, func(a, b row) int { return cmp.Compare(b.took, a.took) })
	var out strings.Builder
	fmt.Fprintf(&out, "%6.1f s  cluster and operator\n", setup.Seconds())
	for _, s := range r.scenarios {
		fmt.Fprintf(&out, "%6.1f s  %s %s\n", s.took.Seconds(), s.value, s.name)
	}
	fmt.Fprintf(&out, "%6.1f s  in all\n", total.Seconds())
	for _, f := range r.figures {
		fmt.Fprintf(&out, "%s: %s\n", f.name, f.value)
	}
	return out.String()
}

// fail notes what failed outside of the scenarios. It stands until the stage is run again: another try of a scenario
// does not take it back.
func (r *report) fail(what string) { r.note("FAILED", what) }

// publish prints the report, and leaves it where make finds it: what is printed beside the tests is not shown. A run of
// some scenarios, which may be another try of those that have failed, adds to the report.
func (r *report) publish(setup, total time.Duration) {
	text := r.text(setup, total)
	fmt.Print(text)
	how := os.O_TRUNC
	if envtest.OnlySome() {
		how = os.O_APPEND
	}
	if err := writeTo(filepath.Join("..", "..", ".cache", "e2e-report.txt"), how, text); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: writing the report:", err)
	}
}

func writeTo(name string, how int, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
