package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/gate"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// podOf runs the node as a pod does: behind a gate, and again whenever it ends.
type podOf struct {
	f      *fixture
	closed atomic.Bool
	// lives is after how many ends of the node the gate is closed; 0 means never.
	lives int
	exits chan int
	clock atomic.Int64 // how often a gate has read it

	mu  sync.Mutex
	log bytes.Buffer // of the gates
}

// pod starts a pod whose node behaves as it is told. Changes are made to it before.
func (f *fixture) pod(behaviour string, changes ...func(*podOf)) *podOf {
	f.t.Helper()
	f.t.Setenv("FAKE_NODE", behaviour)
	p := &podOf{f: f, exits: make(chan int, 100)}
	for _, change := range changes {
		change(p)
	}
	sidecar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if p.closed.Load() {
			_, _ = io.WriteString(w, `{"state":"held"}`)
			return
		}
		_, _ = io.WriteString(w, `{"state":"open"}`)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for lives := 1; ctx.Err() == nil; lives++ {
			p.life(ctx, sidecar.URL)
			if lives == p.lives {
				p.closed.Store(true)
			}
		}
	}()
	f.t.Cleanup(func() {
		cancel()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			if r := p.record(); r.State == api.SeidRunning {
				_ = syscall.Kill(r.PID, syscall.SIGKILL) // it may have ended in this moment
			}
			select {
			case <-gone:
				sidecar.Close()
				return
			case <-tick.C:
			}
		}
	})
	return p
}

func (p *podOf) life(ctx context.Context, sidecar string) {
	g := gate.Gate{
		Sidecar: sidecar, Home: string(p.f.home), Log: slog.New(slog.NewTextHandler(p, nil)), NoteEvery: 500 * time.Millisecond,
		Rules: gate.Rules{ConfigHash: func() (string, error) {
			p.f.mu.Lock()
			defer p.f.mu.Unlock()
			return p.f.hash, nil
		}},
		Now: func() time.Time {
			p.clock.Add(1)
			return time.Now()
		},
	}
	err := g.Run(ctx, []string{p.f.copyOfThisTest(), "start", "--home", string(p.f.home)})
	if exit, ended := errors.AsType[*gate.ExitError](err); ended {
		p.exits <- exit.Code
	} else if err == nil {
		p.exits <- 0
	}
}

// Write implements io.Writer for the log of the gates.
func (p *podOf) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(line)
}

// said reports whether a gate has said something.
func (p *podOf) said(words string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.log.String(), words)
}

func (p *podOf) record() supervision.Record {
	r, err := supervision.Read(string(p.f.home))
	if err != nil {
		p.f.t.Error(err)
	}
	return r
}

// await waits until the record says something.
func (p *podOf) await(what string, is func(supervision.Record) bool) supervision.Record {
	p.f.t.Helper()
	var r supervision.Record
	p.f.await(what, func() bool {
		r = p.record()
		return is(r)
	})
	return r
}

// await waits for what another process does. The deadline is for a test that would hang.
func (f *fixture) await(what string, holds func() bool) {
	f.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			r, err := supervision.Read(string(f.home))
			f.t.Fatalf("not %s: the record is %+v, %v", what, r, err)
		}
	}
}

// awaitClosing waits until a node closes its databases: one more signal would kill it.
func (f *fixture) awaitClosing(pid int) {
	f.t.Helper()
	f.await("closing", func() bool { _, err := os.Stat(closingFile(string(f.home), pid)); return err == nil })
}

// awaitLook waits until the gate of a running node has looked for an order and done what follows.
// It reads its clock at the beginning of every look, and once more if it asks the node to end: of
// four times, the second at the latest begins a look, and the fourth comes when that has ended.
func (p *podOf) awaitLook() {
	p.f.t.Helper()
	before := p.clock.Load()
	p.f.await("looked after", func() bool { return p.clock.Load() >= before+4 })
}

// running waits for a start with a number, and until that node reacts to signals.
func (p *podOf) running(start int) supervision.Record {
	p.f.t.Helper()
	return p.await("running", func(r supervision.Record) bool {
		if r.State != api.SeidRunning || r.Starts != start {
			return false
		}
		_, err := os.Stat(readyFile(string(p.f.home), r.PID))
		return err == nil
	})
}

// setHash changes the configuration on disk.
func (f *fixture) setHash(hash string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hash = hash
}

func TestPod_IsWatched(t *testing.T) {
	f := newFixture(t)
	p := f.pod("polite")
	p.running(1)
	if watched, err := supervision.Watched(string(f.home)); err != nil || !watched {
		t.Errorf("watched: %t, %v; want true", watched, err)
	}
}

// What must not run beside seid waits for a gate that has let it through, and finds it running.
func TestStop_GateAboutToStartSeid_IsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		home := string(f.home)
		release, err := supervision.Watch(home)
		if err != nil {
			t.Fatal(err)
		}
		write := func(r supervision.Record) {
			t.Helper()
			if err := supervision.Write(home, r); err != nil {
				t.Fatal(err)
			}
		}
		write(supervision.Record{State: api.SeidWaiting, Starting: true})
		checked := make(chan error, 1)
		go func() { checked <- f.tasks.CheckStopped(t.Context()) }()
		elapse(29 * time.Second)
		select {
		case err := <-checked:
			t.Fatalf("CheckStopped = %v before seid was started, want it to wait", err)
		default:
		}
		write(supervision.Record{State: api.SeidRunning, PID: 7, StartTicks: "1"})
		handlertest.WantError(t, <-checked, api.CodePrecondition, "seid is running as process 7")

		// A gate may take half a minute.
		write(supervision.Record{State: api.SeidWaiting, Starting: true})
		begin := time.Now()
		err = f.tasks.CheckStopped(t.Context())
		handlertest.WantError(t, err, api.CodePrecondition, "the gate is about to start seid")
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("it was waited for %s, want 30s", took)
		}

		// A gate that is gone starts nothing any more.
		release()
		if err := f.tasks.CheckStopped(t.Context()); err != nil {
			t.Errorf("without a gate: %v, want no error", err)
		}
	})
}

// elapse lets the time of the test's bubble go by, which takes none, and all that is due by then
// happen.
func elapse(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock moves when everybody in it sleeps or waits
	synctest.Wait()
}

// A process that looks like the node counts only where no gate is.
func TestStop_BehindAGate_TheProcessTableIsNotLookedAt(t *testing.T) {
	f := newFixture(t)
	cmd := f.start("polite")
	release, err := supervision.Watch(string(f.home))
	if err != nil {
		t.Fatal(err)
	}
	if got := handlertest.Must[wire.Stopped](t, f.Harness, api.StopSeid, `{}`); got.WasRunning {
		t.Errorf("stop = %+v, want that nothing was running", got)
	}
	f.serve(true)
	_, err = f.Run(t, api.StopSeid, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "the gate has not started it")
	release()
	if !alive(cmd) {
		t.Error("a process that the gate does not know was ended")
	}
}
