package node

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// asked is a sidecar that answers after a time; never when that is negative.
type asked struct {
	sidecar.Sidecar
	mu    sync.Mutex
	after time.Duration
	level int
	err   error
	open  bool
	calls []string
}

func (a *asked) answer(ctx context.Context, call string) error {
	a.mu.Lock()
	a.calls = append(a.calls, call)
	after, err := a.after, a.err
	a.mu.Unlock()
	if after < 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	select {
	case <-time.After(after):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// times is how often something was asked.
func (a *asked) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.calls)
}

// answersAfter changes how long an answer takes from now on.
func (a *asked) answersAfter(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.after = d
}

func (a *asked) Node(ctx context.Context) (api.Node, error) {
	if err := a.answer(ctx, "node"); err != nil {
		return api.Node{}, err
	}
	if a.level < api.LevelNode {
		return api.Node{}, &sidecar.Error{Status: 404}
	}
	return api.Node{APILevel: a.level, Gate: api.Gate{State: api.GateOpen}}, nil
}

func (a *asked) Health(ctx context.Context) (sidecar.Health, error) {
	if err := a.answer(ctx, "health"); err != nil || !a.open {
		return sidecar.NotReady, err
	}
	return sidecar.Ready, nil
}

func (a *asked) Version(ctx context.Context) (api.Version, error) {
	return api.Version{APILevel: a.level}, a.answer(ctx, "version")
}

func (a *asked) NodeID(ctx context.Context) (string, error) { return "abc", a.answer(ctx, "node-id") }

var lookedAt = &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}

// timed asks once and tells how long that held the caller.
func timed(t *testing.T, l *looks, pod string, s sidecar.Sidecar) (*api.Node, time.Duration, error) {
	t.Helper()
	began := time.Now()
	document, err := l.look(t.Context(), lookedAt, pod, s)
	return document, time.Since(began), err
}

// elapse lets the time of the test's bubble go by, which takes none, and all that is due by then
// happen.
func elapse(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock moves when everybody in it sleeps or waits
	synctest.Wait()
}

// woken counts the nodes that a late answer has woken up.
func woken(l *looks) int {
	synctest.Wait()
	n := 0
	for {
		select {
		case <-l.late:
			n++
		default:
			return n
		}
	}
}

func TestLook_SidecarThatAnswers_IsAskedInEveryPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{level: api.LevelNode, after: 100 * time.Millisecond}
		for range 3 {
			if document, took, err := timed(t, l, "p", s); document == nil || err != nil || took != s.after {
				t.Errorf("a pass gets %+v, %v after %s; want a document after %s", document, err, took, s.after)
			}
		}
		if n := woken(l); n != 0 || s.times() != 3 {
			t.Errorf("asked %d times and woken %d times, want one look for each of 3 passes and nobody woken", s.times(), n)
		}
	})
}

// N16: a sidecar that never answers costs the first pass its patience and later ones nothing.
func TestLook_BlackHole_HoldsNoPassLongerThanThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{after: -1}
		if _, took, err := timed(t, l, "p", s); !errors.Is(err, errNoAnswerYet) || took != lookPatience {
			t.Errorf("the first pass waits %s and gets %v; want %s, %v", took, err, lookPatience, errNoAnswerYet)
		}
		// For a minute somebody looks every 100 ms, while questions end and new ones are asked.
		// Once one has ended without success, the sidecar is not just slow, whatever is asked since.
		began := time.Now()
		for range 600 {
			elapse(100 * time.Millisecond)
			_, took, err := timed(t, l, "p", s)
			if slow := time.Since(began) < lookTimeout-lookPatience; err == nil || took != 0 || errors.Is(err, errNoAnswerYet) != slow {
				t.Fatalf("after %s a pass waits %s and gets %v; want an error at once, %q: %t", time.Since(began), took, err, errNoAnswerYet, slow)
			}
		}
		elapse(lookTimeout) // the last question ends
		if n := woken(l); s.times() > 15 || n != 0 {
			t.Errorf("asked %d times in a minute, %d woken; want 15 at most, and nobody woken", s.times(), n)
		}
	})
}

