package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/text"
)

// What is read of an answer at most.
const (
	// maxSmall is plenty for whatever is no task.
	maxSmall = 64 << 10
	// maxTask has room for a genesis, as a parameter and as a result: a sidecar takes 4 MiB.
	maxTask = 8 << 20
	maxList = 16 << 20 // a hundred tasks
)

// remote is a Sidecar behind an address.
type remote struct {
	pool   *Pool
	target Target
}

// Health implements Sidecar.
func (r *remote) Health(ctx context.Context) (Health, error) {
	err := r.do(ctx, call{method: http.MethodGet, path: api.PathHealth, timeout: r.pool.opts.HealthTimeout, limit: maxSmall}, nil)
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
	err = r.do(ctx, r.get("/v0/version", maxSmall), &v)
	v.Version = text.Shorten(v.Version, maxWords)
	return v, err
}

// NodeID implements Sidecar.
func (r *remote) NodeID(ctx context.Context) (string, error) {
	var body api.NodeID
	err := r.do(ctx, r.get("/v0/node-id", maxSmall), &body)
	return nodeID(body.NodeID), err
}

// Node implements Sidecar. The sidecar bounds its look, so the time of a health check will do.
func (r *remote) Node(ctx context.Context) (n api.Node, err error) {
	look := r.get(api.PathNode, maxSmall)
	look.timeout = r.pool.opts.HealthTimeout
	err = r.do(ctx, look, &n)
	shortenNode(&n)
	return n, err
}

// Submit implements Sidecar.
func (r *remote) Submit(ctx context.Context, task api.TaskRequest) (string, error) {
	body, err := json.Marshal(task)
	if err != nil {
		return "", fmt.Errorf("encoding task %s: %w: %w", task.Type, ErrInvalid, err)
	}
	var accepted api.TaskAccepted
	submit := call{method: http.MethodPost, path: "/v0/tasks", body: body, timeout: r.pool.opts.Timeout, limit: maxSmall}
	if err := r.do(ctx, submit, &accepted); err != nil {
		return "", err
	}
	if _, err := uuid.Parse(accepted.ID); err != nil {
		return "", fmt.Errorf("%w: POST /v0/tasks answered the id %q", ErrUnreachable, text.Shorten(accepted.ID, maxWords))
	}
	return accepted.ID, nil
}

// Get implements Sidecar.
func (r *remote) Get(ctx context.Context, id string, wait time.Duration) (t api.TaskResult, err error) {
	get := r.get(taskPath(id), maxTask)
	if wait > 0 {
		get.path += "?wait=" + url.QueryEscape(wait.String())
		get.timeout += wait
	}
	err = r.do(ctx, get, &t)
	shortenTask(&t)
	return t, err
}

// List implements Sidecar.
func (r *remote) List(ctx context.Context) (tasks []api.TaskResult, err error) {
	err = r.do(ctx, r.get("/v0/tasks", maxList), &tasks)
	for i := range tasks {
		shortenTask(&tasks[i])
	}
	return tasks, err
}

// Delete implements Sidecar.
func (r *remote) Delete(ctx context.Context, id string) error {
	return r.do(ctx, call{method: http.MethodDelete, path: taskPath(id), timeout: r.pool.opts.Timeout, limit: maxSmall}, nil)
}

func taskPath(id string) string { return "/v0/tasks/" + url.PathEscape(id) }
