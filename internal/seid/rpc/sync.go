package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// maxLag is how far behind still counts as in sync on nodes that do not say it
	// themselves.
	maxLag = 300
	// freshBlock is how old the latest block of a node without peers may be. Whoever
	// makes blocks alone needs nobody to compare with.
	freshBlock = time.Minute
)

// Sync is the sync state of a node.
type Sync struct {
	// Height is the node's latest block, Goal that of its highest peer, if it knows one.
	Height, Goal int64
	// CatchingUp is the node's own flag; see Status.
	CatchingUp bool
	// Why says why the node is not in sync. It is empty when it is.
	Why string
}

// InSync reports whether the node keeps up with its chain.
func (s Sync) InSync() bool { return s.Why == "" }

// Sync asks whether the node keeps up with its chain. What the node says of its lag is
// not enough: without peers it has none, also when it has no block at all or was away for
// a day.
func (c *Client) Sync(ctx context.Context, now time.Time) (Sync, error) {
	status, err := c.Status(ctx)
	if err != nil {
		return Sync{}, err
	}
	at := Sync{Height: status.SyncInfo.LatestBlockHeight, CatchingUp: status.SyncInfo.CatchingUp}
	if at.Height < 1 {
		at.Why = "no block yet"
		return at, nil
	}
	lag, err := c.lag(ctx, status)
	if err != nil {
		return at, err
	}
	at.Goal = lag.MaxPeerHeight
	if lag.Behind {
		at.Why = fmt.Sprintf("height is %d of %d", at.Height, at.Goal)
		return at, nil
	}
	age := now.Sub(status.SyncInfo.LatestBlockTime)
	if age <= freshBlock {
		return at, nil
	}
	peers, err := c.NetInfo(ctx)
	if err != nil {
		return at, err
	}
	if peers.Connected() == 0 && !c.OnlyValidator(ctx, status) {
		at.Why = fmt.Sprintf("no peer is connected and the latest block, %d, is %s old", at.Height, age.Round(time.Second))
	}
	return at, nil
}

// OnlyValidator reports whether the node with this status makes its chain's blocks alone.
// Nobody can be ahead of such a node, however old its latest block is: with
// create-empty-blocks switched off there is none until there is a transaction.
func (c *Client) OnlyValidator(ctx context.Context, status *Status) bool {
	if status.ValidatorInfo.VotingPower <= 0 || status.SyncInfo.LatestBlockHeight < 1 {
		return false
	}
	commit, err := c.Commit(ctx, status.SyncInfo.LatestBlockHeight)
	return err == nil && commit.Validators == 1
}

// lag is LagStatus, or what can be said in its place of a node that does not know the call.
func (c *Client) lag(ctx context.Context, status *Status) (*LagStatus, error) {
	lag, err := c.LagStatus(ctx)
	if _, answered := errors.AsType[*Error](err); !answered {
		return lag, err
	}
	lag = &LagStatus{CurrentHeight: status.SyncInfo.LatestBlockHeight, MaxPeerHeight: status.SyncInfo.MaxPeerBlockHeight}
	lag.Lag = max(lag.MaxPeerHeight-lag.CurrentHeight, 0)
	lag.Behind = lag.Lag > maxLag
	return lag, nil
}
