package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// What is read of an answer at most.
const (
	maxAnswer = 16 << 20 // a listing of a hundred tasks
	maxNode   = 1 << 20
)

// remote is a Sidecar behind an address.
type remote struct {
	pool   *Pool
	target Target
}

// Health implements Sidecar.
func (r *remote) Health(ctx context.Context) (Health, error) {
	err := r.call(ctx, r.pool.opts.HealthTimeout, http.MethodGet, "/v0/healthz", nil, nil)
	if answer, ok := errors.AsType[*Error](err); ok && answer.Status == http.StatusServiceUnavailable {
		return NotReady, nil
	}
	if err != nil {
		return "", err
	}
	return Ready, nil
}

// Version implements Sidecar.
func (r *remote) Version(ctx context.Context) (v api.Version, err error) {
	return v, r.call(ctx, r.pool.opts.Timeout, http.MethodGet, "/v0/version", nil, &v)
}

// NodeID implements Sidecar.
func (r *remote) NodeID(ctx context.Context) (string, error) {
	var body api.NodeID
	err := r.call(ctx, r.pool.opts.Timeout, http.MethodGet, "/v0/node-id", nil, &body)
	return body.NodeID, err
}

// Node implements Sidecar. The sidecar bounds its look, so the time of a health check will do.
func (r *remote) Node(ctx context.Context) (n api.Node, err error) {
	return n, r.callUpTo(ctx, maxNode, r.pool.opts.HealthTimeout, http.MethodGet, api.PathNode, nil, &n)
}

// Submit implements Sidecar.
func (r *remote) Submit(ctx context.Context, task api.TaskRequest) (string, error) {
	body, err := json.Marshal(task)
	if err != nil {
		return "", fmt.Errorf("encoding task %s: %w: %w", task.Type, ErrInvalid, err)
	}
	var accepted api.TaskAccepted
	if err := r.call(ctx, r.pool.opts.Timeout, http.MethodPost, "/v0/tasks", body, &accepted); err != nil {
		return "", err
	}
	if _, err := uuid.Parse(accepted.ID); err != nil {
		return "", fmt.Errorf("%w: POST /v0/tasks answered the id %q", ErrUnreachable, accepted.ID)
	}
	return accepted.ID, nil
}

// Get implements Sidecar.
func (r *remote) Get(ctx context.Context, id string, wait time.Duration) (t api.TaskResult, err error) {
	path := taskPath(id)
	if wait > 0 {
		path += "?wait=" + url.QueryEscape(wait.String())
	}
	return t, r.call(ctx, r.pool.opts.Timeout+max(wait, 0), http.MethodGet, path, nil, &t)
}

// List implements Sidecar.
func (r *remote) List(ctx context.Context) (tasks []api.TaskResult, err error) {
	return tasks, r.call(ctx, r.pool.opts.Timeout, http.MethodGet, "/v0/tasks", nil, &tasks)
}

// Delete implements Sidecar.
func (r *remote) Delete(ctx context.Context, id string) error {
	return r.call(ctx, r.pool.opts.Timeout, http.MethodDelete, taskPath(id), nil, nil)
}

func taskPath(id string) string { return "/v0/tasks/" + url.PathEscape(id) }

// call makes one request. The answer's JSON goes into out unless that is nil.
func (r *remote) call(ctx context.Context, timeout time.Duration, method, path string, body []byte, out any) error {
	return r.callUpTo(ctx, maxAnswer, timeout, method, path, body, out)
}

// callUpTo is call with a limit on the answer.
func (r *remote) callUpTo(ctx context.Context, limit int64, timeout time.Duration, method, path string, body []byte, out any) error {
	name := method + " " + path
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := r.request(bounded, method, path, body)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	resp, err := r.pool.http.Do(req)
	if err != nil {
		return unreachable(ctx, name, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return unreachable(ctx, name, err)
	}
	if int64(len(raw)) > limit {
		return fmt.Errorf("%s: %w: its answer is longer than %d bytes", name, ErrUnreachable, limit)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answerError(name, resp.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: %w: reading its answer: %w", name, ErrUnreachable, err)
	}
	return nil
}

func (r *remote) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+r.target.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for header, value := range map[string]string{api.HeaderNode: r.target.Node, api.HeaderPodUID: r.target.PodUID} {
		if value != "" {
			req.Header.Set(header, value)
		}
	}
	if r.pool.opts.Tokens != nil {
		token, err := r.pool.opts.Tokens.Token(ctx)
		if err != nil {
			return nil, fmt.Errorf("getting a token: %w: %w", ErrUnauthorized, err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// unreachable tells a caller that gave up from a sidecar that did not answer.
func unreachable(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w: %w", name, ErrUnreachable, err)
}

func answerError(name string, status int, raw []byte) error {
	answer := &Error{Call: name, Status: status}
	var body api.ErrorBody
	if json.Unmarshal(raw, &body) == nil && body.Error != "" {
		answer.Message, answer.Detail = body.Error, body.ErrorDetail
	} else {
		answer.Message = strings.TrimSpace(string(raw[:min(len(raw), 200)]))
	}
	if answer.Message == "" {
		answer.Message = http.StatusText(status)
	}
	return answer
}
