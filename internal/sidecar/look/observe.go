package look

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/snapshots"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// observation is what one round of questions to a running node gave.
type observation struct {
	chain     *Chain
	ports     Ports
	stateSync *StateSync
	committed time.Time
	trend     Trend
}

// sync judges how the node stands to its chain.
func (l *Look) sync(ctx context.Context, set settings, doc api.Node) api.Sync {
	process := processOf(doc.Seid)
	var seen observation
	if process != "" {
		seen = l.answers.get(ctx, process, func(ctx context.Context) observation { return l.observe(ctx, process, set) })
	}
	return Judge(Facts{
		Now: l.Clock.Now(), Began: l.began, Gate: doc.Gate, Seid: doc.Seid, Mode: set.Mode, Signs: doc.Home.Signs, Draining: l.Draining(),
		Chain: seen.chain, Ports: seen.ports, StateSync: seen.stateSync, Committed: seen.committed, Trend: seen.trend,
		Stop: l.stopNote(),
	})
}

// observe makes one round and adds it to the history.
func (l *Look) observe(ctx context.Context, process string, set settings) observation {
	var seen observation
	seen.ports = l.ports(set)
	if l.RPC != nil {
		seen.chain = ask(ctx, l.RPC())
	}
	if seen.chain == nil {
		seen.stateSync = l.stateSync(ctx, set)
		seen.committed = l.home.LastCommit()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	seen.trend = l.history.observe(l.Clock.Now(), process, seen.chain, seen.stateSync)
	return seen
}

// stopNote is the note of a seid that stopped for an upgrade.
func (l *Look) stopNote() *upgrade.Stop {
	note, err := upgrade.ReadStop(l.home.Data())
	if err != nil {
		l.Log.Warn("looking for an upgrade", "error", err)
	}
	return note
}

// upgrade is the upgrade that is planned or that the node has stopped for. A node that does
// not answer keeps the plan it told last: its state does not change meanwhile.
func (l *Look) upgrade(ctx context.Context, doc api.Node) *api.Upgrade {
	if doc.Sync.State == api.SyncUpgradeNeeded {
		if exit := doc.Seid.LastExit; exit != nil && exit.Upgrade != nil {
			return exit.Upgrade
		}
		if note := l.stopNote(); note != nil {
			return upgradeOf(note.Plan)
		}
	}
	if doc.Sync.Height == 0 || l.RPC == nil {
		return l.plan.peek()
	}
	return l.plan.get(ctx, "", func(ctx context.Context) *api.Upgrade {
		plan, err := askPlan(ctx, l.RPC())
		if err != nil {
			l.Log.Debug("asking for the upgrade plan", "error", err)
			return l.plan.peek()
		}
		return plan
	})
}

// finishedSnapshots lists the snapshots, at most every few seconds. A list that cannot be
// read now is not known.
func (l *Look) finishedSnapshots(ctx context.Context, dir string) []api.Snapshot {
	return l.snapshots.get(ctx, dir, func(context.Context) []api.Snapshot {
		all, err := snapshots.List(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.Log.Debug("listing snapshots", "error", err)
		}
		list := make([]api.Snapshot, 0, len(all))
		for _, s := range all {
			list = append(list, api.Snapshot(s))
		}
		return list
	})
}

// markSynced leaves the mark that the node was in sync, unless its process has ended since:
// its data may be on their way out.
func (l *Look) markSynced(doc api.Node) api.HomeStage {
	l.marked.Lock()
	defer l.marked.Unlock()
	if processOf(l.Seid()) != processOf(doc.Seid) {
		return doc.Home.Stage
	}
	if err := stage.MarkSynced(string(l.home), stage.Mark{Time: l.Clock.Now().UTC(), Height: doc.Sync.Height}); err != nil {
		l.Log.Warn("marking the node as synced", "error", err)
		return doc.Home.Stage
	}
	return api.HomeSynced
}
