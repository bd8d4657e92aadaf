package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var _ Dialer = (*Pool)(nil)

type staticToken string

func (s staticToken) Token(context.Context, string) (string, error) { return string(s), nil }

func (staticToken) Refused(string, string) {}

// patient gives calls over real sockets a time that also a busy machine keeps, unless a test is about that time.
func patient(opts Options) Options {
	for _, timeout := range []*time.Duration{&opts.Timeout, &opts.HealthTimeout} {
		if *timeout == 0 {
			*timeout = time.Minute
		}
	}
	return opts
}

// dial gives a client of a server that answers with handler.
func dial(t *testing.T, handler http.HandlerFunc, opts Options) Sidecar {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	pool := NewPool(patient(opts))
	t.Cleanup(pool.CloseIdle)
	return pool.Sidecar(Target{Address: srv.Listener.Addr().String(), Node: "chain/node-0", PodUID: "7d2c"})
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestRequest_SaysWhoIsMeantAndWhoAsks(t *testing.T) {
	id := uuid.NewString()
	s := dial(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got := []string{
			r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Sei-Node"),
			r.Header.Get("Sei-Pod-Uid"), r.Header.Get("Content-Type"), string(body),
		}
		want := []string{
			"POST", "/v0/tasks", "Bearer secret", "chain/node-0", "7d2c", "application/json",
			`{"id":"` + id + `","type":"mark-ready","params":{"a":1}}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		answer(http.StatusCreated, `{"id":"`+id+`"}`)(w, r)
	}, Options{Tokens: staticToken("secret")})
	got, err := s.Submit(t.Context(), api.TaskRequest{ID: id, Type: api.MarkReady, Params: json.RawMessage(`{"a":1}`)})
	if err != nil || got != id {
		t.Errorf("Submit = %q, %v, want %q", got, err, id)
	}
}

func TestHealth_TellsAClosedGateFromAMissingAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		health  Health
		kind    error
	}{
		"open":       {handler: answer(http.StatusOK, ""), health: Ready},
		"closed":     {handler: answer(http.StatusServiceUnavailable, ""), health: NotReady},
		"wrong node": {handler: answer(http.StatusMisdirectedRequest, `{"error":"x"}`), kind: ErrWrongNode},
		"proxy":      {handler: answer(http.StatusBadGateway, "no upstream"), kind: ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			health, err := dial(t, tc.handler, Options{}).Health(t.Context())
			if health != tc.health || !errors.Is(err, tc.kind) {
				t.Errorf("Health = %q, %v, want %q, %v", health, err, tc.health, tc.kind)
			}
		})
	}
}

func TestErrors_HaveAKind(t *testing.T) {
	kinds := []error{ErrUnreachable, ErrNotReady, ErrUnauthorized, ErrNotFound, ErrInvalid, ErrConflict, ErrWrongNode}
	for status, want := range map[int]error{
		http.StatusBadRequest: ErrInvalid, http.StatusRequestEntityTooLarge: ErrInvalid, http.StatusUnprocessableEntity: ErrInvalid,
		http.StatusUnauthorized: ErrUnauthorized, http.StatusForbidden: ErrUnauthorized, http.StatusNotFound: ErrNotFound,
		http.StatusConflict: ErrConflict, http.StatusMisdirectedRequest: ErrWrongNode, http.StatusServiceUnavailable: ErrNotReady,
		http.StatusBadGateway: ErrUnreachable, http.StatusInternalServerError: nil,
	} {
		s := dial(t, answer(status, `{"error":"why","errorDetail":{"code":"X","field":"f","hint":"do this"}}`), Options{})
		_, err := s.Get(t.Context(), uuid.NewString(), 0)
		detail, ok := errors.AsType[*Error](err)
		if !ok || detail.Status != status || detail.Message != "why" || detail.Detail.Field != "f" {
			t.Errorf("%d: %v, want an Error with this status, the message %q and the field %q", status, err, "why", "f")
		}
		if !strings.Contains(err.Error(), "why") || !strings.Contains(err.Error(), "do this") {
			t.Errorf("%d: %v, want the sidecar's words %q and %q", status, err, "why", "do this")
		}
		for _, kind := range kinds {
			if errors.Is(err, kind) != errors.Is(kind, want) {
				t.Errorf("%d: errors.Is(%v, %v) is %t, want %t", status, err, kind, errors.Is(err, kind), errors.Is(kind, want))
			}
		}
	}
}

func TestErrors_PlainTextAnswer_IsShown(t *testing.T) {
	_, err := dial(t, answer(http.StatusNotFound, "404 page not found\n"), Options{}).Version(t.Context())
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "404 page not found") {
		t.Errorf("Version = %v, want %v with %q", err, ErrNotFound, "404 page not found")
	}
}

func TestUnreachable(t *testing.T) {
	release := make(chan struct{})
	hung := dial(t, func(http.ResponseWriter, *http.Request) { <-release }, Options{Timeout: 50 * time.Millisecond, HealthTimeout: 50 * time.Millisecond})
	t.Cleanup(func() { close(release) })
	for name, s := range map[string]Sidecar{
		"nobody listens": NewPool(Options{}).Sidecar(Target{Address: "127.0.0.1:1"}),
		"no answer":      hung,
		"no JSON":        dial(t, answer(http.StatusOK, "<html>"), Options{}),
		"no id":          dial(t, answer(http.StatusCreated, `{"id":""}`), Options{}),
	} {
		if _, err := s.Submit(t.Context(), api.TaskRequest{Type: api.MarkReady}); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: Submit = %v, want %v", name, err, ErrUnreachable)
		}
	}
	if health, err := hung.Health(t.Context()); health != "" || !errors.Is(err, ErrUnreachable) {
		t.Errorf("Health = %q, %v, want none and %v", health, err, ErrUnreachable)
	}
}

func TestCancelledCaller_IsNotAnUnreachableSidecar(t *testing.T) {
	release := make(chan struct{})
	s := dial(t, func(http.ResponseWriter, *http.Request) { <-release }, Options{})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnreachable) {
		t.Errorf("List = %v, want %v and not %v", err, context.Canceled, ErrUnreachable)
	}
}

func TestRedirect_IsNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	s := dial(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}, Options{Tokens: staticToken("secret")})
	if _, err := s.NodeID(t.Context()); err == nil || elsewhere.Load() != 0 {
		t.Errorf("NodeID = %v, and %d requests went elsewhere; want an error, and none", err, elsewhere.Load())
	}
}

// The sidecar answers when the wait has ended. The time of a call comes on top of that.
func TestGet_WaitIsAskedForAndGivenTime(t *testing.T) {
	const wait, timeout = 20 * time.Second, 200 * time.Millisecond
	for name, tc := range map[string]struct {
		after time.Duration // that the sidecar takes to answer
		took  time.Duration
		kind  error
	}{
		"at the end of the wait": {after: wait, took: wait},
		"never":                  {after: time.Hour, took: wait + timeout, kind: ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n network
				target := Target{Address: n.serve(t, func(w http.ResponseWriter, r *http.Request) {
					if got := r.URL.Query().Get("wait"); got != wait.String() {
						t.Errorf("wait=%q, want %q", got, wait)
					}
					select {
					case <-r.Context().Done():
					case <-time.After(tc.after):
						answer(http.StatusOK, `{"id":"x","status":"completed","result":{"a":1}}`)(w, r)
					}
				})}
				begin := time.Now()
				got, err := n.pool(t, Options{Timeout: timeout}).Sidecar(target).Get(t.Context(), "x", wait)
				if took := time.Since(begin); took != tc.took || !errors.Is(err, tc.kind) {
					t.Errorf("the call ends with %v after %s, want %v after %s", err, took, tc.kind, tc.took)
				}
				if tc.kind == nil && (got.Status != api.TaskCompleted || string(got.Result) != `{"a":1}`) {
					t.Errorf("task = %+v with result %s, want it %s with result %s", got, got.Result, api.TaskCompleted, `{"a":1}`)
				}
			})
		})
	}
}

func TestCalls_ReadTheirAnswers(t *testing.T) {
	s := dial(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /v0/version":
			answer(http.StatusOK, `{"version":"v1","apiLevel":1,"taskTypes":["mark-ready"]}`)(w, r)
		case "GET /v0/node-id":
			answer(http.StatusOK, `{"nodeId":"`+strings.Repeat("ab", 20)+`"}`)(w, r)
		case "GET /v0/tasks":
			answer(http.StatusOK, `[{"id":"1","status":"running","progress":{"done":3}}]`)(w, r)
		case "DELETE /v0/tasks/1":
			w.WriteHeader(http.StatusNoContent)
		default:
			t.Errorf("%s %s was called, want one of the calls above", r.Method, r.URL.Path)
		}
	}, Options{})
	version, err := s.Version(t.Context())
	want := api.Version{Version: "v1", APILevel: 1, TaskTypes: []api.TaskType{api.MarkReady}}
	if diff := cmp.Diff(want, version); diff != "" || err != nil {
		t.Errorf("version, %v (-want +got):\n%s", err, diff)
	}
	if id, err := s.NodeID(t.Context()); err != nil || id != strings.Repeat("ab", 20) {
		t.Errorf("NodeID = %q, %v, want %q", id, err, strings.Repeat("ab", 20))
	}
	if tasks, err := s.List(t.Context()); err != nil || len(tasks) != 1 || tasks[0].Progress.Done != 3 {
		t.Errorf("List = %+v, %v, want one task of which 3 are done", tasks, err)
	}
	if err := s.Delete(t.Context(), "1"); err != nil {
		t.Errorf("Delete = %v, want no error", err)
	}
}

func TestPool_ManyCalls_ShareOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n network
		target := Target{Address: n.serve(t, answer(http.StatusServiceUnavailable, `{"error":"later"}`))}
		pool := n.pool(t, Options{})
		for range 50 {
			s := pool.Sidecar(target)
			if health, err := s.Health(t.Context()); err != nil || health != NotReady {
				t.Fatalf("Health = %q, %v, want %q", health, err, NotReady)
			}
			if _, err := s.List(t.Context()); !errors.Is(err, ErrNotReady) {
				t.Fatalf("List = %v, want %v", err, ErrNotReady)
			}
		}
		if got := n.connections(); got != 1 {
			t.Errorf("%d connections, want one", got)
		}
	})
}

// Looking at all nodes of a large cluster again and again takes no new connections.
func TestPool_ManySidecars_KeepTheirConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nodes = 500
		var n network
		pool := n.pool(t, Options{})
		sidecars := make([]Sidecar, nodes)
		for i := range sidecars {
			sidecars[i] = pool.Sidecar(Target{Address: n.serve(t, answer(http.StatusOK, `{}`))})
		}
		for range 2 {
			for _, s := range sidecars {
				if _, err := s.Node(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := n.connections(); got != nodes {
			t.Errorf("%d connections for %d nodes, want one each", got, nodes)
		}
	})
}

func TestTokenFile_IsReadEveryTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	source := TokenFile(path)
	if got, err := source.Token(); err == nil {
		t.Errorf("without a file Token = %q, want an error", got)
	}
	for _, want := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := source.Token(); err != nil || got != want {
			t.Errorf("Token = %q, %v, want %q", got, err, want)
		}
	}
}
