package gate

import (
	"context"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// clearInterruptedStateSync lets a node begin its first sync again that was ended in the middle of
// it. seid would end over what is left at every start from then on. A node that was in sync once
// is left alone: what it has lost, somebody has to look at.
func (j *journal) clearInterruptedStateSync(ctx context.Context) {
	if j.Home == "" {
		return
	}
	if synced, err := stage.Synced(j.Home); synced || err != nil {
		return
	}
	cleared, err := leftovers.InterruptedStateSync(ctx, home.Dir(j.Home))
	switch {
	case err != nil:
		j.Log.Error("removing what an interrupted state sync has left", "error", err)
	case cleared:
		j.Log.Warn("a state sync was interrupted: what it has left is removed, and seid starts it over")
	}
}
