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

// traces is what can be seen of a running node that does not answer.
type traces struct {
	ports     Ports
	stateSync *StateSync
	committed time.Time
}

// sync judges the node's sync state.
func (l *Look) sync(ctx context.Context, set settings, doc api.Node) api.Sync {
	facts := Facts{
		Began: l.began, Gate: doc.Gate, Seid: doc.Seid, Mode: set.Mode, Signs: doc.Home.Signs, Quiet: set.Quiet, Draining: l.Draining(), Stop: l.stopNote(),
	}
	if process := processOf(doc.Seid); process != "" {
		l.observe(ctx, &facts, process, set)
	}
	facts.Now = l.Clock.Now()
	return Judge(facts)
}

// observe adds what a running node says, or else the traces it leaves, and what both have
// been over time.
func (l *Look) observe(ctx context.Context, facts *Facts, process string, set settings) {
	facts.Chain = l.chain(ctx, process)
	if facts.Chain == nil {
		seen := l.traces.get(ctx, process, func(ctx context.Context) traces {
			return traces{ports: l.ports(set), stateSync: l.stateSync(ctx, set), committed: l.home.LastCommit()}
		})
		facts.Ports, facts.StateSync, facts.Committed = seen.ports, seen.stateSync, seen.committed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	facts.Trend = l.history.observe(l.Clock.Now(), process, *facts)
}

// chain asks the node. A slow one is waited for beside the look, which continues with what the
// node said before; whoever looks next gets the answer, or that there is none.
func (l *Look) chain(ctx context.Context, process string) *Chain {
	if l.RPC == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	return l.answers.get(ctx, process, func(ctx context.Context) *Chain { return ask(ctx, l.RPC()) })
}

// stopNote is the note of a seid that stopped for an upgrade.
func (l *Look) stopNote() *upgrade.Stop {
	note, err := upgrade.ReadStop(l.home.Data())
	if err != nil {
		l.Log.Warn("looking for an upgrade", "error", err)
	}
	return note
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
