package walk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// tally counts what was done.
type tally struct {
	mu                    sync.Mutex
	walks, events, failed int
	checks                map[string]int
	replays               []string
}

func (t *tally) add(p plan, v verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.walks++
	t.events += len(p.events)
	if t.checks == nil {
		t.checks = map[string]int{}
	}
	for name, times := range v.checked {
		t.checks[name] += times
	}
	if v.failed() {
		t.failed++
		t.replays = append(t.replays, v.check+"; once more: "+replay(p))
		_, _ = fmt.Fprintf(os.Stderr, "walk: %s\n", t.replays[len(t.replays)-1])
	}
}

// publish shows the numbers, and leaves them where the stage of make test finds them.
func (t *tally) publish(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "walks: %d with %d events, %d failed\nchecks:", t.walks, t.events, t.failed)
	for i, name := range checkNames {
		id, _, _ := strings.Cut(name, ":")
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %d", id, t.checks[name])
	}
	fmt.Fprintln(&b)
	for _, replay := range t.replays {
		fmt.Fprintln(&b, replay)
	}
	_, _ = os.Stderr.WriteString(b.String())
	root, err := envtest.RepositoryRoot()
	if err == nil {
		err = os.WriteFile(filepath.Join(root, ".cache", "walk-report.txt"), []byte(b.String()), 0o600)
	}
	if err != nil {
		tb.Errorf("writing the report: %v", err)
	}
}
