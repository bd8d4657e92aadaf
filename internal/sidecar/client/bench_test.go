package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
)

// What a look costs.
func BenchmarkLook(b *testing.B) {
	none := func(*testing.B) server.Tasks { return nil }
	overConnections(b, none, func(b *testing.B, s Sidecar, _ server.Tasks) error {
		b.Helper()
		_, err := s.Node(b.Context())
		return err
	})
}

// nothing is a task that does nothing: what is left is what every task costs.
const nothing api.TaskType = "nothing"

// What a task costs, from when the operator asks for it until it knows that the task has ended. The store is
// the real one, and kept as small as that of a node: it is slower the more it holds. It waits for the disk
// where TMPDIR is on one.
func BenchmarkTask(b *testing.B) {
	overConnections(b, openEngine, func(b *testing.B, s Sidecar, tasks server.Tasks) error {
		b.Helper()
		id, err := runTask(b.Context(), s)
		if err != nil {
			return err
		}
		b.StopTimer()
		defer b.StartTimer()
		return tasks.Delete(id)
	})
}

// runTask asks for a task, hands it over and waits for its end, as internal/task/sidecartask does.
func runTask(ctx context.Context, s Sidecar) (id string, err error) {
	id = uuid.NewString()
	if _, err := s.Get(ctx, id, 0); !errors.Is(err, ErrNotFound) {
		return "", errors.Join(errors.New("the task is known before it is submitted"), err)
	}
	if _, err := s.Submit(ctx, api.TaskRequest{ID: id, Type: nothing}); err != nil {
		return "", err
	}
	task, err := s.Get(ctx, id, time.Second)
	if err == nil && task.Status != api.TaskCompleted {
		err = fmt.Errorf("task %s is %s", id, task.Status)
	}
	return id, err
}

func openEngine(b *testing.B) server.Tasks {
	b.Helper()
	e, err := engine.Open(engine.Config{
		Path: filepath.Join(b.TempDir(), "tasks"), Log: slog.New(slog.DiscardHandler),
		Handlers: []engine.Handler{{Type: nothing, Run: func(context.Context, engine.Task, json.RawMessage) (any, error) { return nil, nil }}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return e
}

// overConnections has servers asked in the clear and over TLS, over a connection that is kept, as the operator
// has it, and over a new one each time.
func overConnections(b *testing.B, tasksOf func(*testing.B) server.Tasks, ask func(*testing.B, Sidecar, server.Tasks) error) {
	b.Helper()
	ours := newAuthority(time.Now())
	for name, secure := range map[string]bool{"plain": false, "tls": true} {
		target, certificate := Target{}, server.GetCertificate(nil)
		if secure {
			target.ServerName, certificate = nodeA, always(pairOf(b, ours, nodeA))
		}
		for _, kept := range []bool{true, false} {
			b.Run(name+map[bool]string{true: "/kept", false: "/new"}[kept], func(b *testing.B) {
				tasks, target := tasksOf(b), target
				target.Address = serveTasks(b, certificate, tasks).address
				pool := NewPool(Options{Roots: ours.Roots, Tokens: staticToken("secret")})
				defer pool.CloseIdle()
				b.ReportAllocs()
				for b.Loop() {
					if err := ask(b, pool.Sidecar(target), tasks); err != nil {
						b.Fatal(err)
					}
					if !kept {
						pool.CloseIdle()
					}
				}
			})
		}
	}
}
