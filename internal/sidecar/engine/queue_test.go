package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// blockingHandler reports its task's id on began, then waits for its context.
func blockingHandler(groups []Group, began chan<- string) Handler {
	return NewHandler(blocking, groups, func(ctx context.Context, task Task, _ struct{}) (any, error) {
		began <- task.ID
		<-ctx.Done()
		return nil, ctx.Err()
	})
}

func called(tk *ticket) bool {
	select {
	case <-tk.turn:
		return true
	default:
		return false
	}
}

func TestQueue_SameGroup_OneAtATimeInOrder(t *testing.T) {
	q := newQueue(1)
	a, b, c := q.join([]Group{GroupConfig}), q.join([]Group{GroupConfig}), q.join([]Group{GroupConfig})
	if !called(a) || called(b) || called(c) {
		t.Fatal("the first alone has its turn")
	}
	q.leave(a)
	if !called(b) || called(c) {
		t.Fatal("then the second")
	}
	q.leave(b)
	if !called(c) {
		t.Fatal("then the third")
	}
}

func TestQueue_WaiterForTwoGroups_IsNotOvertaken(t *testing.T) {
	q := newQueue(1)
	config := q.join([]Group{GroupConfig})
	both := q.join([]Group{GroupConfig, GroupData})
	data := q.join([]Group{GroupData})
	keys := q.join([]Group{GroupKeys})
	if called(both) || called(data) {
		t.Fatal("data is spoken for by the task that waits for both")
	}
	if !called(keys) {
		t.Fatal("an unrelated group runs at once")
	}
	q.leave(config)
	if !called(both) || called(data) {
		t.Fatal("both first")
	}
	q.leave(both)
	if !called(data) {
		t.Fatal("data last")
	}
}

func TestQueue_GivingUpAPlace_LetsOthersPass(t *testing.T) {
	q := newQueue(1)
	config := q.join([]Group{GroupConfig})
	both := q.join([]Group{GroupConfig, GroupData})
	data := q.join([]Group{GroupData})
	q.leave(both)
	if !called(data) {
		t.Fatal("nobody stands before data any more")
	}
	q.leave(config)
	q.leave(data)
	if next := q.join([]Group{GroupConfig, GroupData}); !called(next) {
		t.Fatal("everything was given back")
	}
}

func TestQueue_ReadOnlyTasks_AreBounded(t *testing.T) {
	q := newQueue(2)
	a, b, c := q.join(nil), q.join(nil), q.join(nil)
	if !called(a) || !called(b) || called(c) {
		t.Fatal("two places")
	}
	if group := q.join([]Group{GroupData}); !called(group) {
		t.Fatal("readers do not stand in the way of writers")
	}
	q.leave(a)
	if !called(c) {
		t.Fatal("a free place is taken")
	}
}

// Hundreds of tasks with random groups: no two of one group ever overlap, and
// everyone gets a turn.
func TestEngine_ManyTasks_NeverShareAGroup(t *testing.T) {
	all := []Group{GroupConfig, GroupData, GroupProcess, GroupKeys}
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	busy := map[Group]string{}
	handlers := make([]Handler, 12)
	for i := range handlers {
		var groups []Group
		for _, g := range all {
			if rng.IntN(2) == 0 {
				groups = append(groups, g)
			}
		}
		name := api.TaskType(fmt.Sprintf("random-%d", i))
		handlers[i] = NewHandler(name, groups, func(_ context.Context, task Task, _ struct{}) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			for _, g := range groups {
				if other := busy[g]; other != "" {
					return nil, fmt.Errorf("%s is used by %s", g, other)
				}
				busy[g] = task.ID
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				for _, g := range groups {
					delete(busy, g)
				}
			}()
			return nil, nil
		})
	}
	b := open(t, handlers...)
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = b.submit(handlers[rng.IntN(len(handlers))].Type, "", "")
	}
	for _, id := range ids {
		if got := b.await(id); got.Status != api.TaskCompleted {
			t.Fatalf("%+v, want Status %v", got, api.TaskCompleted)
		}
	}
}
