package look

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestShared_AskingIsBoundedWhoeverAsks(t *testing.T) {
	s := &shared[time.Duration]{clock: clocktesting.NewFakeClock(now), bound: time.Hour}
	left := s.get(t.Context(), "a", func(ctx context.Context) time.Duration {
		end, _ := ctx.Deadline()
		return time.Until(end)
	})
	if left <= 0 || left > time.Hour {
		t.Errorf("asking may take %s", left)
	}
}

func TestBackground_NeverBlocksAndKeepsTheLastValue(t *testing.T) {
	clock := clocktesting.NewFakeClock(now)
	b := &background[int]{clock: clock, keep: 5 * time.Minute, retry: time.Minute}
	release := make(chan error)
	runs := 0
	find := func() (int, error) {
		err := <-release
		runs++
		return runs, err
	}
	idle := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return !b.running
	}
	finish := func(err error) {
		t.Helper()
		release <- err
		awaitValue(t, idle)
	}
	want := func(key string, want int, runsNow bool) {
		t.Helper()
		if got := b.get(key, find); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
		if runsNow == idle() {
			t.Errorf("running is %v, want %v", !idle(), runsNow)
		}
	}
	want("a", 0, true)
	want("a", 0, true) // one at a time
	finish(nil)
	want("a", 1, false)
	clock.Step(4 * time.Minute)
	want("a", 1, false)
	clock.Step(time.Minute)
	want("a", 1, true)
	finish(errors.New("no"))
	want("a", 1, false) // the old one is better than none
	clock.Step(time.Minute)
	want("a", 1, true)
	finish(nil)
	want("a", 3, false)
	want("b", 0, true) // about something else
	finish(nil)
	want("b", 4, false)
}

func TestParsed_ReadsAgainWhenAFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	reads := 0
	var p parsed[int]
	get := func(paths ...string) int {
		return p.get(func() int {
			reads++
			return reads
		}, paths...)
	}
	want := func(want int, paths ...string) {
		t.Helper()
		if got := get(paths...); got != want {
			t.Errorf("read %d times, want %d", got, want)
		}
	}
	want(1, path)
	want(1, path) // not there, as before
	for i, content := range []string{"a", "bb"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		want(2+i, path)
		want(2+i, path)
	}
	// The same size and time, another file.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	other := path + ".new"
	if err := errors.Join(os.WriteFile(other, []byte("cc"), 0o600), os.Chtimes(other, info.ModTime(), info.ModTime()), os.Rename(other, path)); err != nil {
		t.Fatal(err)
	}
	want(4, path)
	want(5, filepath.Dir(path))
}
