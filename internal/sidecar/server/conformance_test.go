package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/conformance"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

const (
	failing api.TaskType = "failing"
	endless api.TaskType = "endless"
)

var aNode = api.Node{
	APILevel: api.Level, Gate: api.Gate{State: api.GateClosed}, Home: api.Home{Stage: api.HomeEmpty},
	Sync: api.Sync{State: api.SyncNotRunning, Message: "seid is waiting for the start gate to open"},
}

type anything struct {
	Value string `json:"value,omitempty"`
}

func testHandlers() []engine.Handler {
	return []engine.Handler{
		engine.NewHandler(failing, nil, func(context.Context, engine.Task, anything) (any, error) {
			return nil, errors.New("as always")
		}),
		engine.NewHandler(endless, nil, func(ctx context.Context, _ engine.Task, _ anything) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}
}

// serve runs a server over a real engine and a real socket.
func serve(t *testing.T, change ...func(*Config)) *httptest.Server {
	t.Helper()
	registry := prometheus.NewRegistry()
	tasks, err := engine.Open(engine.Config{
		Path: filepath.Join(t.TempDir(), "s"), Handlers: testHandlers(), Log: slog.New(slog.DiscardHandler), Registry: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Tasks: tasks, Auth: auth.Open{}, NodeID: NodeIDFrom(t.TempDir()),
		Node:    func(context.Context) api.Node { return aNode },
		InSync:  func(context.Context) error { return nil },
		Version: "v1.2.3", Registry: registry, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	srv := httptest.NewUnstartedServer(New(cfg))
	srv.Config = newHTTPServer(srv.Config.Handler, cfg.Log)
	srv.Start()
	t.Cleanup(func() {
		tasks.Stop()
		srv.Close()
		if err := tasks.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func TestConformance_OpenServer(t *testing.T) {
	conformance.Run(t, conformance.Target{
		URL:       serve(t).URL,
		TaskTypes: []string{"mark-ready", "mark-not-ready", "failing", "endless"},
		Failing:   conformance.Task{Type: "failing", Params: `{"value":"x"}`},
		Endless:   conformance.Task{Type: "endless"},
	})
}

func TestConformance_ServerBehindAProxyThatKnowsItsNode(t *testing.T) {
	srv := serve(t, func(c *Config) {
		c.Auth = auth.TrustedHeader{}
		c.Identity = Identity{Node: "chain/node-0", PodUID: "7d2c"}
	})
	conformance.Run(t, conformance.Target{
		URL:       srv.URL,
		Header:    http.Header{"X-Remote-User": {"somebody"}, "Sei-Node": {"chain/node-0"}, "Sei-Pod-Uid": {"7d2c"}},
		TaskTypes: []string{"mark-ready", "mark-not-ready", "failing", "endless"},
		Failing:   conformance.Task{Type: "failing"},
		Endless:   conformance.Task{Type: "endless"},
		Protected: true, Identified: true,
	})
}
