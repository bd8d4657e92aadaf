package lifecycle

import (
	"context"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// restart sees to it that a node runs which was started after it was asked for, or with the
// configuration it was asked for, and waits until that node answers.
func (t *Tasks) restart(ctx context.Context, task engine.Task, p wire.RestartSeid) (any, error) {
	if err := t.checkConfig(p.ConfigHash); err != nil {
		return nil, err
	}
	running, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	same, err := t.claim(task, running)
	if err != nil {
		return nil, err
	}
	var result wire.Restarted
	if same {
		keep, why, err := t.keeps(ctx, task, p, running)
		if err != nil {
			return nil, err
		}
		result.AlreadyRunning = keep
		if keep {
			task.Progress(api.Progress{Message: why})
		} else if err := t.replace(ctx, task, p, running); err != nil {
			return nil, err
		}
	}
	result.RPCServing, err = t.awaitStart(ctx, task)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// checkConfig refuses a restart that would bring another configuration into force than the
// one it is for.
func (t *Tasks) checkConfig(want string) error {
	if want == "" {
		return nil
	}
	hash, err := t.ConfigHash()
	if err != nil {
		return err
	}
	if hash != want {
		return api.Terminal(api.CodePrecondition, fmt.Errorf("the configuration on disk is %q, and the restart is for %q", hash, want))
	}
	return nil
}

// keeps reports whether the running process is what the caller wants already, and in which
// words. One that is being ended is not. SIGTERM kills a node that is still starting, so
// that such a node is only ended for a configuration that it was not started with.
func (t *Tasks) keeps(ctx context.Context, task engine.Task, p wire.RestartSeid, r *running) (keep bool, why string, err error) {
	asked, err := t.asked(task, r)
	if err != nil || asked {
		return false, "", err
	}
	if r.youngerThan(task.SubmittedAt) {
		return true, "seid was started after the request", nil
	}
	if p.ConfigHash != "" {
		done, err := t.runsWith(task, p.ConfigHash, r)
		return done, "already running with this configuration", err
	}
	starting, err := t.starting(ctx, r)
	if err != nil || !starting {
		return false, "", err
	}
	due, err := t.RestartDue()
	return len(due) == 0, "seid is still starting", err
}

// starting reports whether a process has not come as far as to listen to signals.
func (t *Tasks) starting(ctx context.Context, r *running) (bool, error) {
	opens, err := t.OpensRPC()
	if err != nil {
		return false, err
	}
	if opens {
		return !t.serving(ctx), nil
	}
	return t.youth(r) < t.Timing.withDefaults().Alive, nil
}

// recordIntent is the record of the last restart for a configuration: its hash and the
// process that was ended for it.
const recordIntent = "restarted for configuration"

// runsWith reports whether a process was started with a configuration. The gate of an older
// pod does not record that; there the process that took the place of the one that was ended
// for it was.
func (t *Tasks) runsWith(task engine.Task, hash string, r *running) (bool, error) {
	if r.watched {
		return r.configHash == hash, nil
	}
	last, err := task.Records.Get(recordIntent)
	if err != nil {
		return false, err
	}
	var ended string
	n, _ := fmt.Sscanf(string(last), hash+" %s", &ended)
	return n == 1 && ended != r.identity, nil
}

// replace ends the process that runs.
func (t *Tasks) replace(ctx context.Context, task engine.Task, p wire.RestartSeid, r *running) error {
	if p.ConfigHash != "" && !r.watched {
		if err := task.Records.Put(recordIntent, []byte(p.ConfigHash+" "+r.identity)); err != nil {
			return err
		}
	}
	if err := t.settle(ctx, r); err != nil {
		return err
	}
	return t.drainThenStop(ctx, task, r, p.DrainPeriod())
}

// settle lets a process that was started a moment ago make its databases: one that is killed
// while it does may never start again. It waits no longer than a node needs that opens no RPC.
func (t *Tasks) settle(ctx context.Context, r *running) error {
	timing := t.Timing.withDefaults()
	for t.youth(r) < timing.Alive && !t.serving(ctx) {
		alive, err := t.alive(r)
		if err != nil || !alive {
			return err
		}
		if err := pause(ctx, timing.Poll); err != nil {
			return err
		}
	}
	return nil
}
