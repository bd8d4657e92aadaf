package look

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// blackHole takes connections and never answers.
func blackHole(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

func TestNode_ABlackHoleAsRPC_AnswersWithinTheBound(t *testing.T) {
	for name, tc := range map[string]struct {
		open     map[int]bool
		answered bool
		want     api.SyncState
	}{
		"starting":            {map[int]bool{}, false, api.SyncStarting},
		"the port is open":    {map[int]bool{26656: true, 26657: true}, false, api.SyncNotAnswering},
		"it answered before":  {map[int]bool{}, true, api.SyncNotAnswering},
		"the ports are a lie": {nil, false, api.SyncStarting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeid(t)
			l := s.hasty()
			if tc.answered {
				l.Node(t.Context())
				awaitValue(t, l.answers.idle)
				s.clock.Step(2 * time.Second)
			}
			s.set(func() { s.url, s.open = blackHole(t), tc.open })
			// The caller's patience is the operator's, which is more than the bound.
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			start := time.Now()
			got := l.Node(ctx)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if tc.answered && got.Sync.State != api.SyncInSync {
				t.Errorf("a slow node is judged by what it said before, not %s", got.Sync.State)
			}
			// The second look comes when asking has been given up.
			awaitValue(t, l.answers.idle)
			s.clock.Step(openGrace)
			got = l.Node(ctx)
			if got.Sync.State != tc.want || got.Home.Stage == "" || got.Disk == nil || ctx.Err() != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// idle reports whether no answer is on its way.
func (s *shared[T]) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flight == nil
}

func TestNode_ASlowNode_IsJudgedByItsLastAnswerForAWhile(t *testing.T) {
	for name, tc := range map[string]struct {
		age  time.Duration
		want api.SyncState
	}{
		"recent": {Every, api.SyncInSync},
		"old":    {time.Minute, api.SyncNotAnswering},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeid(t)
			l := s.hasty()
			l.Node(t.Context())
			awaitValue(t, l.answers.idle)
			s.clock.Step(tc.age)
			held := make(chan struct{})
			s.set(func() { s.held, s.block, s.height = held, s.clock.Now(), 99 })
			if got := l.Node(t.Context()).Sync; got.State != tc.want {
				t.Errorf("while it is slow: %+v", got)
			}
			close(held)
			awaitValue(t, l.answers.idle)
			if got := l.Node(t.Context()).Sync; got.State != api.SyncInSync || got.Height != 99 {
				t.Errorf("when it has answered: %+v", got)
			}
		})
	}
}

func TestNode_ACallerThatLeaves_DoesNotSpoilTheAnswerOfOthers(t *testing.T) {
	s := newSeid(t)
	s.held = make(chan struct{})
	l := s.look()
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan api.Node, 1)
	go func() { first <- l.Node(ctx) }()
	awaitValue(t, func() bool { return s.calls["GET /status"].Load() > 0 })
	leave()
	if got := <-first; got.Sync.State == api.SyncInSync {
		t.Errorf("whoever left saw %s", got.Sync.State)
	}
	close(s.held)
	if got := l.Node(t.Context()); got.Sync.State != api.SyncInSync || s.calls["GET /status"].Load() != 1 {
		t.Errorf("the next saw %s after %d calls", got.Sync.State, s.calls["GET /status"].Load())
	}
}
