package crashtest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/elapse"
)

// Kills says how to disturb a task.
type Kills struct {
	// Number is how often the sidecar is killed at most; a task that has ended is
	// left alone, and so is one that was hit twice: the third time it is given up.
	Number int
	// Within is the time in which each kill falls, at random. Set it to about the
	// time an undisturbed run takes.
	Within time.Duration
	Rand   *rand.Rand
	// Restarted, if set, is called after each restart: what the operator does when
	// it meets a new sidecar.
	Restarted func()
}

// RunKilled submits a task, kills and restarts the sidecar while it runs, and
// returns its end. Interrupted tells which kills hit.
//
// Every other kill is aimed: its time runs from the answer to the submission, when
// the task is on disk, and leans towards none at all. A task that takes
// milliseconds would hardly ever be hit otherwise.
func (s *Sidecar) RunKilled(t api.TaskType, params any, kills Kills) api.TaskResult {
	s.t.Helper()
	id := uuid.NewString()
	req := s.request(t, id, params)
	for n := range kills.Number {
		moment := time.Duration(kills.Rand.Int64N(int64(kills.Within)))
		// The same id makes it the same task: accepted once, however often sent.
		target := s.Client()
		submitted := make(chan error, 1)
		submit := func() {
			_, err := target.Submit(s.t.Context(), req)
			submitted <- err
		}
		if aimed := n%2 == 0; aimed {
			submit()
			moment = time.Duration(float64(moment) * kills.Rand.Float64() * kills.Rand.Float64())
		} else {
			go submit()
		}
		pass(s.t.Context(), moment)
		s.Kill()
		if err := <-submitted; err != nil && !gone(err) {
			s.t.Fatalf("submitting %s: %v", t, err)
		}
		s.Restart()
		if kills.Restarted != nil {
			kills.Restarted()
		}
		if got, err := s.Client().Get(s.t.Context(), id, 0); err == nil && got.Status.Terminal() {
			return got
		}
		if s.hits(id) == 2 {
			break
		}
	}
	s.Submit(t, id, params)
	return s.Await(id)
}

// pass lets time pass. A timer would be late by as much as a short task takes.
func pass(ctx context.Context, d time.Duration) {
	const short = time.Millisecond
	began := time.Now()
	if d > short {
		elapse.For(ctx, d-short)
	}
	for ctx.Err() == nil && time.Since(began) < d {
		runtime.Gosched()
	}
}

// Interrupted lists the tasks that the sidecar found running when it started: the
// kills that hit.
func (s *Sidecar) Interrupted() []api.TaskType {
	all := s.interruptions()
	found := make([]api.TaskType, 0, len(all))
	for _, i := range all {
		found = append(found, i.Type)
	}
	return found
}

// hits counts the kills that hit a task.
func (s *Sidecar) hits(id string) (n int) {
	for _, i := range s.interruptions() {
		if i.ID == id {
			n++
		}
	}
	return n
}

// interruption is what the log says of a task that is run again.
type interruption struct {
	Msg, ID string
	Type    api.TaskType
}

func (s *Sidecar) interruptions() (found []interruption) {
	for line := range strings.Lines(s.Log()) {
		var entry interruption
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "running an interrupted task again" {
			found = append(found, entry)
		}
	}
	return found
}
