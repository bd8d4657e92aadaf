package elapse_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sei-operator/sei-operator/test/elapse"
)

func TestFor_EndsWithTheTimeOrTheContext(t *testing.T) {
	for name, tc := range map[string]struct {
		patience, took time.Duration
		all            bool
	}{
		"the time is over first":    {patience: time.Hour, took: time.Minute, all: true},
		"the context is over first": {patience: time.Second, took: time.Second, all: false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
				defer cancel()
				began := time.Now()
				all := elapse.For(ctx, time.Minute)
				if took := time.Since(began); all != tc.all || took != tc.took {
					t.Errorf("For = %t after %s, want %t after %s", all, took, tc.all, tc.took)
				}
			})
		})
	}
}
