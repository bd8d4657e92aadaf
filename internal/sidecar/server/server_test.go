package server

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// brokenStore is an engine whose disk is gone.
type brokenStore struct{ *engine.Engine }

var errDisk = api.Retryable(api.CodeStoreFailed, errors.New("persist task: no space left on device"))

func (brokenStore) Submit(api.TaskRequest) (string, error) { return "", errDisk }
func (brokenStore) Get(string) (api.TaskResult, error)     { return api.TaskResult{}, errDisk }
func (brokenStore) List() ([]api.TaskResult, error)        { return nil, errDisk }
func (brokenStore) Delete(string) error                    { return errDisk }
func (brokenStore) Ping() error                            { return errDisk }
func (brokenStore) Wait(context.Context, string) (api.TaskResult, error) {
	return api.TaskResult{}, errDisk
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func do(t *testing.T, method, url, body string, headers ...string) reply {
	t.Helper()
	return send(t, method, url, strings.NewReader(body), headers...)
}

func send(t *testing.T, method, url string, body io.Reader, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: raw}
}

func errorOf(t *testing.T, r reply) api.ErrorBody {
	t.Helper()
	var body api.ErrorBody
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestInSync_AnswersWithTheReason(t *testing.T) {
	why := errors.New("no block yet")
	srv := serve(t, func(c *Config) { c.InSync = func(context.Context) error { return why } })
	resp := do(t, http.MethodGet, srv.URL+api.PathInSync, "")
	if resp.status != http.StatusServiceUnavailable || errorOf(t, resp).Error != "no block yet" {
		t.Errorf("answer %d %s, want %d and that there is no block yet", resp.status, resp.body, http.StatusServiceUnavailable)
	}
	why = nil
	if resp := do(t, http.MethodGet, srv.URL+api.PathInSync, ""); resp.status != http.StatusOK {
		t.Errorf("answer %d %s, want %d", resp.status, resp.body, http.StatusOK)
	}
}

func TestStoreFailure_Is503WithRetryAfter(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Tasks = brokenStore{c.Tasks.(*engine.Engine)} })
	for _, tc := range []struct{ method, path, body, message string }{
		{http.MethodPost, "/v0/tasks", `{"type":"endless"}`, "persist task: no space left on device"},
		{http.MethodGet, "/v0/tasks", "", "persist task: no space left on device"},
		{http.MethodGet, "/v0/tasks/" + uuid.NewString(), "", "persist task: no space left on device"},
		{http.MethodGet, "/v0/tasks/" + uuid.NewString() + "?wait=1s", "", "persist task: no space left on device"},
		{http.MethodDelete, "/v0/tasks/" + uuid.NewString(), "", "failed to delete task; retry"},
	} {
		resp := do(t, tc.method, srv.URL+tc.path, tc.body)
		if resp.status != http.StatusServiceUnavailable || resp.header.Get("Retry-After") != "1" {
			t.Errorf("%s %s: %d with Retry-After %q, want %d with 1",
				tc.method, tc.path, resp.status, resp.header.Get("Retry-After"), http.StatusServiceUnavailable)
		}
		if got := errorOf(t, resp); got.Error != tc.message || !got.ErrorDetail.Retryable {
			t.Errorf("%s %s: %+v, want %q, to be tried again", tc.method, tc.path, got, tc.message)
		}
	}
	if resp := do(t, http.MethodGet, srv.URL+"/v0/livez", ""); resp.status != http.StatusServiceUnavailable {
		t.Errorf("livez: %d, want %d", resp.status, http.StatusServiceUnavailable)
	}
	resp := do(t, http.MethodGet, srv.URL+"/v0/livez?verbose=1", "")
	if got := errorOf(t, resp); resp.status != http.StatusServiceUnavailable || got.Error != errDisk.Error() {
		t.Errorf("verbose livez: %d %+v, want %d and %q", resp.status, got, http.StatusServiceUnavailable, errDisk)
	}
}

