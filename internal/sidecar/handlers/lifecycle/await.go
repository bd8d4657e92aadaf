package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

// await waits for a condition and then does the action. That the condition was
// met is noted first: once the node was ended it cannot be asked again.
func (t *Tasks) await(ctx context.Context, task engine.Task, p wire.AwaitCondition) (any, error) {
	var result wire.ConditionMet
	noted, err := notes.Find(task, met, &result)
	if err != nil {
		return nil, err
	}
	if !noted {
		if result.Height, err = t.awaitHeight(ctx, task, p); err != nil {
			return nil, err
		}
		if err := notes.Keep(task, met, result); err != nil {
			return nil, err
		}
	}
	if p.Action == wire.ActionSigterm {
		if err := t.endOnce(ctx, task); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// endOnce ends the node that runs when the task first comes here, and no other.
func (t *Tasks) endOnce(ctx context.Context, task engine.Task) error {
	running, err := t.find(ctx)
	if err != nil {
		return err
	}
	same, err := t.claim(task, running)
	if err != nil || !same {
		return err
	}
	return t.end(ctx, task, running, api.AwaitCondition)
}

var errTimeout = errors.New("timed out")

// awaitHeight polls until the condition holds and gives the height then. The
// timeout ends a pause and never a look, which has a timeout of its own: what is
// reported in the end is what the node last said, and not that it was interrupted.
func (t *Tasks) awaitHeight(ctx context.Context, task engine.Task, p wire.AwaitCondition) (int64, error) {
	limited := ctx
	if p.Timeout != "" {
		limit, err := time.ParseDuration(p.Timeout)
		if err != nil {
			return 0, api.InvalidField("timeout", "%w", err)
		}
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	for {
		last := t.check(ctx, p)
		if last.met {
			return last.height, nil
		}
		task.Progress(api.Progress{Done: last.height, Total: last.goal, Unit: "blocks", Message: last.why})
		err := pause(limited, jittered(t.Timing.withDefaults().Poll))
		if errors.Is(err, errTimeout) {
			return 0, api.Retryable(api.CodeUnavailable, fmt.Errorf("condition not met within %s: %s", p.Timeout, last.why))
		}
		if err != nil {
			return 0, err
		}
	}
}

// progress is one look at the node.
type progress struct {
	met          bool
	height, goal int64
	why          string
}

func (t *Tasks) check(ctx context.Context, p wire.AwaitCondition) progress {
	if p.Condition == wire.ConditionHeight {
		status, err := t.RPC().Status(ctx)
		if err != nil {
			return progress{goal: p.TargetHeight, why: err.Error()}
		}
		height := status.SyncInfo.LatestBlockHeight
		return progress{met: height >= p.TargetHeight, height: height, goal: p.TargetHeight, why: fmt.Sprintf("height is %d", height)}
	}
	at, err := t.RPC().Sync(ctx, time.Now())
	if err != nil {
		return progress{height: at.Height, why: err.Error()}
	}
	met := at.InSync() && !at.CatchingUp && at.Height > 1
	why := cmp.Or(at.Why, fmt.Sprintf("height is %d, and the node is still catching up", at.Height))
	return progress{met: met, height: at.Height, goal: at.Goal, why: why}
}
