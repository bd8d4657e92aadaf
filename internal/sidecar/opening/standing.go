package opening

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Silence is how long a new sidecar waits for word of an operator before it uses a
// permission.
const Silence = 15 * time.Second

// Stand opens the gate in place of an operator that is not heard of.
type Stand struct {
	*Conditions
	// Open opens the gate, unless somebody has moved it, and reports whether it did.
	Open func(api.Opening) bool

	heard atomic.Bool
	// renewed is when the permission was last renewed, in nanoseconds.
	renewed atomic.Int64
}

// renewEvery is how often an operator that is heard of renews its permission: seldom enough to
// cost nothing, often enough for the shortest permission that makes sense.
const renewEvery = 10 * time.Minute

// Heard notes that an operator is there. Whoever was allowed in counts.
func (s *Stand) Heard() {
	s.heard.Store(true)
	now, last := s.Clock.Now().UnixNano(), s.renewed.Load()
	if time.Duration(now-last) < renewEvery || !s.renewed.CompareAndSwap(last, now) {
		return
	}
	if err := s.Renew(context.Background()); err != nil {
		s.Log.Warn("renewing the permission to start without an operator", "error", err.Error())
	}
}

// Run waits for word of an operator, and opens the gate on a permission when none comes.
func (s *Stand) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-s.Clock.After(Silence):
	}
	if s.heard.Load() {
		return
	}
	opening, err := s.Standing(ctx)
	switch {
	case errors.Is(err, errNoPermission):
		s.Log.Info("no operator is heard of, and it left no permission: the gate stays closed")
	case err != nil:
		s.Log.Warn("no operator is heard of, and its permission does not hold: the gate stays closed", "reason", err.Error())
	case s.heard.Load():
	case s.Open(opening):
		s.Log.Info("no operator is heard of: the gate is opened on its permission", "configHash", opening.ConfigHash)
	}
}
