package crashtest

import (
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Kills says how to disturb a task.
type Kills struct {
	// Number is how often the sidecar is killed at most; a task that has ended is
	// left alone.
	Number int
	// Within is the time after (re)start in which each kill falls, at random. Set
	// it to about the time an undisturbed run takes.
	Within time.Duration
	Rand   *rand.Rand
}

// RunKilled submits a task, kills and restarts the sidecar while it runs, and
// returns its end together with the number of kills that hit.
func (s *Sidecar) RunKilled(t api.TaskType, params any, kills Kills) (task api.TaskResult, hits int) {
	s.t.Helper()
	id := uuid.NewString()
	req := s.request(t, id, params)
	for range kills.Number {
		moment := time.Duration(kills.Rand.Int64N(int64(kills.Within)))
		// The same id makes it the same task: accepted once, however often sent.
		target := s.Client()
		submitted := make(chan error, 1)
		go func() {
			_, err := target.Submit(s.t.Context(), req)
			submitted <- err
		}()
		<-time.After(moment)
		s.Kill()
		if err := <-submitted; err != nil && !gone(err) {
			s.t.Fatalf("submitting %s: %v", t, err)
		}
		s.Restart()
		if got, err := s.Client().Get(s.t.Context(), id, 0); err == nil && got.Status.Terminal() {
			return got, hits
		}
		hits++
	}
	s.Submit(t, id, params)
	return s.Await(id), hits
}
