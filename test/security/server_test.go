package security

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// The table holds for the sidecar's server, without a cluster. The caller is known by a header here.
func TestRequests_AgainstTheServer_GetWhatTheTableSays(t *testing.T) {
	url := serve(t)
	for _, r := range Requests {
		for _, known := range []bool{true, false} {
			want := r.Answers
			if !known && !r.Open {
				want = []int{http.StatusUnauthorized}
			}
			status, body := ask(t, url, r, known)
			if !slices.Contains(want, status) {
				t.Errorf("%s %s, known caller %v: %d, want %v", r.Method, r.Target(), known, status, want)
			}
			if (!known || r.Open) && !r.Tells.MatchString(body) {
				t.Errorf("%s %s, known caller %v, tells %q", r.Method, r.Target(), known, body)
			}
		}
	}
}

// serve runs a sidecar whose gate is open, as strangers in the pod network see it.
func serve(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	quiet := slog.New(slog.DiscardHandler)
	tasks, err := engine.Open(engine.Config{Path: filepath.Join(t.TempDir(), "s"), Log: quiet, Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tasks.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	tasks.OpenStanding(api.Opening{})
	handler := server.New(server.Config{
		Tasks: tasks, Auth: auth.TrustedHeader{}, Registry: registry, Log: quiet, Version: "v1",
		NodeID: func() (string, error) { return strings.Repeat("a", 40), nil },
		Node:   func(context.Context) api.Node { return api.Node{} },
		InSync: func(context.Context) error { return nil },
		Gate: func(address string) api.GateAnswer {
			if address == "" {
				return api.GateAnswer{State: api.GateOpen}
			}
			return api.GateAnswer{State: api.GateOpen, Refusal: "the gate was opened for somebody"}
		},
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.1:1234" // not the loopback address, from which the gate asks
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func ask(t *testing.T, url string, r Request, known bool) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.Method, url+r.Target(), strings.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	if known {
		request.Header.Set(auth.RemoteUserHeader, "operator")
	}
	response, err := http.DefaultTransport.RoundTrip(request) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}
