package look

import (
	"context"
	"sync"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// maxLag is how far behind still counts as in sync on nodes that do not say it themselves.
const maxLag = 300

// ask makes one round of calls; nil means that the node did not answer.
func ask(ctx context.Context, node *rpc.Client) *Chain {
	status, err := node.Status(ctx)
	if err != nil {
		return nil
	}
	c := &Chain{
		Height: status.SyncInfo.LatestBlockHeight, CatchingUp: status.SyncInfo.CatchingUp,
		BlockTime: status.SyncInfo.LatestBlockTime, Lag: max(status.SyncInfo.MaxPeerBlockHeight-status.SyncInfo.LatestBlockHeight, 0),
	}
	c.Behind = c.Lag > maxLag
	var both sync.WaitGroup
	both.Go(func() {
		// Nodes that do not know the call are judged by their status.
		if lag, err := node.LagStatus(ctx); err == nil {
			c.Lag, c.Behind = lag.Lag, lag.Behind
		}
	})
	both.Go(func() {
		if net, err := node.NetInfo(ctx); err == nil {
			c.Peers = new(net.Connected())
		}
	})
	both.Wait()
	if c.Peers != nil && *c.Peers == 0 {
		c.OnlyValidator = node.OnlyValidator(ctx, status)
	}
	return c
}

// askPlan asks the chain's state for the upgrade that is planned.
func askPlan(ctx context.Context, node *rpc.Client) (*api.Upgrade, error) {
	answer, err := node.ABCIQuery(ctx, upgrade.CurrentPlanPath, nil)
	if err != nil {
		return nil, err
	}
	if answer.Code != 0 {
		return nil, &rpc.Error{Code: int(answer.Code), Message: answer.Log}
	}
	plan, err := upgrade.DecodeCurrentPlan(answer.Value)
	if plan == nil || err != nil {
		return nil, err
	}
	return upgradeOf(*plan), nil
}

func upgradeOf(p upgrade.Plan) *api.Upgrade {
	return &api.Upgrade{Name: p.Name, Height: p.Height, Info: p.Info, Minor: p.Minor()}
}
