package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// told is a sidecar whose document a test can change.
type told struct {
	asked
	document api.Node
}

func (s *told) Node(ctx context.Context) (api.Node, error) {
	if err := s.answer(ctx, "node"); err != nil {
		return api.Node{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.document, nil
}

// tells changes what the sidecar tells from now on.
func (s *told) tells(change func(*api.Node)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.document)
}

// fails has every question from now on end in err.
func (s *told) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// atRest leaves a node to rest on what its sidecar tells now.
func atRest(ctx context.Context, l *looks, s *told) *rest {
	r := &rest{looked: func(*v1alpha1.SeiNode, *api.Node, error) {}, wake: l.found}
	document := s.document
	r.begin(ctx, &resting{node: lookedAt, pod: "p", sidecar: s, document: &document})
	return r
}

func TestRest_NothingNew_IsLookedAtAndNotWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := newLooks(), &told{}
		atRest(ctx, l, s)
		for range 20 {
			elapse(steadyInterval)
			s.tells(func(d *api.Node) { d.Sync.Height += 100 })
		}
		if n := woken(l); n != 0 || s.times() < 15 {
			t.Errorf("%d looks wake the node up %d times, want at least 15 looks that wake nobody", s.times(), n)
		}
		stop()
		elapse(2 * steadyInterval)
		before := s.times()
		elapse(10 * steadyInterval)
		if got := s.times(); got != before {
			t.Errorf("an operator that has ended goes on looking: %d looks, want the %d of before", got, before)
		}
	})
}

func TestRest_SomethingNew_WakesTheNodeWhichUsesTheAnswer(t *testing.T) {
	refused := errors.New("connection refused")
	for name, change := range map[string]func(*told){
		"out of sync":     func(s *told) { s.tells(func(d *api.Node) { d.Sync.State = api.SyncNoPeers }) },
		"does not answer": func(s *told) { s.fails(refused) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLooks(), &told{}
				atRest(t.Context(), l, s)
				change(s)
				elapse(jittered(steadyInterval, lookedAt))
				if n := woken(l); n != 1 || s.times() != 1 {
					t.Fatalf("%d looks wake the node up %d times, want one look that wakes it once", s.times(), n)
				}
				document, took, err := timed(t, l, "p", s)
				if s.times() != 1 || took != 0 || !errors.Is(err, s.err) || err == nil && document.Sync.State != api.SyncNoPeers {
					t.Errorf("woken, the pass gets %+v, %v after %s and %d looks; want what the one look found, at once", document, err, took, s.times())
				}
			})
		})
	}
}

func TestRest_NodeThatGetsAPass_IsLeftToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLooks(), &told{asked: asked{after: time.Second}}
		r := atRest(t.Context(), l, s)
		elapse(jittered(steadyInterval, lookedAt)) // a look is under way
		s.tells(func(d *api.Node) { d.Sync.State = api.SyncNoPeers })
		r.end((&resting{node: lookedAt}).key())
		elapse(10 * steadyInterval)
		if n := woken(l); n != 0 || s.times() != 1 || len(r.byNode) != 0 {
			t.Errorf("%d looks, %d woken, %d at rest; want one look, nobody woken, none at rest", s.times(), n, len(r.byNode))
		}
	})
}

// Only a node whose every change is told by a watch or by its sidecar is left to rest. Others get a
// pass at every look.
func TestSettle_NodeThatWaitsForNothing_Rests(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*slowCluster, *v1alpha1.SeiNode)
		rests  bool
	}{
		"in sync":       {func(*slowCluster, *v1alpha1.SeiNode) {}, true},
		"not in sync":   {func(c *slowCluster, _ *v1alpha1.SeiNode) { c.sidecar.document.Sync.State = api.SyncNoPeers }, true},
		"paused":        {func(_ *slowCluster, n *v1alpha1.SeiNode) { n.Spec.Paused = true }, false},
		"older sidecar": {func(c *slowCluster, _ *v1alpha1.SeiNode) { c.sidecar.document.APILevel = api.LevelNode - 1 }, false},
		"peers in EC2": {func(_ *slowCluster, n *v1alpha1.SeiNode) {
			n.Spec.Peers = []v1alpha1.PeerSource{{EC2Tags: &v1alpha1.EC2TagPeers{}}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSlowCluster(t)
			c.settle(t)
			node := c.stored(t)
			tt.change(c, node)
			if err := c.Update(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			result, err := c.reconcile(t, c.r)
			if rests := c.r.rest.byNode[key] != nil; err != nil || rests != tt.rests {
				t.Errorf("the node rests: %t, %v; want %t", rests, err, tt.rests)
			}
			if seldom := result.RequeueAfter > 2*steadyInterval; seldom != tt.rests {
				t.Errorf("it comes back in %s, want more than %s: %t", result.RequeueAfter, 2*steadyInterval, tt.rests)
			}
			c.r.forget(key)
			if len(c.r.rest.byNode) != 0 {
				t.Error("a node that is gone is looked at")
			}
		})
	}
}
