package look

import (
	"context"
	"sync"
	"time"

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

// chainUpgrades is what the chain's state says of upgrades.
type chainUpgrades struct {
	// plan is the upgrade that is planned; nil when none is.
	plan *api.Upgrade
	// applied are those that are applied, newest first; asked: the node could say so.
	applied []api.AppliedUpgrade
	asked   bool
	// height of the node before it was asked.
	height int64
	// due is about when the chain gets to the height of the plan; nil when it cannot be determined.
	due *time.Time
}

// askUpgrades asks the chain's state for the upgrade that is planned and those that are applied.
func askUpgrades(ctx context.Context, node *rpc.Client) (*chainUpgrades, error) {
	answer, err := query(ctx, node, upgrade.CurrentPlanPath, nil)
	if err != nil {
		return nil, err
	}
	plan, err := upgrade.DecodeCurrentPlan(answer)
	if err != nil {
		return nil, err
	}
	told := &chainUpgrades{applied: []api.AppliedUpgrade{}}
	if plan != nil {
		told.plan, told.due = upgradeOf(*plan), estimate(ctx, node, plan.Height)
	}
	// Asked second: an upgrade that is applied in between is rather seen twice than not at all. A
	// node that cannot answer this one has told its plan all the same.
	if answer, err = query(ctx, node, upgrade.AppliedPath, upgrade.AppliedPrefix); err != nil {
		return told, nil //nolint:nilerr // see above
	}
	all, err := upgrade.DecodeApplied(answer)
	if err != nil {
		return told, nil //nolint:nilerr // see above
	}
	for _, a := range all {
		told.applied = append(told.applied, api.AppliedUpgrade(a))
	}
	told.asked = true
	return told, nil
}

func query(ctx context.Context, node *rpc.Client, path string, data []byte) ([]byte, error) {
	answer, err := node.ABCIQuery(ctx, path, data)
	if err != nil {
		return nil, err
	}
	if answer.Code != 0 {
		return nil, &rpc.Error{Code: int(answer.Code), Message: answer.Log}
	}
	return answer.Value, nil
}

func upgradeOf(p upgrade.Plan) *api.Upgrade {
	return &api.Upgrade{Name: p.Name, Height: p.Height, Info: p.Info, Minor: p.Minor()}
}
