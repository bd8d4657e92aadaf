package look

import (
	"context"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

const (
	// paceBlocks is over how many blocks the pace of a chain is measured: about an hour.
	paceBlocks = 10_000
	// minPaceBlocks is over how many at least.
	minPaceBlocks = 10
	// farAhead is beyond what a pace of today tells anything about.
	farAhead = 2 * 365 * 24 * time.Hour
)

// moment is when a chain was at a height.
type moment struct {
	height int64
	time   time.Time
}

// estimate is about when the chain gets to a height, by the pace of its last blocks; nil when that
// cannot be told. It goes by the times in the blocks, so that a node that catches up does not make
// its chain faster.
func estimate(ctx context.Context, node *rpc.Client, height int64) *time.Time {
	status, err := node.Status(ctx)
	if err != nil {
		return nil
	}
	now := moment{status.SyncInfo.LatestBlockHeight, status.SyncInfo.LatestBlockTime}
	first := max(now.height-paceBlocks, status.SyncInfo.EarliestBlockHeight, 1)
	if now.height-first < minPaceBlocks {
		return nil
	}
	block, err := node.Block(ctx, first)
	if err != nil {
		return nil
	}
	return due(moment{first, block.Header.Time}, now, height)
}

// due is when a chain that went from one moment to another gets to a height at that pace; nil when
// it is there, does not move, or is years away from it.
func due(from, now moment, height int64) *time.Time {
	took, blocks, left := now.time.Sub(from.time), now.height-from.height, height-now.height
	if took <= 0 || blocks <= 0 || left <= 0 {
		return nil
	}
	seconds := took.Seconds() / float64(blocks) * float64(left)
	if seconds > farAhead.Seconds() {
		return nil
	}
	at := now.time.Add(time.Duration(seconds * float64(time.Second))).UTC().Truncate(time.Second)
	return &at
}
