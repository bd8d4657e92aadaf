package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
)

// Records is durable storage that handlers share: completion records, signed
// transactions. A Put has reached the disk when it returns.
type Records interface {
	Get(key string) ([]byte, error) // nil, nil when there is none
	Put(key string, value []byte) error
	Delete(key string) error
}

// Task is what a handler gets to see of the task it runs.
type Task struct {
	ID  string
	Run int
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
			return run(ctx, task, p)
		},
	}
}

func decodeParams[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
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

func paramsError(err error) error {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return api.InvalidField(typeErr.Field, "wants %s, got %s", typeErr.Type, typeErr.Value)
	}
	return api.InvalidField("params", "parsing params: %w", fmt.Errorf("%w", err))
}
