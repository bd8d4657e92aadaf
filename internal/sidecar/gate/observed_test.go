package gate

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// observed is what a gate lets others see of its work.
type observed struct {
	mu    sync.Mutex
	text  bytes.Buffer
	clock atomic.Int64
}

// observe has a gate that is about to run observed.
func observe(g *Gate) *observed {
	o := &observed{}
	g.Log = slog.New(slog.NewTextHandler(o, nil))
	g.Now = func() time.Time {
		o.clock.Add(1)
		return time.Now()
	}
	return o
}

// Write implements io.Writer for the gate's log.
func (o *observed) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// said is how often the gate has said something.
func (o *observed) said(words string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.text.String(), words)
}

// awaitLook waits until a gate whose process runs has looked for an order and done what follows. It
// reads its clock at the beginning of every look, and once more if it asks the process to end: of four
// times, the second at the latest begins a look, and the fourth comes when that has ended.
func (o *observed) awaitLook(t *testing.T, ended <-chan error) {
	t.Helper()
	before := o.clock.Load()
	await(t, "the gate looks for orders", ended, func() bool { return o.clock.Load() >= before+4 })
}

// await waits until something holds, and fails if a gate ends before.
func await(t *testing.T, what string, ended <-chan error, holds func() bool) {
	t.Helper()
	poll(t, ended, holds, func() string { return what })
}

func awaitRecord(t *testing.T, g Gate, is func(supervision.Record) bool) (r supervision.Record) {
	t.Helper()
	poll(t, nil, func() bool {
		r = record(t, g)
		return is(r)
	}, func() string { return fmt.Sprintf("the record changes from %+v", r) })
	return r
}

func awaitFile(t *testing.T, file string) {
	t.Helper()
	await(t, "the command makes "+file, nil, func() bool { _, err := os.Stat(file); return err == nil })
}

// poll watches what another process does. The deadline is for a test that would hang.
func poll(t *testing.T, ended <-chan error, holds func() bool, what func() string) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case err := <-ended:
			t.Fatalf("waiting until %s: the gate has ended with %v", what(), err)
		case <-deadline:
			t.Fatalf("waited in vain until %s", what())
		}
	}
}
