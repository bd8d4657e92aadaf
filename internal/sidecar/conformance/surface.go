package conformance

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

var (
	markReady    = Task{Type: "mark-ready", Params: `{}`}
	markNotReady = Task{Type: "mark-not-ready"}
)

func (s *suite) endpoints(t *testing.T) {
	s.call(t, http.MethodGet, "/v0/livez", "").wantEmpty(t, http.StatusOK)
	s.call(t, http.MethodGet, "/v0/livez?verbose=1", "").wantEmpty(t, http.StatusOK)
	var version struct {
		Version   string
		APILevel  int
		TaskTypes []string
	}
	s.call(t, http.MethodGet, "/v0/version", "").want(t, http.StatusOK).json(t, &version)
	if version.Version == "" || version.APILevel < 1 {
		t.Errorf("version %+v", version)
	}
	for _, want := range s.TaskTypes {
		if !slices.Contains(version.TaskTypes, want) {
			t.Errorf("/v0/version does not list %s", want)
		}
	}
	switch a := s.call(t, http.MethodGet, "/v0/node-id", ""); a.status {
	case http.StatusOK:
		var id map[string]string
		a.json(t, &id)
		if len(id["nodeId"]) != 40 {
			t.Errorf("node id %v", id)
		}
	default:
		a.wantError(t, http.StatusInternalServerError, "")
	}
	s.node(t)
	s.call(t, http.MethodGet, "/v0/tasks/"+uuid.NewString(), "").wantError(t, http.StatusNotFound, "task not found")
	s.call(t, http.MethodGet, "/v0/tasks/not-a-uuid", "").wantError(t, http.StatusNotFound, "task not found")
	s.call(t, http.MethodDelete, "/v0/tasks/"+uuid.NewString(), "").wantError(t, http.StatusNotFound, "task not found")
	s.call(t, http.MethodDelete, "/v0/tasks/not-a-uuid", "").wantError(t, http.StatusNotFound, "task not found")
}

// node checks the parts of the node document that are never empty.
func (s *suite) node(t *testing.T) {
	t.Helper()
	var node struct {
		APILevel int
		Gate     struct{ State string }
		Home     struct{ Stage string }
		Seid     map[string]any
		Sync     struct{ State, Message string }
	}
	s.call(t, http.MethodGet, "/v0/node", "").want(t, http.StatusOK).json(t, &node)
	if node.APILevel < 4 || node.Gate.State == "" || node.Home.Stage == "" || node.Seid == nil || node.Sync.State == "" || node.Sync.Message == "" {
		t.Errorf("node document %+v", node)
	}
}

func (s *suite) methodsAndPaths(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{http.MethodPost, "/v0/healthz", http.StatusMethodNotAllowed},
		{http.MethodPost, "/v0/livez", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/v0/status", http.StatusMethodNotAllowed},
		{http.MethodPost, "/v0/node", http.StatusMethodNotAllowed},
		{http.MethodPut, "/v0/tasks", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/v0/tasks", http.StatusMethodNotAllowed},
		{http.MethodPost, "/v0/tasks/" + uuid.NewString(), http.StatusMethodNotAllowed},
		{http.MethodPatch, "/v0/tasks/" + uuid.NewString(), http.StatusMethodNotAllowed},
		{http.MethodGet, "/", http.StatusNotFound},
		{http.MethodGet, "/v1/tasks", http.StatusNotFound},
		{http.MethodGet, "/v0/nothing", http.StatusNotFound},
	} {
		a := s.call(t, tc.method, tc.path, "")
		if a.status != tc.status || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s %s: %d %s, want %d text/plain", tc.method, tc.path, a.status, a.header.Get("Content-Type"), tc.status)
		}
	}
	for _, path := range []string{"/v0/livez", "/v0/metrics", "/v0/status", "/v0/tasks", "/v0/version", "/v0/node"} {
		s.call(t, http.MethodHead, path, "").wantEmpty(t, http.StatusOK)
	}
}

