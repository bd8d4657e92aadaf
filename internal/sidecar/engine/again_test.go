package engine

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
)

// A task that is complete is not run again under its id: a client that has missed the answer asks twice.
func TestSubmit_IDOfACompletedTask_RunsNothing(t *testing.T) {
	var runs atomic.Int32
	b := open(t, NewHandler(echo, nil, func(context.Context, Task, echoParams) (any, error) {
		runs.Add(1)
		return nil, nil
	}))
	id := b.submit(echo, uuid.NewString(), `{"say":"hi"}`)
	first := b.await(id)
	b.submit(echo, id, `{"say":"hi"}`)
	if again := b.await(id); runs.Load() != 1 || again.Run != first.Run {
		t.Errorf("run %d times, as run %d and then %d", runs.Load(), first.Run, again.Run)
	}
}
