package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// FuzzSubmit throws bodies at POST /v0/tasks. Whatever comes: the answer is one
// of the contract's, in JSON, and an accepted task can be read back.
func FuzzSubmit(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"type":"failing"}`, `{"type":"failing","params":null}`, `{"type":"failing","params":{"value":"x"}}`,
		`{"type":"failing","params":{"value":1}}`, `{"type":"failing","id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`,
		`{"type":"mark-ready","id":"urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8","params":{}}`,
		`{"type":"mark-not-ready"}{"type":"mark-ready"}`, `{"TYPE":"failing"}`, "{\"type\":\"fail\x00ing\"}", `{"type":"failing","params":"` + strings.Repeat("[", 5000) + `"}`,
	} {
		f.Add(seed)
	}
	registry := prometheus.NewRegistry()
	tasks, err := engine.Open(engine.Config{Path: f.TempDir() + "/s", Handlers: testHandlers(), Registry: registry})
	if err != nil {
		f.Fatal(err)
	}
	handler := New(Config{Tasks: tasks, Auth: auth.Open{}, Registry: registry})
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, string(endless)) {
			t.Skip("would fill the engine with tasks that never end")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/tasks", strings.NewReader(body)))
		switch w.Code {
		case http.StatusCreated:
			checkAccepted(t, tasks, w.Body.Bytes())
		case http.StatusBadRequest, http.StatusConflict:
			var got api.ErrorBody
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Error == "" || got.ErrorDetail == nil {
				t.Fatalf("%d %q: %v, want no error, Error not empty and ErrorDetail not nil", w.Code, w.Body, err)
			}
		default:
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	})
}

func checkAccepted(t *testing.T, tasks *engine.Engine, answer []byte) {
	t.Helper()
	var accepted api.TaskAccepted
	if err := json.Unmarshal(answer, &accepted); err != nil {
		t.Fatal(err)
	}
	if _, err := uuid.Parse(accepted.ID); err != nil {
		t.Fatal(err)
	}
	task, err := tasks.Wait(t.Context(), accepted.ID)
	// A hold forgets the mark-ready tasks before it.
	if err != nil && api.DetailOf(err).Code != api.CodeNotFound {
		t.Fatal(err)
	}
	if err == nil && !task.Status.Terminal() {
		t.Fatalf("%+v, want it to have ended", task)
	}
}
