package tokens

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// server hands out numbered tokens that are valid for an hour.
type server struct {
	mu       sync.Mutex
	requests int
	err      error
	valid    time.Duration
	// gate, when set, keeps every request waiting until it is closed.
	gate           chan struct{}
	inFlight, most atomic.Int32
	// arrived, when set, is notified of every request.
	arrived chan struct{}
}

func (s *server) mint(ctx context.Context, audience string) (string, time.Duration, error) {
	now := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	for old := s.most.Load(); now > old && !s.most.CompareAndSwap(old, now); old = s.most.Load() {
	}
	s.mu.Lock()
	s.requests++
	token, valid, err, gate := fmt.Sprintf("%s#%d", audience, s.requests), s.valid, s.err, s.gate
	s.mu.Unlock()
	if s.arrived != nil {
		s.arrived <- struct{}{}
	}
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return "", 0, ctx.Err()
		}
	}
	if err != nil {
		return "", 0, err
	}
	return token, valid, nil
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func newServer(t *testing.T) (*server, *Cache, *clocktesting.FakeClock) {
	t.Helper()
	s, clock := &server{valid: time.Hour}, clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	c := NewCache(s.mint, clock)
	c.chance = func() float64 { return 0.5 }
	return s, c, clock
}

func want(t *testing.T, c *Cache, audience, token string) {
	t.Helper()
	if got, err := c.Token(t.Context(), audience); got != token || err != nil {
		t.Fatalf("token %q, %v; want %q", got, err, token)
	}
}

// settled waits until no request is under way.
func settled(t *testing.T, c *Cache) {
	t.Helper()
	c.mu.Lock()
	var pending []chan struct{}
	for _, e := range c.all {
		if e.pending != nil {
			pending = append(pending, e.pending)
		}
	}
	c.mu.Unlock()
	for _, p := range pending {
		<-p
	}
	c.mu.Lock() // whoever closes it has the lock until all is written
	defer c.mu.Unlock()
}

func TestToken_IsAskedForOncePerAudience_AndRenewedBeforeItExpires(t *testing.T) {
	s, c, clock := newServer(t)
	want(t, c, "a", "a#1")
	want(t, c, "b", "b#2")
	want(t, c, "a", "a#1")
	clock.Step(44 * time.Minute)
	want(t, c, "a", "a#1")
	if s.count() != 2 {
		t.Fatalf("%d requests", s.count())
	}
	// Half of the way between 60 and 90 percent of its life: the old one serves until the new one is there.
	clock.Step(2 * time.Minute)
	want(t, c, "a", "a#1")
	settled(t, c)
	want(t, c, "a", "a#3")
}

