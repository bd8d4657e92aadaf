package peers_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/peers"
)

// slow is a source of Instances that takes its time.
type slow struct {
	takes time.Duration

	mu     sync.Mutex
	asked  int
	answer []peers.Instance
	err    error
}

func (s *slow) Find(ctx context.Context, _ string, _ map[string]string) ([]peers.Instance, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.answer, s.err
}

func (s *slow) set(answer []peers.Instance, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.err = answer, err
}

func (s *slow) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

var one = []peers.Instance{{ID: "i-1", Host: "h", Port: 1}}

func find(t *testing.T, c *peers.Cache) ([]peers.Instance, error) {
	t.Helper()
	return c.Find(t.Context(), "eu-central-1", map[string]string{"a": "b"})
}

// pass lets time go by; inside synctest it takes none.
func pass(d time.Duration) { <-time.After(d) }

func TestCache_ManyCallers_OneQuestionPerTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: time.Second, answer: one}
		cache := &peers.Cache{Source: source}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) {
					t.Errorf("Find = %v, %v", got, err)
				}
			})
		}
		wg.Wait()
		if source.count() != 1 {
			t.Errorf("asked %d times", source.count())
		}
		pass(peers.DefaultTTL - 2*time.Second)
		if _, err := find(t, cache); err != nil || source.count() != 1 {
			t.Errorf("before the TTL: asked %d times, %v", source.count(), err)
		}
		pass(2 * time.Second)
		if _, err := find(t, cache); err != nil || source.count() != 2 {
			t.Errorf("after the TTL: asked %d times, %v", source.count(), err)
		}
	})
}

func TestCache_SlowSource_CallerLeavesAfterTwoSecondsAndTheAnswerStillArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: 10 * time.Second, answer: one}
		cache := &peers.Cache{Source: source}
		start := time.Now()
		got, err := find(t, cache)
		if waited := time.Since(start); waited > 2*time.Second || err == nil || got != nil {
			t.Errorf("Find = %v, %v after %s", got, err, waited)
		}
		pass(9 * time.Second)
		start = time.Now()
		if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) || time.Since(start) != 0 {
			t.Errorf("later Find = %v, %v after %s", got, err, time.Since(start))
		}
	})
}

func TestCache_CallerGivesUp_TheQuestionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: time.Second, answer: one}
		cache := &peers.Cache{Source: source}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := cache.Find(ctx, "eu-central-1", map[string]string{"a": "b"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
		pass(time.Second)
		if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) || source.count() != 1 {
			t.Errorf("Find = %v, %v, asked %d times", got, err, source.count())
		}
	})
}

func TestCache_SourceFails_KeepsTheLastGoodAnswerAndAsksAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{answer: one}
		cache := &peers.Cache{Source: source}
		if _, err := find(t, cache); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("throttled")
		source.set(nil, broken)
		pass(peers.DefaultTTL)
		for range 3 {
			if got, err := find(t, cache); !errors.Is(err, broken) || !cmp.Equal(one, got) {
				t.Errorf("Find = %v, %v", got, err)
			}
		}
		if source.count() != 2 {
			t.Errorf("asked %d times, want 2: a failure holds for a while", source.count())
		}
		source.set([]peers.Instance{}, nil)
		pass(peers.DefaultRetry)
		if got, err := find(t, cache); err != nil || got == nil || len(got) != 0 {
			t.Errorf("recovered Find = %v, %v; want an empty answer that is not nil", got, err)
		}
	})
}

func TestCache_HungSource_IsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: time.Hour}
		cache := &peers.Cache{Source: source}
		if _, err := find(t, cache); err == nil {
			t.Error("a hung source gave an answer")
		}
		pass(peers.DefaultDeadline)
		synctest.Wait()
		if _, err := find(t, cache); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
	})
}

func TestCache_QuestionsThatLookAlike_AreKeptApart(t *testing.T) {
	source := &slow{answer: one}
	cache := &peers.Cache{Source: source}
	for _, tags := range []map[string]string{{"a": "b", "c": "d"}, {"a": `b" "c"="d`}, {"a": "b"}} {
		if _, err := cache.Find(t.Context(), "r-1", tags); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cache.Find(t.Context(), "r-2", map[string]string{"a": "b"}); err != nil || source.count() != 4 {
		t.Errorf("asked %d times, want 4 (%v)", source.count(), err)
	}
}