func TestInvalidParams_NameTheField(t *testing.T) {
	srv := serve(t)
	got := errorOf(t, do(t, http.MethodPost, srv.URL+"/v0/tasks", `{"type":"failing","params":{"value":7}}`))
	want := api.ErrorBody{
		Error:       "value: wants string, got number",
		ErrorDetail: &api.ErrorDetail{Code: api.CodeInvalidParams, Terminal: true, Field: "value"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestBody_LargerThanTheLimit_Is413WhetherAnnouncedOrNot(t *testing.T) {
	srv := serve(t)
	huge := strings.Repeat(" ", maxBody+1)
	for name, body := range map[string]io.Reader{
		"announced": strings.NewReader(huge),
		"streamed":  io.MultiReader(strings.NewReader(huge)),
	} {
		resp := send(t, http.MethodPost, srv.URL+"/v0/tasks", body)
		got := errorOf(t, resp)
		if resp.status != http.StatusRequestEntityTooLarge || got.Error != "request body is larger than 4194304 bytes" {
			t.Errorf("%s: %d %+v, want %d and that the body is too large", name, resp.status, got, http.StatusRequestEntityTooLarge)
		}
	}
}

func TestAudit_EveryMutatingRequestIsLoggedWithItsCaller(t *testing.T) {
	var log lockedBuffer
	srv := serve(t, func(c *Config) {
		c.Auth = auth.TrustedHeader{}
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
	})
	id := uuid.NewString()
	do(t, http.MethodPost, srv.URL+"/v0/tasks", `{"id":"`+id+`","type":"failing","params":{"value":"hush"}}`, "X-Remote-User", "alice")
	do(t, http.MethodDelete, srv.URL+"/v0/tasks/"+id, "", "X-Remote-User", "bob")
	do(t, http.MethodGet, srv.URL+"/v0/tasks", "", "X-Remote-User", "carol")
	do(t, http.MethodPost, srv.URL+"/v0/tasks", `{"type":"failing"}`)

	type entry struct {
		Msg, Caller, Method, Task, Type, Reason string
		Status                                  int
	}
	var got []entry
	for line := range strings.Lines(log.String()) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	want := []entry{
		{Msg: "request", Caller: "alice", Method: "POST", Task: id, Type: "failing", Status: 201},
		{Msg: "request", Caller: "bob", Method: "DELETE", Task: id, Status: 204},
		{Msg: "request rejected", Method: "POST", Reason: "missing_header", Status: 401},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if strings.Contains(log.String(), "hush") {
		t.Error("parameters were logged")
	}
}

// lockedBuffer can be read while the server writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestRejection_IsCountedByReason(t *testing.T) {
	registry := prometheus.NewRegistry()
	srv := serve(t, func(c *Config) { c.Auth, c.Registry = auth.TrustedHeader{}, registry })
	resp := do(t, http.MethodGet, srv.URL+"/v0/tasks", "")
	if resp.status != http.StatusUnauthorized || resp.header.Get("WWW-Authenticate") == "" {
		t.Errorf("answer %d with headers %v, want %d with WWW-Authenticate", resp.status, resp.header, http.StatusUnauthorized)
	}
	text := do(t, http.MethodGet, srv.URL+"/v0/metrics", "").body
	if !strings.Contains(string(text), `seictl_sidecar_authn_rejections_total{reason="missing_header"} 1`) {
		t.Errorf("metrics:\n%s\nwant one rejection for missing_header", text)
	}
}

// Whoever guesses an address learns from it neither which node nor which pod it is.
func TestIdentity_IsToldToKnownCallersAlone(t *testing.T) {
	srv := serve(t, func(c *Config) {
		c.Auth, c.Identity = auth.TrustedHeader{}, Identity{Node: "chain/node-0", PodUID: "7d2c"}
	})
	for _, header := range []string{api.HeaderNode, api.HeaderPodUID} {
		for _, c := range []struct {
			path, caller string
			status       int
			told         bool
		}{
			{"/v0/tasks", "", http.StatusUnauthorized, false},
			{"/v0/tasks", "alice", http.StatusMisdirectedRequest, true},
			{"/v0/livez", "", http.StatusMisdirectedRequest, false},
			{"/v0/livez", "alice", http.StatusMisdirectedRequest, false}, // nobody is asked who they are there
		} {
			headers := []string{header, "some/body-else"}
			if c.caller != "" {
				headers = append(headers, "X-Remote-User", c.caller)
			}
			got := do(t, http.MethodGet, srv.URL+c.path, "", headers...)
			told := strings.Contains(string(got.body), "chain/node-0") || strings.Contains(string(got.body), "7d2c")
			if got.status != c.status || told != c.told {
				t.Errorf("%s as %q with %s: %d %s, want %d, told %t", c.path, c.caller, header, got.status, got.body, c.status, c.told)
			}
		}
	}
}

// The read timeout must not look like a caller that hung up: a long poll that
// outlasts it continues and still hears of the end.
func TestLongPoll_OutlastsTheReadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		tasks, err := engine.Open(engine.Config{Path: filepath.Join(t.TempDir(), "s"), Handlers: testHandlers(), Registry: registry})
		if err != nil {
			t.Fatal(err)
		}
		id, err := tasks.Submit(api.TaskRequest{Type: endless})
		if err != nil {
			t.Fatal(err)
		}
		l := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		handler := New(Config{Tasks: tasks, Auth: auth.Open{}, Registry: registry, Log: slog.New(slog.DiscardHandler)})
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, l, handler, nil, slog.New(slog.DiscardHandler), time.Minute) }()
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial}}
		begin := time.Now()
		resp, err := client.Get("http://sidecar/v0/tasks/" + id + "?wait=10h")
		if err != nil {
			t.Fatal(err)
		}
		var task api.TaskResult
		if err := json.NewDecoder(resp.Body).Decode(&task); err != nil || resp.StatusCode != http.StatusOK || task.Status != api.TaskRunning {
			t.Errorf("%d with task %+v, %v; want %d with one that is %s", resp.StatusCode, task, err, http.StatusOK, api.TaskRunning)
		}
		if waited := time.Since(begin); waited != maxWait || waited <= readTimeout {
			t.Errorf("answered after %s, want %s, which is longer than the read timeout of %s", waited, maxWait, readTimeout)
		}
		stop()
		if err := errors.Join(resp.Body.Close(), <-served, tasks.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// pipes is a net.Listener in memory: while somebody waits at a socket, the clock of a bubble of synctest does
// not move.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.accepted <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. A server calls it once.
func (p pipes) Close() error { close(p.closed); return nil }

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "memory", Name: "sidecar"} }

