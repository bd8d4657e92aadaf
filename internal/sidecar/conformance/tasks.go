package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// badRequests are in the order in which the contract checks: what comes first is
// reported even if more is wrong.
func (s *suite) badRequests(t *testing.T) {
	for _, tc := range []struct{ name, body, message string }{
		{"empty", ``, "invalid request body"},
		{"no JSON", `{"type"`, "invalid request body"},
		{"a list", `[]`, "invalid request body"},
		{"two values", `{"type":"mark-ready"} {"type":"mark-ready"}`, "invalid request body"},
		{"type of the wrong kind", `{"type":7}`, "invalid request body"},
		{"no type", `{"id":"x"}`, "type is required"},
		{"empty type", `{"type":"","id":"x"}`, "type is required"},
		{"unknown type", `{"type":"brew-coffee","id":"x"}`, "unknown task type: brew-coffee"},
		{"type in capitals", `{"type":"Mark-Ready"}`, "unknown task type: Mark-Ready"},
		{"id no UUID", `{"type":"mark-ready","id":"x","params":{"bad":1}}`, `task ID must be a valid UUID: "x"`},
		{"unknown parameter", `{"type":"mark-ready","params":{"bad":1}}`, "bad: is not a parameter of this task"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.call(t, http.MethodPost, "/v0/tasks", tc.body).wantError(t, http.StatusBadRequest, tc.message)
		})
	}
	if slices.Contains(s.TaskTypes, "restart-seid") {
		t.Run("farewell that is no time", func(t *testing.T) {
			var refused struct{ ErrorDetail struct{ Field string } }
			s.call(t, http.MethodPost, "/v0/tasks", `{"type":"restart-seid","params":{"farewell":"soon"}}`).
				want(t, http.StatusBadRequest).json(t, &refused)
			if refused.ErrorDetail.Field != "farewell" {
				t.Errorf("the field at fault is %q", refused.ErrorDetail.Field)
			}
		})
	}
	t.Run("unknown field beside the known", func(t *testing.T) {
		s.call(t, http.MethodPost, "/v0/tasks", `{"type":"mark-not-ready","schedule":"@daily"}`).want(t, http.StatusCreated)
	})
	t.Run("10 MB", func(t *testing.T) {
		huge := `{"type":"mark-ready","params":{"x":"` + strings.Repeat("a", 10<<20) + `"}}`
		s.call(t, http.MethodPost, "/v0/tasks", huge).wantError(t, http.StatusRequestEntityTooLarge, "")
	})
}

func (s *suite) resultFields(t *testing.T) {
	check := func(task map[string]any, status string, allowed ...string) {
		t.Helper()
		allowed = append(allowed, "id", "type", "status", "run", "submittedAt")
		for _, name := range slices.Sorted(maps.Keys(task)) {
			if !slices.Contains(allowed, name) {
				t.Errorf("a %s task has the field %s: %v", status, name, task)
			}
		}
		if task["status"] != status || task["run"] != 1.0 {
			t.Errorf("want %s, run 1: %v", status, task)
		}
		for _, name := range []string{"submittedAt", "completedAt"} {
			raw, _ := task[name].(string)
			if _, err := time.Parse(time.RFC3339Nano, raw); raw != "" && (err != nil || !strings.HasSuffix(raw, "Z")) {
				t.Errorf("%s is %q: %v", name, raw, err)
			}
		}
	}
	check(s.await(t, s.submit(t, "", markNotReady)), "completed", "completedAt")
	check(s.await(t, s.submit(t, "", markReady)), "completed", "completedAt", "params")
	s.await(t, s.submit(t, "", markNotReady))

	failed := s.await(t, s.submit(t, "", s.Failing))
	check(failed, "failed", "completedAt", "params", "result", "error", "errorDetail")
	if text, _ := failed["error"].(string); text == "" {
		t.Errorf("a failed task says why: %v", failed)
	}
	endless := s.submit(t, "", s.Endless)
	check(s.get(t, endless), "running", "params", "progress")
	s.call(t, http.MethodDelete, "/v0/tasks/"+endless, "").wantEmpty(t, http.StatusNoContent)
}