// taskTypes asks for every type with an id that is not one: a registered type
// gets past the check of the type, and nothing runs.
func (s *suite) taskTypes(t *testing.T) {
	for _, name := range s.TaskTypes {
		s.call(t, http.MethodPost, "/v0/tasks", body(t, "x", Task{Type: name})).
			wantError(t, http.StatusBadRequest, `task ID must be a valid UUID: "x"`)
	}
}

func (s *suite) gate(t *testing.T) {
	check := func(open bool) {
		t.Helper()
		code, line, status := http.StatusServiceUnavailable, "503 Service Unavailable", "Initializing"
		if open {
			code, line, status = http.StatusOK, "200 OK", "Ready"
		}
		s.call(t, http.MethodGet, "/v0/healthz", "").wantEmpty(t, code)
		s.call(t, http.MethodHead, "/v0/healthz", "").wantEmpty(t, code)
		s.call(t, http.MethodGet, "/v0/startupz", "").wantEmpty(t, code)
		var got map[string]string
		s.call(t, http.MethodGet, "/v0/status", "").want(t, http.StatusOK).json(t, &got)
		if got["status"] != status {
			t.Errorf("status %v, want %s", got, status)
		}
		if got := s.firstLine(t); got != "HTTP/1.0 "+line {
			t.Errorf("an HTTP/1.0 client reads %q first", got)
		}
	}
	s.await(t, s.submit(t, "", markNotReady))
	check(false)
	ready := s.submit(t, "", markReady)
	s.await(t, ready)
	check(true)
	s.await(t, s.submit(t, "", markNotReady))
	check(false)
	s.call(t, http.MethodGet, "/v0/tasks/"+ready, "").wantError(t, http.StatusNotFound, "task not found")
}

// firstLine asks for healthz the way a shell does, over a bare connection.
func (s *suite) firstLine(t *testing.T) string {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprint(conn, "GET /v0/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(line, "\r\n")
}

func (s *suite) callers(t *testing.T) {
	public := []string{"/v0/healthz", "/v0/startupz", "/v0/livez", "/v0/insync", "/v0/metrics"}
	private := []string{"/v0/status", "/v0/version", "/v0/node-id", "/v0/node", "/v0/tasks", "/v0/tasks/" + uuid.NewString()}
	strangers := maps.Clone(s.Foreign)
	if s.Protected {
		if strangers == nil {
			strangers = map[string]http.Header{}
		}
		strangers["nobody"] = nil
	}
	for _, whose := range slices.Sorted(maps.Keys(strangers)) {
		t.Run(whose, func(t *testing.T) {
			stranger := &suite{Target: Target{URL: s.URL, Header: strangers[whose]}}
			for _, path := range public {
				if a := stranger.call(t, http.MethodGet, path, ""); a.status == http.StatusUnauthorized {
					t.Errorf("%s asks for a caller", path)
				}
			}
			for _, path := range private {
				stranger.call(t, http.MethodGet, path, "").wantError(t, http.StatusUnauthorized, "")
			}
			stranger.call(t, http.MethodPost, "/v0/tasks", body(t, "", markReady)).wantError(t, http.StatusUnauthorized, "")
			stranger.call(t, http.MethodDelete, "/v0/tasks/"+uuid.NewString(), "").wantError(t, http.StatusUnauthorized, "")
		})
	}
	if s.Identified {
		for _, header := range []string{"Sei-Node", "Sei-Pod-Uid"} {
			for _, path := range slices.Concat(public, private) {
				s.call(t, http.MethodGet, path, "", header, "some/body-else").wantError(t, http.StatusMisdirectedRequest, "")
			}
			s.call(t, http.MethodPost, "/v0/tasks", body(t, "", markReady), header, "some/body-else").
				wantError(t, http.StatusMisdirectedRequest, "")
		}
	}
}

func (s *suite) metrics(t *testing.T) {
	text := s.call(t, http.MethodGet, "/v0/metrics", "").want(t, http.StatusOK).body
	for _, name := range []string{
		`seictl_task_execution_duration_seconds_bucket{status="completed",type="mark-ready",le="86400"}`,
		`seictl_task_submissions_total{type="mark-ready"}`, `seictl_task_failures_total{type="` + s.Failing.Type + `"}`,
	} {
		if !strings.Contains(text, name) {
			t.Errorf("no %s in the metrics", name)
		}
	}
}