func TestToken_APIServerAway_TheOldOneServesUntilItExpires(t *testing.T) {
	s, c, clock := newServer(t)
	want(t, c, "a", "a#1")
	s.set(func() { s.err = errors.New("connection refused") })
	for range 11 {
		clock.Step(5 * time.Minute)
		want(t, c, "a", "a#1")
		settled(t, c)
	}
	clock.Step(3 * time.Minute) // 58 minutes: 95 percent of its life are over
	if token, err := c.Token(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("token %q, %v", token, err)
	}
	settled(t, c)
	s.set(func() { s.err = nil })
	clock.Step(time.Minute)
	if token, err := c.Token(t.Context(), "a"); err != nil || token == "a#1" {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestToken_RequestsThatFail_HoldBackAllOthers(t *testing.T) {
	s, c, clock := newServer(t)
	s.set(func() { s.err = errors.New("forbidden") })
	ask := func() {
		for i := range 500 {
			if token, err := c.Token(t.Context(), fmt.Sprint(i)); err == nil {
				t.Fatalf("token %q, want an error", token)
			}
		}
	}
	ask()
	if n := s.count(); n != 1 {
		t.Errorf("%d requests of 500 nodes were sent, want 1", n)
	}
	// For an hour, as often as nodes are looked at whose sidecar does not answer.
	for range 720 {
		clock.Step(5 * time.Second)
		ask()
	}
	if n := s.count(); n > 150 {
		t.Errorf("%d requests in an hour of failures", n)
	}
	s.set(func() { s.err = nil })
	clock.Step(lastHold + lastHold/5)
	if _, err := c.Token(t.Context(), "1"); err != nil {
		t.Errorf("when it may again: %v", err)
	}
}

func TestToken_ColdStartWith500Nodes_IsNoStorm(t *testing.T) {
	s, c, _ := newServer(t)
	s.gate, s.arrived = make(chan struct{}), make(chan struct{}, 500)
	var waiting sync.WaitGroup
	for i := range 500 {
		for range 2 {
			waiting.Go(func() {
				if _, err := c.Token(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for range atOnce {
		<-s.arrived
	}
	close(s.gate)
	waiting.Wait()
	if n, most := s.count(), s.most.Load(); n != 500 || most != atOnce {
		t.Errorf("%d requests, up to %d at once; want 500, %d", n, most, atOnce)
	}
}

// What 500 nodes at rest cost: each is looked at every half minute, for six hours.
func TestToken_500NodesAtRest_CostAboutElevenRequestsAMinute(t *testing.T) {
	s, c, clock := newServer(t)
	chance := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	c.chance = func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return chance.Float64()
	}
	const nodes, hours = 500, 6
	look := func() {
		for i := range nodes {
			if _, err := c.Token(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		settled(t, c)
	}
	look()
	begun, worst, last := s.count(), 0, s.count()
	for range hours * 60 {
		for range 2 {
			clock.Step(30 * time.Second)
			look()
		}
		worst = max(worst, s.count()-last)
		last = s.count()
	}
	perMinute := float64(s.count()-begun) / (hours * 60)
	t.Logf("%d nodes at rest: %.1f requests a minute, at most %d in one minute", nodes, perMinute, worst)
	if perMinute > 12 || worst > 60 {
		t.Errorf("%.1f requests a minute, at most %d in one", perMinute, worst)
	}
}

func TestRefused_ATokenIsReplaced_ButNotAgainAndAgain(t *testing.T) {
	s, c, clock := newServer(t)
	want(t, c, "a", "a#1")
	c.Refused("a", "a#1")
	want(t, c, "a", "a#1") // it is new: another would be refused too
	clock.Step(refusedAfter)
	c.Refused("a", "an older one")
	want(t, c, "a", "a#1")
	c.Refused("a", "a#1")
	want(t, c, "a", "a#2")
	c.Refused("a", "a#2")
	want(t, c, "a", "a#2")
	if s.count() != 2 {
		t.Errorf("%d requests", s.count())
	}
	c.Refused("unknown", "x")
}

func TestToken_OfNodesThatAreGone_IsForgotten(t *testing.T) {
	_, c, clock := newServer(t)
	for i := range 100 {
		want(t, c, fmt.Sprint(i), fmt.Sprintf("%d#%d", i, i+1))
	}
	clock.Step(time.Hour)
	want(t, c, "a", "a#101")
	settled(t, c)
	if n := len(c.all); n != 1 {
		t.Errorf("%d tokens are kept", n)
	}
}

func TestToken_CallerThatGivesUp_LosesNothing(t *testing.T) {
	s, c, _ := newServer(t)
	s.gate = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Token(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	close(s.gate)
	want(t, c, "a", "a#1")
}

// A life shorter or longer than asked for, and an answer that is no token.
func TestToken_LifeIsWhatTheAPIServerGrants(t *testing.T) {
	s, c, clock := newServer(t)
	s.valid = 10 * time.Minute
	want(t, c, "a", "a#1")
	clock.Step(10 * time.Minute)
	want(t, c, "a", "a#2")
	s.valid = 0
	if token, err := c.Token(t.Context(), "b"); err == nil {
		t.Errorf("token %q that is valid for no time", token)
	}
}