func (s *suite) idempotency(t *testing.T) {
	// Completed: the same id comes back and nothing runs.
	id := uuid.NewString()
	s.submit(t, id, markNotReady)
	before := s.await(t, id)
	if got := s.submit(t, id, markNotReady); got != id {
		t.Errorf("id %s became %s", id, got)
	}
	if diff := cmp.Diff(before, s.get(t, id)); diff != "" {
		t.Errorf("a completed task changed: %s", diff)
	}
	// Known under another type.
	s.call(t, http.MethodPost, "/v0/tasks", body(t, id, s.Failing)).wantError(t, http.StatusConflict, "")

	// Running: the same.
	running := uuid.NewString()
	s.submit(t, running, s.Endless)
	before = s.get(t, running)
	s.submit(t, running, s.Endless)
	if got := s.get(t, running); got["run"] != 1.0 || got["submittedAt"] != before["submittedAt"] {
		t.Errorf("a running task was started again: %v", got)
	}
	s.call(t, http.MethodDelete, "/v0/tasks/"+running, "").wantEmpty(t, http.StatusNoContent)

	// Failed: runs again under the same id.
	failing := uuid.NewString()
	for run := 1; run <= 3; run++ {
		s.submit(t, failing, s.Failing)
		if got := s.await(t, failing); got["run"] != float64(run) || got["status"] != "failed" {
			t.Errorf("run %d: %v", run, got)
		}
	}
	// Deleted: fresh again.
	s.call(t, http.MethodDelete, "/v0/tasks/"+failing, "").wantEmpty(t, http.StatusNoContent)
	s.submit(t, failing, s.Failing)
	if got := s.await(t, failing); got["run"] != 1.0 {
		t.Errorf("after deletion: %v", got)
	}
}

func (s *suite) deletion(t *testing.T) {
	for name, task := range map[string]Task{"running": s.Endless, "failed": s.Failing, "completed": markNotReady} {
		t.Run(name, func(t *testing.T) {
			id := s.submit(t, "", task)
			if name != "running" {
				s.await(t, id)
			}
			s.call(t, http.MethodDelete, "/v0/tasks/"+id, "").wantEmpty(t, http.StatusNoContent)
			s.call(t, http.MethodGet, "/v0/tasks/"+id, "").wantError(t, http.StatusNotFound, "task not found")
			s.call(t, http.MethodDelete, "/v0/tasks/"+id, "").wantError(t, http.StatusNotFound, "task not found")
		})
	}
}

func (s *suite) list(t *testing.T) {
	var want []string
	for range 3 {
		id := s.submit(t, "", s.Failing)
		s.await(t, id)
		want = append([]string{id}, want...)
	}
	var tasks []map[string]any
	s.call(t, http.MethodGet, "/v0/tasks", "").want(t, http.StatusOK).json(t, &tasks)
	if len(tasks) < 3 || len(tasks) > 100 {
		t.Fatalf("%d tasks are listed", len(tasks))
	}
	got := make([]string, 0, 3)
	for _, task := range tasks[:3] {
		got = append(got, task["id"].(string))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newest first: %s", diff)
	}
}

func (s *suite) longPoll(t *testing.T) {
	id := s.submit(t, "", s.Endless)
	begin := time.Now()
	s.call(t, http.MethodGet, "/v0/tasks/"+id+"?wait=300ms", "").want(t, http.StatusOK)
	if waited := time.Since(begin); waited < 300*time.Millisecond {
		t.Errorf("answered after %v", waited)
	}
	s.call(t, http.MethodGet, "/v0/tasks/"+id+"?wait=soon", "").wantError(t, http.StatusBadRequest, "")
	s.call(t, http.MethodGet, "/v0/tasks/"+id+"?wait=-1s", "").wantError(t, http.StatusBadRequest, "")

	// A wait ends when the task does.
	var woken answer
	waiting := make(chan error, 1)
	go func() {
		var err error
		woken, err = s.try(t.Context(), http.MethodGet, "/v0/tasks/"+id+"?wait=20s", "")
		waiting <- err
	}()
	s.call(t, http.MethodDelete, "/v0/tasks/"+id, "").wantEmpty(t, http.StatusNoContent)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	woken.wantError(t, http.StatusNotFound, "task not found")
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("the waiter was not woken: %v", took)
	}
}
