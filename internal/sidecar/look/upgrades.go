package look

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
)

const (
	// maxApplied is how many applied upgrades are told.
	maxApplied = 64
	// refusalFades is how long a process has to run before the refusal of the one before is over.
	refusalFades = time.Minute
)

// upgrades adds what is known of the chain's upgrades: told by the node itself, or remembered on the
// volume from when it answered. While seid does not run its state does not change.
func (l *Look) upgrades(ctx context.Context, doc *api.Node) {
	record, told := l.recorded(), l.askUpgrades(ctx, *doc)
	note := l.stopNote()
	if told != nil && told.asked {
		record = l.remember(record, told, note, *doc)
	}
	switch {
	case doc.Sync.State == api.SyncUpgradeNeeded && stoppedFor(*doc, note) != nil:
		doc.Upgrade = stoppedFor(*doc, note)
	case told != nil:
		doc.Upgrade = told.plan
	case record != nil && record.Plan != nil && !record.Has(record.Plan.Name):
		doc.Upgrade = record.Plan
	}
	doc.Upgrades = &api.Upgrades{
		Known: record != nil, Applied: applied(record, doc.Seid.LastExit), Needed: needed(record, told, note, doc.Seid.LastExit), Refusal: l.refusal(*doc),
	}
	if told != nil && doc.Upgrade == told.plan {
		doc.Upgrades.EstimatedTime = told.due
	}
}

// recorded is what the volume remembers; nil when nothing.
func (l *Look) recorded() *upgrades.Record {
	return l.record.get(func() *upgrades.Record {
		record, err := upgrades.Read(string(l.home))
		if err != nil {
			l.Log.Warn("looking for the record of upgrades", "error", err)
		}
		return record
	}, upgrades.Path(string(l.home)))
}

// askUpgrades asks the chain's state; nil when the node does not answer. It is asked again early
// when the planned height has come.
func (l *Look) askUpgrades(ctx context.Context, doc api.Node) *chainUpgrades {
	if doc.Sync.Height == 0 || l.RPC == nil {
		return nil
	}
	key := processOf(doc.Seid)
	if record := l.recorded(); record != nil && record.Plan != nil && doc.Sync.Height >= record.Plan.Height {
		key += " past " + record.Plan.Name
	}
	return l.plan.get(ctx, key, func(ctx context.Context) *chainUpgrades {
		told, err := askUpgrades(ctx, l.RPC())
		if err != nil {
			l.Log.Debug("asking for upgrades", "error", err)
			return nil
		}
		told.height = doc.Sync.Height
		return told
	})
}

// remember keeps what the state told, unless its process has ended since: its data may be on their
// way out.
func (l *Look) remember(before *upgrades.Record, told *chainUpgrades, note *upgrade.Stop, doc api.Node) *upgrades.Record {
	record := &upgrades.Record{Applied: told.applied, Plan: told.plan}
	if before != nil {
		record.Passed = before.Passed
	}
	if note != nil && told.height >= note.Height && !record.Has(note.Name) {
		record.Passed = note.Height
	}
	l.marked.Lock()
	defer l.marked.Unlock()
	if reflect.DeepEqual(before, record) || processOf(l.Seid()) != processOf(doc.Seid) {
		return record
	}
	if err := upgrades.Write(string(l.home), record); err != nil {
		l.Log.Warn("remembering upgrades", "error", err)
	}
	return record
}

// stoppedFor is the upgrade that the last process has stopped for; nil when it is unknown.
func stoppedFor(doc api.Node, note *upgrade.Stop) *api.Upgrade {
	if exit := doc.Seid.LastExit; exit != nil && exit.Upgrade != nil {
		return withKind(exit.Upgrade)
	}
	if note != nil {
		return upgradeOf(note.Plan)
	}
	return nil
}

// withKind is an upgrade that says whether it is a minor one. The gate leaves that to readers.
func withKind(u *api.Upgrade) *api.Upgrade {
	return upgradeOf(upgrade.Plan{Name: u.Name, Height: u.Height, Info: u.Info})
}

// applied lists what is applied, newest first. A binary that ends because it lacks an applied upgrade
// names the newest.
func applied(record *upgrades.Record, exit *api.Exit) []api.AppliedUpgrade {
	var all []api.AppliedUpgrade
	if record != nil {
		all = record.Applied[:min(len(record.Applied), maxApplied)]
	}
	if exit == nil || !isHandlerMissing(exit) || record != nil && record.Has(exit.Upgrade.Name) {
		return all
	}
	return slices.Concat([]api.AppliedUpgrade{{Name: exit.Upgrade.Name}}, all)
}

func isHandlerMissing(exit *api.Exit) bool {
	return exit.Reason == api.ExitUpgradeNeeded && exit.Upgrade != nil && exit.Upgrade.Height == 0
}

// needed is the upgrade that seid has stopped for and that is not applied. The note of a stop stays
// forever: what it says of the present is only known beside what is applied.
func needed(record *upgrades.Record, told *chainUpgrades, note *upgrade.Stop, exit *api.Exit) *api.Upgrade {
	open := func(u *api.Upgrade) bool {
		past := told != nil && told.height >= u.Height
		return !past && (record == nil || !record.Has(u.Name) && record.Passed != u.Height)
	}
	if exit != nil && exit.Reason == api.ExitUpgradeNeeded && exit.Upgrade != nil && exit.Upgrade.Height > 0 && open(exit.Upgrade) {
		return withKind(exit.Upgrade)
	}
	if record != nil && note != nil && open(upgradeOf(note.Plan)) {
		return upgradeOf(note.Plan)
	}
	return nil
}

// refusal is how the binary of this pod has refused the state. What ended before this sidecar began
// was perhaps another binary.
func (l *Look) refusal(doc api.Node) *api.UpgradeRefusal {
	exit := doc.Seid.LastExit
	if exit == nil || exit.Upgrade == nil || exit.At.Before(l.began) {
		return nil
	}
	if since := doc.Seid.Since; doc.Sync.Height > 0 && since != nil && l.Clock.Since(*since) >= refusalFades {
		return nil
	}
	r := &api.UpgradeRefusal{Kind: api.RefusedNeeded, Name: exit.Upgrade.Name, Message: exit.Message}
	switch {
	case isHandlerMissing(exit):
		r.Kind = api.RefusedHandlerMissing
	case exit.Reason == api.ExitTooEarly:
		r.Kind = api.RefusedTooEarly
	case exit.Reason != api.ExitUpgradeNeeded:
		return nil
	}
	return r
}