func TestWait_IsShorterThanTheWriteTimeout(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v0/tasks/x?wait=10h", nil)
	if wait, err := waitOf(r); err != nil || wait >= writeTimeout || wait < 20*time.Second {
		t.Errorf("wait = %v, %v, want 20s or more and less than %s", wait, err, writeTimeout)
	}
}

func TestServe_EndsOpenPollsAndReturnsWhenToldTo(t *testing.T) {
	registry := prometheus.NewRegistry()
	tasks, err := engine.Open(engine.Config{Path: filepath.Join(t.TempDir(), "s"), Handlers: testHandlers(), Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	id, err := tasks.Submit(api.TaskRequest{Type: endless})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	handler := New(Config{Tasks: tasks, Auth: auth.Open{}, Registry: registry, Log: slog.New(slog.DiscardHandler)})
	noticed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		handler.ServeHTTP(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	context.AfterFunc(ctx, tasks.Stop)
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, noticed, nil, slog.New(slog.DiscardHandler), 10*time.Second) }()
	go func() {
		<-arrived
		cancel()
	}()
	resp := do(t, http.MethodGet, "http://"+l.Addr().String()+"/v0/tasks/"+id+"?wait=20s", "")
	var task api.TaskResult
	if err := json.Unmarshal(resp.body, &task); err != nil || task.Status != api.TaskRunning {
		t.Errorf("answer %d with task %+v, %v, want one that is %s", resp.status, task, err, api.TaskRunning)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestNodeID_FromTheKeyFile(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(public)
	id := hex.EncodeToString(sum[:20])
	whole := `{"id":"` + id + `","priv_key":{"type":"tendermint/PrivKeyEd25519","value":"` + base64.StdEncoding.EncodeToString(private) + `"}}`
	for name, tc := range map[string]struct{ content, id, message string }{
		"whole":   {content: whole, id: id},
		"missing": {message: "node_key.json not found — generate-identity may not have run yet"},
		"no JSON": {content: `{"id"`, message: "failed to parse node_key.json"},
		"no key":  {content: `{"id":"x"}`, message: "invalid Ed25519 key in node_key.json"},
		"short":   {content: `{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"AAAA"}}`, message: "invalid Ed25519 key in node_key.json"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, "config"), 0o755); err != nil {
				t.Fatal(err)
			}
			if tc.content != "" {
				if err := os.WriteFile(filepath.Join(home, "config", "node_key.json"), []byte(tc.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			srv := serve(t, func(c *Config) { c.NodeID = NodeIDFrom(home) })
			resp := do(t, http.MethodGet, srv.URL+"/v0/node-id", "")
			if tc.message != "" {
				if got := errorOf(t, resp); resp.status != http.StatusInternalServerError || got.Error != tc.message {
					t.Errorf("answer %d %+v, want %d %q", resp.status, got, http.StatusInternalServerError, tc.message)
				}
				return
			}
			var got api.NodeID
			if err := json.Unmarshal(resp.body, &got); err != nil || got.NodeID != tc.id {
				t.Errorf("%+v %v, want %s", got, err, tc.id)
			}
		})
	}
}

func TestNode_AnswersWithTheLook(t *testing.T) {
	srv := serve(t)
	resp := do(t, http.MethodGet, srv.URL+api.PathNode, "")
	var got api.Node
	if err := json.Unmarshal(resp.body, &got); err != nil || resp.status != http.StatusOK {
		t.Fatalf("answer %d %s, %v, want %d with a document", resp.status, resp.body, err, http.StatusOK)
	}
	if diff := cmp.Diff(aNode, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	without := serve(t, func(c *Config) { c.Node = nil })
	if resp := do(t, http.MethodGet, without.URL+api.PathNode, ""); resp.status != http.StatusNotFound {
		t.Errorf("without a look: %d, want %d", resp.status, http.StatusNotFound)
	}
}
