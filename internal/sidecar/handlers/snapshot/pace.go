package snapshot

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// paceEvery is how often an upload looks whether the node keeps up with its chain.
const paceEvery = 15 * time.Second

// pace suspends an upload while the node has blocks to catch up with: both read the same
// disk, and the node comes first. A node that does not run is not disturbed by an upload.
type pace struct {
	look  func(context.Context) api.Node
	clock clock.Clock
	last  time.Time
}

// keep returns when the upload may continue, or its context has ended.
func (p *pace) keep(ctx context.Context) {
	if p.clock.Since(p.last) < paceEvery {
		return
	}
	for {
		p.last = p.clock.Now()
		switch p.look(ctx).Sync.State {
		case api.SyncCatchingUp, api.SyncBehind, api.SyncReplaying:
		default:
			return
		}
		select {
		case <-p.clock.After(paceEvery):
		case <-ctx.Done():
			return
		}
	}
}
