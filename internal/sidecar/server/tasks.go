package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// maxBody bounds a request body. It is generous because a genesis file may be
// handed in with a task.
const maxBody = 4 << 20

func (s *server) submit(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(w, r)
	if err != nil {
		respondBadBody(w, err)
		return
	}
	noteTask(r, req.ID, req.Type)
	id, err := s.Tasks.Submit(req)
	if err != nil {
		refuse(w, err)
		return
	}
	noteTask(r, id, req.Type)
	respond(w, http.StatusCreated, api.TaskAccepted{ID: id})
}

func readRequest(w http.ResponseWriter, r *http.Request) (api.TaskRequest, error) {
	var req api.TaskRequest
	if r.ContentLength > maxBody {
		return req, &http.MaxBytesError{Limit: maxBody}
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	if err := dec.Decode(&req); err != nil {
		return req, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return req, errors.New("more than one JSON value")
	}
	return req, nil
}

func respondBadBody(w http.ResponseWriter, err error) {
	detail := &api.ErrorDetail{Code: api.CodeInvalidParams, Terminal: true, Hint: err.Error()}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		// What is left of the body is not worth reading.
		w.Header().Set("Connection", "close")
		respondError(w, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("request body is larger than %d bytes", tooLarge.Limit), detail)
		return
	}
	respondError(w, http.StatusBadRequest, "invalid request body", detail)
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	tasks, err := s.Tasks.List()
	if err != nil {
		refuse(w, err)
		return
	}
	respond(w, http.StatusOK, tasks)
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	wait, err := waitOf(r)
	if err != nil {
		refuse(w, err)
		return
	}
	var task api.TaskResult
	if wait > 0 {
		task, err = s.wait(w, r, id, wait)
	} else {
		task, err = s.Tasks.Get(id)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	respond(w, http.StatusOK, task)
}

// waitOf reads ?wait=30s. Longer waits than the connection allows are shortened,
// so that a caller need not know the server's timeouts.
func waitOf(r *http.Request) (time.Duration, error) {
	raw := r.URL.Query().Get("wait")
	if raw == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(raw)
	if err != nil || wait < 0 {
		return 0, api.InvalidField("wait", "%q is no duration such as 30s", raw)
	}
	return min(wait, maxWait), nil
}

func (s *server) wait(w http.ResponseWriter, r *http.Request, id string, wait time.Duration) (api.TaskResult, error) {
	// The read timeout is meant for slow senders. The request has been read, and
	// without this its end would look like the caller hanging up.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return api.TaskResult{}, api.Retryable(api.CodeUnavailable, fmt.Errorf("preparing to wait: %w", err))
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	return s.Tasks.Wait(ctx, id)
}

func (s *server) delete(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	noteTask(r, id, "")
	err := s.Tasks.Delete(id)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if detail := api.DetailOf(err); detail.Code == api.CodeStoreFailed {
		w.Header().Set("Retry-After", retryAfter)
		detail.Hint = err.Error()
		respondError(w, http.StatusServiceUnavailable, "failed to delete task; retry", &detail)
		return
	}
	refuse(w, err)
}