func TestLook_LateAnswer_WakesTheNodeAndIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{level: api.LevelNode, after: time.Second}
		if _, _, err := timed(t, l, "p", s); !errors.Is(err, errNoAnswerYet) {
			t.Fatalf("look = %v, want %v", err, errNoAnswerYet)
		}
		elapse(time.Second)
		if n := woken(l); n != 1 {
			t.Fatalf("the answer wakes the node %d times, want once", n)
		}
		if document, took, err := timed(t, l, "p", s); document == nil || err != nil || took != 0 {
			t.Errorf("woken, the pass gets %+v, %v after %s; want the document at once", document, err, took)
		}
		if s.times() != 1 {
			t.Errorf("asked %d times, want once", s.times())
		}
		s.answersAfter(0)
		if _, _, err := timed(t, l, "p", s); err != nil || s.times() != 2 {
			t.Errorf("after the answer was used: asked %d times, %v; want another look", s.times(), err)
		}
	})
}

func TestLook_LateAnswerThatIsOld_IsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{level: api.LevelNode, after: time.Second}
		_, _, _ = timed(t, l, "p", s)
		elapse(time.Second + lookFresh)
		s.answersAfter(0)
		if document, _, err := timed(t, l, "p", s); document == nil || err != nil || s.times() != 2 {
			t.Errorf("%+v, %v, asked %d times; want another look", document, err, s.times())
		}
	})
}

func TestLook_SidecarThatComesBack_IsSeenWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{level: api.LevelNode, after: -1}
		_, _, _ = timed(t, l, "p", s)
		elapse(lookTimeout + lookFresh)
		s.answersAfter(10 * time.Millisecond)
		if _, took, err := timed(t, l, "p", s); !errors.Is(err, context.DeadlineExceeded) || took != 0 {
			t.Errorf("who kept a pass waiting in vain: %v after %s, want %v at once", err, took, context.DeadlineExceeded)
		}
		elapse(s.after)
		if n := woken(l); n != 1 {
			t.Fatalf("the answer wakes the node %d times, want once", n)
		}
		if document, _, err := timed(t, l, "p", s); document == nil || err != nil {
			t.Errorf("woken, the pass gets %+v, %v; want the document", document, err)
		}
	})
}

func TestLook_AnotherPod_IsAnotherSidecar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, dead, alive := newLooks(), &asked{after: -1}, &asked{level: api.LevelNode}
		_, _, _ = timed(t, l, "old", dead)
		if document, _, err := timed(t, l, "new", alive); document == nil || err != nil {
			t.Errorf("of the new pod's sidecar a pass gets %+v, %v; want its document", document, err)
		}
		elapse(lookTimeout)
		l.forget(types.NamespacedName{Namespace: "ns", Name: "n"})
		if n := woken(l); len(l.all) != 0 || n != 0 {
			t.Errorf("%d looks are remembered, %d woken; want none", len(l.all), n)
		}
	})
}

func TestLook_RefusedConnection_IsAskedAgainInTheNextPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &asked{level: api.LevelNode, err: errors.New("connection refused")}
		if _, took, err := timed(t, l, "p", s); !errors.Is(err, s.err) || took != 0 {
			t.Errorf("look = %v after %s, want %v at once", err, took, s.err)
		}
		s.err = nil
		if document, _, err := timed(t, l, "p", s); document == nil || err != nil {
			t.Errorf("of a sidecar that has just begun to listen a pass gets %+v, %v; want its document", document, err)
		}
	})
}

func TestLook_OlderSidecar_IsAskedForItsHealth(t *testing.T) {
	for _, open := range []bool{true, false} {
		s := &asked{level: 2, open: open}
		document, err := lookAt(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		want := api.Node{APILevel: 2, Gate: api.Gate{State: api.GateClosed}, Seid: api.Seid{State: api.SeidWaiting}, Home: api.Home{NodeID: "abc"}}
		if open {
			want.Gate.State, want.Seid.State = api.GateOpen, api.SeidRunning
		}
		if document.APILevel != 2 || document.Gate != want.Gate || document.Seid.State != want.Seid.State || document.Home != want.Home {
			t.Errorf("open %t: %+v, want %+v", open, document, want)
		}
	}
}
