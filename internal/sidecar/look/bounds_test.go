package look

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

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
			synctest.Test(t, func(t *testing.T) {
				s := newSeid(t)
				l := s.hasty()
				look := func() api.Node {
					begin := time.Now()
					got := l.Node(t.Context())
					if took := time.Since(begin); took > Bound {
						t.Errorf("a look takes %s, want %s at most", took, Bound)
					}
					return got
				}
				if tc.answered {
					look()
					awaitValue(t, l.answers.idle)
					s.clock.Step(2 * time.Second)
				}
				s.set(func() { s.silent, s.open = true, tc.open })
				if got := look(); tc.answered && got.Sync.State != api.SyncInSync {
					t.Errorf("a slow node is %s, want it judged by what it said before: %s", got.Sync.State, api.SyncInSync)
				}
				// The second look comes when asking has been given up.
				awaitValue(t, l.answers.idle)
				s.clock.Step(openGrace)
				if got := look(); got.Sync.State != tc.want || got.Home.Stage == "" || got.Disk == nil {
					t.Errorf("document = %+v, want it %s, with a stage and the disk", got, tc.want)
				}
				awaitValue(t, l.answers.idle)
			})
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
			synctest.Test(t, func(t *testing.T) {
				s := newSeid(t)
				l := s.hasty()
				l.Node(t.Context())
				awaitValue(t, l.answers.idle)
				s.clock.Step(tc.age)
				held := make(chan struct{})
				s.set(func() { s.held, s.block, s.height = held, s.clock.Now(), 99 })
				if got := l.Node(t.Context()).Sync; got.State != tc.want {
					t.Errorf("while it is slow: %+v, want %s", got, tc.want)
				}
				close(held)
				awaitValue(t, l.answers.idle)
				if got := l.Node(t.Context()).Sync; got.State != api.SyncInSync || got.Height != 99 {
					t.Errorf("when it has answered: %+v, want %s at height 99", got, api.SyncInSync)
				}
			})
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
		t.Errorf("whoever left saw %s, want something else", got.Sync.State)
	}
	close(s.held)
	if got := l.Node(t.Context()); got.Sync.State != api.SyncInSync || s.calls["GET /status"].Load() != 1 {
		t.Errorf("the next saw %s after %d calls, want %s after one", got.Sync.State, s.calls["GET /status"].Load(), api.SyncInSync)
	}
}
