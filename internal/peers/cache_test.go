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

// pass lets the time of the test's bubble go by, which takes none, and all that is due by then
// happen.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock moves when everybody in it sleeps or waits
	synctest.Wait()
}

func TestCache_ManyCallers_OneQuestionPerTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: time.Second, answer: one}
		cache := &peers.Cache{Source: source}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) {
					t.Errorf("Find = %v, %v, want %v", got, err, one)
				}
			})
		}
		wg.Wait()
		if source.count() != 1 {
			t.Errorf("asked %d times, want once", source.count())
		}
		pass(peers.DefaultTTL - 2*time.Second)
		if _, err := find(t, cache); err != nil || source.count() != 1 {
			t.Errorf("before the TTL: asked %d times, %v; want once", source.count(), err)
		}
		pass(2 * time.Second)
		if _, err := find(t, cache); err != nil || source.count() != 2 {
			t.Errorf("after the TTL: asked %d times, %v; want twice", source.count(), err)
		}
	})
}

func TestCache_SlowSource_CallerLeavesAfterTwoSecondsAndTheAnswerStillArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slow{takes: 10 * time.Second, answer: one}
		cache := &peers.Cache{Source: source}
		start := time.Now()
		got, err := find(t, cache)
		if waited := time.Since(start); waited != 2*time.Second || err == nil || got != nil {
			t.Errorf("Find = %v, %v after %s; want an error after 2s", got, err, waited)
		}
		pass(9 * time.Second)
		start = time.Now()
		if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) || time.Since(start) != 0 {
			t.Errorf("later Find = %v, %v after %s; want %v at once", got, err, time.Since(start), one)
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
			t.Errorf("Find = %v, want the caller's deadline", err)
		}
		pass(time.Second)
		if got, err := find(t, cache); err != nil || !cmp.Equal(one, got) || source.count() != 1 {
			t.Errorf("Find = %v, %v, asked %d times; want %v, asked once", got, err, source.count(), one)
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
				t.Errorf("Find = %v, %v; want %v, %v", got, err, one, broken)
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
		if got, err := find(t, cache); err == nil {
			t.Errorf("Find = %v, want an error: the source hangs", got)
		}
		pass(peers.DefaultDeadline)
		if _, err := find(t, cache); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Find = %v, want the deadline of the question", err)
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
