// Package elapse lets time pass in tests of which time itself is the subject: the random moment of a kill, a period in
// which nothing may happen, an age. What waits for something watches it or looks for it again and again.
package elapse

import (
	"context"
	"time"
)

// For lets time pass, and reports whether all of it has passed before the context ended.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
