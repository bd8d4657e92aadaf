// Package lifecycle holds the tasks about the running node: stop it, restart it,
// wait for it, empty its data. It has the gate signal the process and observes it; the
// kubelet is who starts it. The node is asked to end once and never killed: a database that
// was cut off in the middle of a write costs more than waiting.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// Timing is how long things may take. Zero values mean the contract's.
type Timing struct {
	// Stop is how long the node may take to end.
	Stop time.Duration
	// Stall is how long a node that is being started may go without any progress.
	Stall time.Duration
	// Closed is how long a node may wait behind its gate before a restart gives up.
	Closed time.Duration
	// Alive is how long a node that opens no RPC has to live to count as started.
	Alive time.Duration
	// Poll is how often the node's RPC is asked.
	Poll time.Duration
}

func (t Timing) withDefaults() Timing {
	return Timing{
		Stop:   orDefault(t.Stop, 90*time.Second),
		Stall:  orDefault(t.Stall, 10*time.Minute),
		Closed: orDefault(t.Closed, 10*time.Second),
		Alive:  orDefault(t.Alive, 30*time.Second),
		Poll:   orDefault(t.Poll, time.Second),
	}
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// aliveCheck is how often a signalled process is looked at.
const aliveCheck = 100 * time.Millisecond

// Tasks are the lifecycle tasks of one node.
type Tasks struct {
	Node      *node.Node
	Processes process.Table
	Timing    Timing
	// RPC is a client of the node's own RPC.
	RPC func() *rpc.Client
	// OpensRPC reports whether the node opens its RPC when it starts. A seed never does,
	// and a node that syncs its state from peers only afterwards.
	OpensRPC func() (bool, error)
	// ConfigHash names the configuration on disk.
	ConfigHash func() (string, error)
	// RestartDue lists what differs between the configuration on disk and that which the
	// running process was started with, and needs a restart.
	RestartDue func() ([]string, error)

	// leaving is set while the node still answers and is about to be ended. It lives
	// in memory, so that no crash can leave it behind.
	leaving atomic.Bool
	orders  sync.Mutex
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	running := []engine.Group{engine.GroupProcess}
	data := []engine.Group{engine.GroupProcess, engine.GroupData}
	return []engine.Handler{
		node.Handler(api.StopSeid, running, t.stop),
		node.Handler(api.RestartSeid, running, t.restart),
		node.Handler(api.ResetData, data, t.reset),
		// Waiting changes nothing, so it holds nobody up.
		node.Handler(api.AwaitCondition, nil, t.await),
	}
}

// CheckStopped refuses while the node runs, whether it is its process or its RPC
// that shows it.
func (t *Tasks) CheckStopped(ctx context.Context) error {
	if t.serving(ctx) {
		return notHeld(errors.New("seid RPC is serving; node is not held — refusing"))
	}
	found, err := t.find(ctx)
	if err != nil {
		return err
	}
	if found != nil {
		return notHeld(fmt.Errorf("seid is running as process %d; node is not held — refusing", found.pid))
	}
	return nil
}

func notHeld(err error) error {
	return api.Terminal(api.CodePrecondition, err).WithHint("run mark-not-ready and stop-seid first")
}

// serving reports whether the node's RPC answers.
func (t *Tasks) serving(ctx context.Context) bool {
	_, err := t.RPC().Status(ctx)
	return err == nil
}

// pause waits, or gives the reason why the context ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// jittered spreads polls, so that a fleet does not ask in step.
func jittered(d time.Duration) time.Duration {
	return d + rand.N(d/4+1) //nolint:gosec // not a secret
}
