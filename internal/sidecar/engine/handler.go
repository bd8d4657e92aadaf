package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Group is a resource that at most one running task may change at a time.
type Group string

// The resource groups of a node's home.
const (
	GroupConfig  Group = "config"
	GroupData    Group = "data"
	GroupProcess Group = "process"
	GroupKeys    Group = "keys"
	GroupExport  Group = "export"
)

// Task is what a handler gets to see of the task it runs.
type Task struct {
	ID  string
	Run int
	// SubmittedAt is when this run was asked for.
	SubmittedAt time.Time
	// ParamsDigest tells apart runs of one id with different parameters: a failed task may
	// be submitted again with others.
	ParamsDigest string
	// Progress reports how far the task has come; it may be called often.
	Progress func(api.Progress)
	Records  Records
}

// Handler is one task type: how its parameters are checked and how it runs.
// Run must be re-entrant: killed at any instruction and run again with the same
// parameters it ends in the same state.
type Handler struct {
	Type   api.TaskType
	Groups []Group
	// Validate is called at submit; an *api.Error becomes a 400 that names the field.
	Validate func(params json.RawMessage) error
	// Run returns the value that becomes TaskResult.Result (nil for none). A
	// result next to an error is kept on the failed task.
	Run func(ctx context.Context, task Task, params json.RawMessage) (any, error)
}

// Validator is implemented by parameter types with rules beyond their shape.
type Validator interface{ Validate() error }

// NewHandler makes a Handler from a function with typed parameters. Parameters
// are decoded strictly: an unknown field is an error that names it.
func NewHandler[P any](t api.TaskType, groups []Group, run func(context.Context, Task, P) (any, error)) Handler {
	return Handler{
		Type:   t,
		Groups: groups,
		Validate: func(raw json.RawMessage) error {
			_, err := decodeParams[P](raw)
			return err
		},
		Run: func(ctx context.Context, task Task, raw json.RawMessage) (any, error) {
			p, err := decodeParams[P](raw)
			if err != nil {
				return nil, err
			}
			task.ParamsDigest = digest(raw)
			return run(ctx, task, p)
		},
	}
}

func decodeParams[P any](raw json.RawMessage) (P, error) {
	var p P
	if isEmpty(raw) {
		raw = json.RawMessage(`{}`)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, paramsError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return p, api.InvalidField("params", "more than one JSON value")
	}
	if v, ok := any(&p).(Validator); ok {
		if err := v.Validate(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// digest is the same for parameters that differ in white space only.
func digest(raw json.RawMessage) string {
	var compact bytes.Buffer
	if isEmpty(raw) || json.Compact(&compact, raw) != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(compact.Bytes()))
}

// isEmpty reports whether no parameters were given: nothing at all, or null.
func isEmpty(raw json.RawMessage) bool {
	trimmed := bytes.TrimSpace(raw)
	return len(trimmed) == 0 || string(trimmed) == "null"
}

// paramsError names the field that encoding/json stumbled over.
func paramsError(err error) error {
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := cmp.Or(typeErr.Field, "params")
		return api.InvalidField(field, "wants %s, got %s", typeErr.Type, typeErr.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return api.InvalidField(strings.Trim(name, `"`), "is not a parameter of this task")
	}
	if apiErr, ok := errors.AsType[*api.Error](err); ok {
		return apiErr
	}
	return api.InvalidField("params", "parsing params: %w", err)
}
