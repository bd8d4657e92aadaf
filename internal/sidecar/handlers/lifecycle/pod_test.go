package lifecycle_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/gate"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// podOf runs the node as a pod does: behind a gate, and again whenever it ends.
type podOf struct {
	f      *fixture
	closed atomic.Bool
	exits  chan int
}

// pod starts a pod whose node behaves as it is told.
func (f *fixture) pod(behaviour string) *podOf {
	f.t.Helper()
	f.t.Setenv("FAKE_NODE", behaviour)
	p := &podOf{f: f, exits: make(chan int, 100)}
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
		for ctx.Err() == nil {
			p.life(ctx, sidecar.URL)
		}
	}()
	f.t.Cleanup(func() {
		cancel()
		for {
			if r := p.record(); r.State == api.SeidRunning {
				_ = syscall.Kill(r.PID, syscall.SIGKILL) // it may have ended in this moment
			}
			select {
			case <-gone:
				sidecar.Close()
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return p
}

func (p *podOf) life(ctx context.Context, sidecar string) {
	g := gate.Gate{
		Sidecar: sidecar, Home: string(p.f.home), Log: slog.New(slog.DiscardHandler),
		Rules: gate.Rules{ConfigHash: func() (string, error) {
			p.f.mu.Lock()
			defer p.f.mu.Unlock()
			return p.f.hash, nil
		}},
	}
	err := g.Run(ctx, []string{p.f.copyOfThisTest(), "start", "--home", string(p.f.home)})
	if exit, ended := errors.AsType[*gate.ExitError](err); ended {
		p.exits <- exit.Code
	} else if err == nil {
		p.exits <- 0
	}
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
	deadline := time.After(30 * time.Second)
	for {
		r := p.record()
		if is(r) {
			return r
		}
		select {
		case <-deadline:
			p.f.t.Fatalf("not %s: %+v", what, r)
		case <-time.After(5 * time.Millisecond):
		}
	}
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
		t.Errorf("watched: %t, %v", watched, err)
	}
}
