package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// errKilled is what a process sees that is gone: nothing, but it has to be returned to somebody.
var errKilled = errors.New("the operator was killed")

// wire is all that the operators of one world say, one after the other.
type wire struct {
	describer *envtest.Recorder
	// watches fill the operators' caches.
	watches *envtest.Watches
	// loseStore has the sidecar of a node lose its store.
	loseStore func(node string) error
	// rewind has the next process begin so many changes behind.
	rewind func(changes int)

	mu     sync.Mutex
	typeOf map[string]string
	// open: calls are counted, and the one that is meant is disturbed.
	open  bool
	seen  map[string]int
	calls []call
	// unanswered counts the undisturbed calls that took longer than their caller waited.
	unanswered int

	// at are the names of the calls that are disturbed and were not made yet, one after the other.
	at      []string
	disturb *disturbance
}

// newWire disturbs the calls of some names, each after the one before; a nil disturbance disturbs none.
func newWire(d *disturbance, at ...string) *wire {
	return &wire{describer: envtest.NewRecorder(), typeOf: map[string]string{}, seen: map[string]int{}, at: at, disturb: d}
}

func (w *wire) setOpen(open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = open
}

// wasMet reports whether all calls that are meant were made.
func (w *wire) wasMet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.at) == 0
}

// recorded are the calls so far.
func (w *wire) recorded() []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]call(nil), w.calls...)
}

// note counts a call and gives the disturbance that is meant for it, if any.
func (w *wire) note(c call) *disturbance {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open {
		return nil
	}
	w.seen[c.kind()]++
	c.nth = w.seen[c.kind()]
	w.calls = append(w.calls, c)
	if w.disturb == nil || len(w.at) == 0 || c.String() != w.at[0] {
		return nil
	}
	w.at = w.at[1:]
	return w.disturb
}

func (w *wire) noteUnanswered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unanswered++
}

func (w *wire) countUnanswered() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unanswered
}

func (w *wire) nameSidecarCall(req *http.Request) (call, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sidecarCall(req, w.typeOf)
}

// life is one process of the operator, as its connections know it.
type life struct {
	wire *wire
	dead chan struct{}
	once sync.Once
	// killed is told once.
	killed func()
}

func newLife(w *wire, killed func()) *life {
	return &life{wire: w, dead: make(chan struct{}), killed: killed}
}

// kill ends the process: none of its calls arrives any more, nor does an answer to one.
func (l *life) kill() {
	l.once.Do(func() {
		close(l.dead)
		go l.killed()
	})
}

func (l *life) isDead() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

// toAPI stands before the connection to the API server.
func (l *life) toAPI(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		c, counts, err := apiCall(l.wire.describer, req)
		if err != nil {
			return nil, fmt.Errorf("naming a call of the API: %w", err)
		}
		return l.pass(c, counts, req, next)
	})
}

// toSidecars stands before the connections to the sidecars.
func (l *life) toSidecars(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		c, err := l.wire.nameSidecarCall(req)
		if err != nil {
			return nil, fmt.Errorf("naming a call of a sidecar: %w", err)
		}
		return l.pass(c, true, req, next)
	})
}

func (l *life) pass(c call, counts bool, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	if l.isDead() {
		return nil, errKilled
	}
	if counts {
		if d := l.wire.note(c); d != nil {
			return d.meet(l, req, next)
		}
	}
	resp, err := next.RoundTrip(req)
	if errors.Is(err, context.DeadlineExceeded) {
		l.wire.noteUnanswered()
	}
	if l.isDead() {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, errKilled
	}
	return resp, err
}

// drop reads an answer to its end, so that what was asked for has been done, and forgets it.
func drop(resp *http.Response) {
	if resp != nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
