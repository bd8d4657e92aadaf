package plan

import (
	"context"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Definition is one task type. E is the environment the caller hands to its tasks.
type Definition[E any] struct {
	// Run moves the task on as far as it goes without waiting. It is called
	// again until it is done, so it must first look at what is there already.
	Run func(ctx context.Context, env E, task *v1alpha1.PlannedTask) Outcome
	// Timeout bounds the task from its first call on, over all attempts.
	Timeout time.Duration
	// MaxRetries is how many attempts may follow the first.
	MaxRetries int32
}

// Registry holds the task types an executor knows, by name.
type Registry[E any] map[string]Definition[E]
