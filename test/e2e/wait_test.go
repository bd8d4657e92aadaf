package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// check looks once: whether it is so, and what was seen, for the one who reads a failure.
type check func(ctx context.Context) (done bool, seen string, err error)

// waitFor looks until it is so or the time is up. Errors are seen as not yet.
func waitFor(ctx context.Context, timeout time.Duration, what string, look check) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last string
	for {
		done, seen, err := look(ctx)
		if done && err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = seen
			if err != nil {
				last = err.Error()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s; last seen: %s", timeout, what, last)
		}
	}
}

// await is waitFor in a test, which ends when it never comes true.
func await(t *testing.T, timeout time.Duration, what string, look check) {
	t.Helper()
	began := time.Now()
	if err := waitFor(t.Context(), timeout, what, look); err != nil {
		t.Fatal(err)
	}
	t.Logf("%5.1fs %s", time.Since(began).Seconds(), what)
}
