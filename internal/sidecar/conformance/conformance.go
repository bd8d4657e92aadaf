// Package conformance walks the sidecar's wire contract table by table against
// any running sidecar: one in this process, the real binary, or another owner's.
// It speaks plain HTTP and shares no code with client or server, so that it
// notices when both change together.
package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Target is the sidecar under test.
type Target struct {
	// URL is its base address.
	URL string
	// Header is sent with every request, for example a token.
	Header http.Header
	// TaskTypes must all be registered.
	TaskTypes []string
	// Failing is a task that is accepted and then fails, whatever its run.
	Failing Task
	// Endless is a task that is accepted and runs until it is deleted.
	Endless Task
	// Protected says that requests without Header must be refused.
	Protected bool
	// Foreign are what other callers would send instead of Header, by whose it is: tokens of other
	// nodes, for example. They must be refused.
	Foreign map[string]http.Header
	// Identified says that the sidecar knows its node and pod.
	Identified bool
}

// Task is a type with its parameters.
type Task struct {
	Type   string
	Params string
}

// Run checks everything. The gate of the target is closed afterwards.
func Run(t *testing.T, target Target) {
	t.Helper()
	s := &suite{Target: target}
	t.Run("endpoints", s.endpoints)
	t.Run("methods and paths", s.methodsAndPaths)
	t.Run("task types", s.taskTypes)
	t.Run("gate", s.gate)
	t.Run("bad requests", s.badRequests)
	t.Run("result fields", s.resultFields)
	t.Run("idempotency", s.idempotency)
	t.Run("delete", s.deletion)
	t.Run("list", s.list)
	t.Run("long poll", s.longPoll)
	t.Run("callers", s.callers)
	t.Run("metrics", s.metrics)
}

type suite struct{ Target }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *suite) call(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	a, err := s.try(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try sends a request; headers come in pairs and replace those of the target.
func (s *suite) try(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	maps.Copy(req.Header, s.Header)
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: string(raw)}, nil
}

// want checks the status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d; body %q", a.status, status, a.body)
	}
	return a
}

// json reads the body, which must be announced as JSON.
func (a answer) json(t *testing.T, into any) {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type is %q", got)
	}
	if !strings.HasSuffix(a.body, "\n") {
		t.Errorf("body does not end with a new line: %q", a.body)
	}
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
}

func (a answer) wantError(t *testing.T, status int, message string) {
	t.Helper()
	var body map[string]any
	a.want(t, status).json(t, &body)
	if message != "" && body["error"] != message {
		t.Errorf("error is %q, want %q", body["error"], message)
	}
	if text, ok := body["error"].(string); !ok || text == "" {
		t.Errorf("no error text in %q", a.body)
	}
	for name := range body {
		if name != "error" && name != "errorDetail" {
			t.Errorf("unknown field %q in %q", name, a.body)
		}
	}
}

func (a answer) wantEmpty(t *testing.T, status int) {
	t.Helper()
	if a.want(t, status).body != "" {
		t.Errorf("body is %q, want none", a.body)
	}
}

func body(t *testing.T, id string, task Task) string {
	t.Helper()
	req := map[string]any{"type": task.Type}
	if id != "" {
		req["id"] = id
	}
	if task.Params != "" {
		req["params"] = json.RawMessage(task.Params)
	}
	raw, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(raw))
}

// submit stores a task under a new id if id is empty, and returns the id.
func (s *suite) submit(t *testing.T, id string, task Task) string {
	t.Helper()
	var accepted map[string]string
	s.call(t, http.MethodPost, "/v0/tasks", body(t, id, task)).want(t, http.StatusCreated).json(t, &accepted)
	if _, err := uuid.Parse(accepted["id"]); err != nil || len(accepted) != 1 {
		t.Fatalf("accepted with %v", accepted)
	}
	return accepted["id"]
}

func (s *suite) get(t *testing.T, id string) map[string]any {
	t.Helper()
	var task map[string]any
	s.call(t, http.MethodGet, "/v0/tasks/"+id, "").want(t, http.StatusOK).json(t, &task)
	return task
}

// await polls as the public controller does, but faster.
func (s *suite) await(t *testing.T, id string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if task := s.get(t, id); task["status"] != "running" {
			return task
		}
		select {
		case <-ctx.Done():
			t.Fatalf("task %s does not end", id)
		case <-tick.C:
		}
	}
}
