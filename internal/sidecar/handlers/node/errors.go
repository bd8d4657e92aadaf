package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// BucketError tells the caller of a task what a bucket's error means for it.
func BucketError(err error) error {
	e, ok := errors.AsType[*objectstore.Error](err)
	if !ok {
		return err
	}
	code := api.CodeUnavailable
	switch e.Kind {
	case objectstore.KindNotFound, objectstore.KindNoBucket:
		code = api.CodeNotFound
	case objectstore.KindDenied:
		code = api.CodeForbidden
	case objectstore.KindInvalid:
		code = api.CodePrecondition
	case objectstore.KindTooLarge:
		code = api.CodeIntegrity
	default:
	}
	detail := api.ErrorDetail{
		Code:      code,
		Retryable: e.Retryable(),
		Terminal:  e.Kind == objectstore.KindInvalid || e.Kind == objectstore.KindTooLarge,
		Hint:      e.Hint(),
	}
	return &api.Error{Detail: detail, Err: err}
}

// In puts the task's name before its error, as the contract has it, and keeps
// what the error says about retries.
func In(task api.TaskType, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", task, err)
}

// Handler makes a handler whose errors begin with the task's name.
func Handler[P any](task api.TaskType, groups []engine.Group, run func(context.Context, engine.Task, P) (any, error)) engine.Handler {
	return engine.NewHandler(task, groups, func(ctx context.Context, t engine.Task, p P) (any, error) {
		result, err := run(ctx, t, p)
		return result, In(task, err)
	})
}
