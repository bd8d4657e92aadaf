package look

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var (
	now   = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	began = now.Add(-time.Hour)
)

func ago(d time.Duration) *time.Time { return new(now.Add(-d)) }

// running is a full node that was started a while ago and answers nobody.
func running(change ...func(*Facts)) Facts {
	f := Facts{
		Now: now, Began: began, Mode: seid.ModeFull, Gate: api.Gate{State: api.GateOpen},
		Seid: api.Seid{State: api.SeidRunning, Since: ago(5 * time.Minute), Starts: 1}, Ports: Ports{Known: true}, Trend: Trend{ClosingIn: true},
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

// answering is a node in sync.
func answering(change ...func(*Facts)) Facts {
	f := running(func(f *Facts) {
		f.Chain = &Chain{Height: 100, BlockTime: now.Add(-time.Second), Peers: new(3)}
		f.Ports, f.Trend.Answered = Ports{Known: true, P2P: true, RPC: true}, true
	})
	for _, c := range change {
		c(&f)
	}
	return f
}

// ended is a node whose process has ended.
func ended(state api.SeidState, exit api.Exit, change ...func(*Facts)) Facts {
	return running(append([]func(*Facts){func(f *Facts) { f.Seid.State, f.Seid.LastExit, f.Ports = state, &exit, Ports{Known: true} }}, change...)...)
}

// syncing is a node in its state sync.
func syncing(s StateSync, change ...func(*Facts)) Facts {
	return running(append([]func(*Facts){func(f *Facts) { f.StateSync, f.Ports.P2P = &s, true }}, change...)...)
}

func stale(f *Facts)    { f.Chain.BlockTime = now.Add(-2 * time.Minute) }
func idle(f *Facts)     { f.Trend.Idle = 3 * time.Minute }
func behindBy(f *Facts) { f.Chain.Lag, f.Chain.Behind = 5000, true }
func alone(f *Facts)    { f.Chain.Peers = new(0) }

func exit(reason api.ExitReason, before time.Duration) api.Exit {
	return api.Exit{Reason: reason, At: now.Add(-before)}
}

type verdict struct {
	State   api.SyncState
	Message string
	Stalled bool
	Ready   bool
}

func TestJudge(t *testing.T) {
	metrics := func(m StateSyncMetrics) StateSync { return StateSync{Metrics: &m} }
	for name, tc := range map[string]struct {
		facts Facts
		want  verdict
	}{
		"nobody has started seid":   {running(func(f *Facts) { f.Seid = api.Seid{} }), verdict{State: api.SyncNotRunning, Message: sayNotStarted}},
		"waits behind the gate":     {running(func(f *Facts) { f.Seid.State = api.SeidWaiting }), verdict{State: api.SyncNotRunning, Message: sayWaiting}},
		"refused at the open gate":  {running(func(f *Facts) { f.Seid.State = api.SeidWaiting; f.Gate.Refusal = "key differs" }), verdict{State: api.SyncNotRunning, Message: "seid is not started: key differs"}},
		"was stopped":               {ended(api.SeidExited, exit(api.ExitStopped, time.Second)), verdict{State: api.SyncNotRunning, Message: sayEnded}},
		"has crashed":               {ended(api.SeidExited, exit(api.ExitCrash, time.Second)), verdict{State: api.SyncNotRunning, Message: sayCrashed}},
		"ran out of disk":           {ended(api.SeidExited, exit(api.ExitOutOfDisk, time.Second)), verdict{State: api.SyncNotRunning, Message: sayOutOfDisk}},
		"reached its halt height":   {ended(api.SeidExited, exit(api.ExitHaltHeight, time.Second)), verdict{State: api.SyncHalted, Message: sayHalted}},
		"needs another binary":      {ended(api.SeidExited, exit(api.ExitUpgradeNeeded, time.Second)), verdict{State: api.SyncUpgradeNeeded, Message: sayUpgradeNeeded}},
		"waits after a halt":        {ended(api.SeidWaiting, exit(api.ExitHaltHeight, time.Minute)), verdict{State: api.SyncHalted, Message: sayHalted}},
		"halted in an earlier pod":  {ended(api.SeidWaiting, exit(api.ExitHaltHeight, 2*time.Hour)), verdict{State: api.SyncNotRunning, Message: sayWaiting}},
		"new binary after the stop": {ended(api.SeidWaiting, exit(api.ExitUpgradeNeeded, 2*time.Hour)), verdict{State: api.SyncNotRunning, Message: sayWaiting}},
		"old binary starts again": {ended(api.SeidRunning, exit(api.ExitUpgradeNeeded, time.Minute)),
			verdict{State: api.SyncUpgradeNeeded, Message: sayUpgradeNeeded}},
		"silent after it got past the upgrade": {ended(api.SeidRunning, exit(api.ExitUpgradeNeeded, time.Minute), func(f *Facts) { f.Trend.Answered = true }),
			verdict{State: api.SyncNotAnswering, Message: sayNotAnswering}},
		"new binary starts": {ended(api.SeidRunning, exit(api.ExitUpgradeNeeded, 2*time.Hour)), verdict{State: api.SyncStarting, Message: sayStarting}},
		"crashed with an upgrade note": {ended(api.SeidExited, exit(api.ExitCrash, time.Second), func(f *Facts) { f.Stop = &upgrade.Stop{Written: now.Add(-2 * time.Second)} }),
			verdict{State: api.SyncUpgradeNeeded, Message: sayUpgradeNeeded}},
		"crashed with an old note": {ended(api.SeidExited, exit(api.ExitCrash, time.Second), func(f *Facts) { f.Stop = &upgrade.Stop{Written: now.Add(-24 * time.Hour)} }),
			verdict{State: api.SyncNotRunning, Message: sayCrashed}},

		"has just started":       {running(), verdict{State: api.SyncStarting, Message: sayStarting}},
		"starts after a crash":   {running(func(f *Facts) { f.Seid.LastExit = new(exit(api.ExitCrash, 6*time.Minute)) }), verdict{State: api.SyncStarting, Message: sayStartingAgain}},
		"starts for too long":    {running(func(f *Facts) { f.Seid.Since = ago(11 * time.Minute) }), verdict{State: api.SyncStarting, Message: sayStarting, Stalled: true}},
		"commits before it runs": {running(func(f *Facts) { f.Committed = now.Add(-time.Second) }), verdict{State: api.SyncReplaying, Message: sayReplaying}},
		"committed long ago":     {running(func(f *Facts) { f.Committed = now.Add(-time.Hour) }), verdict{State: api.SyncStarting, Message: sayStarting}},
		"has stopped committing": {running(func(f *Facts) { f.Committed = now.Add(-3 * time.Minute) }), verdict{State: api.SyncStarting, Message: sayStarting}},
		"answered before":        {running(func(f *Facts) { f.Trend.Answered = true }), verdict{State: api.SyncNotAnswering, Message: sayNotAnswering}},
		"RPC open and silent": {running(func(f *Facts) { f.Ports.RPC, f.Trend.Open = true, 3*time.Second }),
			verdict{State: api.SyncNotAnswering, Message: sayNotAnswering}},
		"RPC has just opened": {running(func(f *Facts) { f.Ports.RPC, f.Trend.Open = true, 2*time.Second }),
			verdict{State: api.SyncStarting, Message: sayStarting}},
		"RPC has just opened after a state sync": {syncing(metrics(StateSyncMetrics{Snapshots: 2}), func(f *Facts) { f.Ports.RPC = true }),
			verdict{State: api.SyncStateSyncing, Message: sayVerifyingSnapshots}},
		"RPC switched off":       {running(func(f *Facts) { f.Ports.P2P, f.Ports.RPCOff = true, true }), verdict{State: api.SyncNotAnswering, Message: sayRPCOff}},
		"seed takes connections": {running(func(f *Facts) { f.Mode, f.Ports.P2P = seid.ModeSeed, true }), verdict{State: api.SyncInSync, Message: saySeed, Ready: true}},
		"seed loads":             {running(func(f *Facts) { f.Mode = seid.ModeSeed }), verdict{State: api.SyncStarting, Message: sayStarting}},

		"state sync, loading":            {running(func(f *Facts) { f.StateSync = &StateSync{} }), verdict{State: api.SyncStarting, Message: sayStarting}},
		"state sync, ports unknown":      {running(func(f *Facts) { f.StateSync, f.Ports = &StateSync{}, Ports{} }), verdict{State: api.SyncStateSyncing, Message: sayStateSyncing}},
		"state sync, done before":        {running(func(f *Facts) { f.StateSync, f.Ports = &StateSync{HasState: true}, Ports{} }), verdict{State: api.SyncStarting, Message: sayStarting}},
		"state sync without metrics":     {syncing(StateSync{}), verdict{State: api.SyncStateSyncing, Message: sayStateSyncing}},
		"stalled without metrics":        {syncing(StateSync{}, idle), verdict{State: api.SyncStateSyncing, Message: sayStateSyncStalled, Stalled: true}},
		"waits for a second peer":        {syncing(metrics(StateSyncMetrics{Peers: new(1)})), verdict{State: api.SyncStateSyncing, Message: sayNeedsPeers}},
		"waits for snapshots":            {syncing(metrics(StateSyncMetrics{Peers: new(2)})), verdict{State: api.SyncStateSyncing, Message: sayLookingForSnapshots}},
		"nobody has a snapshot":          {syncing(metrics(StateSyncMetrics{Peers: new(2)}), idle), verdict{State: api.SyncStateSyncing, Message: sayNoSnapshotOffered, Stalled: true}},
		"verifies snapshots":             {syncing(metrics(StateSyncMetrics{Snapshots: 2})), verdict{State: api.SyncStateSyncing, Message: sayVerifyingSnapshots}},
		"no snapshot verifies":           {syncing(metrics(StateSyncMetrics{Snapshots: 2, ChunksTotal: 9}), idle), verdict{State: api.SyncStateSyncing, Message: sayNoUsableSnapshot, Stalled: true}},
		"fetches chunks":                 {syncing(metrics(StateSyncMetrics{Snapshots: 2, Chunks: 1, ChunksTotal: 9})), verdict{State: api.SyncStateSyncing, Message: sayFetchingChunks}},
		"chunks do not come":             {syncing(metrics(StateSyncMetrics{Chunks: 1, ChunksTotal: 9}), idle), verdict{State: api.SyncStateSyncing, Message: sayChunksStalled, Stalled: true}},
		"fetches chunks without metrics": {syncing(StateSync{ChunkFiles: 2}), verdict{State: api.SyncStateSyncing, Message: sayFetchingChunks}},
		"fetches headers":                {syncing(metrics(StateSyncMetrics{Chunks: 9, ChunksTotal: 9, BackfilledTotal: 50})), verdict{State: api.SyncStateSyncing, Message: sayBackfilling}},
		"headers do not come":            {syncing(metrics(StateSyncMetrics{BackfilledTotal: 50}), idle), verdict{State: api.SyncStateSyncing, Message: sayBackfillStalled, Stalled: true}},
		"restores from the volume":       {syncing(StateSync{Local: true}), verdict{State: api.SyncStateSyncing, Message: sayLocalSnapshot}},
		"cannot restore":                 {syncing(StateSync{Local: true}, idle), verdict{State: api.SyncStateSyncing, Message: sayLocalSnapshotStalled, Stalled: true}},

		"keeps up":                    {answering(), verdict{State: api.SyncInSync, Message: sayInSync, Ready: true}},
		"keeps up, a little behind":   {answering(func(f *Facts) { f.Chain.Lag = 10 }), verdict{State: api.SyncInSync, Message: sayInSync, Ready: true}},
		"about to restart":            {answering(func(f *Facts) { f.Draining = true }), verdict{State: api.SyncInSync, Message: sayInSync}},
		"makes blocks alone":          {answering(alone), verdict{State: api.SyncInSync, Message: sayInSync, Ready: true}},
		"answers though nobody knows": {answering(func(f *Facts) { f.Seid = api.Seid{} }), verdict{State: api.SyncInSync, Message: sayInSync, Ready: true}},
		"no block, no peer":           {answering(alone, func(f *Facts) { f.Chain.Height = 0 }), verdict{State: api.SyncNoPeers, Message: sayNoPeers}},
		"no block, will make one":     {answering(alone, func(f *Facts) { f.Chain.Height, f.Signs = 0, true }), verdict{State: api.SyncNoBlocks, Message: sayNoFirstBlock}},
		"no block for long":           {answering(idle, func(f *Facts) { f.Chain.Height = 0 }), verdict{State: api.SyncNoBlocks, Message: sayNoFirstBlock, Stalled: true}},
		"old block, no peer":          {answering(stale, alone), verdict{State: api.SyncNoPeers, Message: sayNoPeers}},
		"makes blocks alone, when needed": {answering(stale, alone, func(f *Facts) { f.Chain.OnlyValidator, f.Quiet = true, true }),
			verdict{State: api.SyncInSync, Message: sayQuiet, Ready: true}},
		"makes blocks when needed, not alone": {answering(stale, alone, func(f *Facts) { f.Quiet = true }), verdict{State: api.SyncNoPeers, Message: sayNoPeers}},
		"makes blocks alone, and has stopped": {answering(stale, alone, func(f *Facts) { f.Chain.OnlyValidator = true }),
			verdict{State: api.SyncNoPeers, Message: sayNoPeers}},
		"behind, then lost its peers": {answering(stale, alone, behindBy), verdict{State: api.SyncNoPeers, Message: sayNoPeers}},
		"the chain stands still":      {answering(stale, idle), verdict{State: api.SyncNoBlocks, Message: sayNoNewBlock, Stalled: true, Ready: true}},
		"old block, still fetching":   {answering(stale, func(f *Facts) { f.Chain.CatchingUp = true }), verdict{State: api.SyncCatchingUp, Message: sayCatchingUp}},
		"old block, half an answer":   {answering(stale, func(f *Facts) { f.Chain.Peers = nil }), verdict{State: api.SyncNotAnswering, Message: sayHalfAnswering}},
		"comes closer":                {answering(stale, behindBy), verdict{State: api.SyncCatchingUp, Message: sayCatchingUp}},
		"does not come closer":        {answering(stale, behindBy, func(f *Facts) { f.Trend.ClosingIn = false }), verdict{State: api.SyncBehind, Message: sayBehind}},
		"stuck behind": {answering(stale, behindBy, idle, func(f *Facts) { f.Trend.ClosingIn = false }),
			verdict{State: api.SyncBehind, Message: sayBehind, Stalled: true}},
		"halted for an upgrade, still answering": {answering(stale, func(f *Facts) { f.Stop = &upgrade.Stop{Plan: upgrade.Plan{Height: 101}, Written: now} }),
			verdict{State: api.SyncUpgradeNeeded, Message: sayUpgradeNeeded}},
		"the binary before has halted for an upgrade, this one waits for others": {answering(stale, func(f *Facts) {
			f.Stop = &upgrade.Stop{Plan: upgrade.Plan{Height: 101}, Written: f.Seid.Since.Add(-time.Minute)}
		}), verdict{State: api.SyncNoBlocks, Message: sayNoNewBlock, Ready: true}},
		"an upgrade long done": {answering(stale, func(f *Facts) { f.Stop = &upgrade.Stop{Plan: upgrade.Plan{Height: 50}} }),
			verdict{State: api.SyncNoBlocks, Message: sayNoNewBlock, Ready: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(tc.facts)
			have := verdict{got.State, got.Message, got.Stalled, Ready(got)}
			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if regexp.MustCompile(`[0-9]`).MatchString(got.Message) || got.Message == "" {
				t.Errorf("the sentence holds what changes by itself: %q", got.Message)
			}
			if !slices.Contains(States(), got.State) {
				t.Errorf("%s is not in States", got.State)
			}
		})
	}
}

func TestJudge_ShowsWhatChangesInFields(t *testing.T) {
	got := Judge(answering(behindBy))
	want := api.Sync{State: api.SyncCatchingUp, Message: sayCatchingUp, Height: 100, Lag: 5000, Peers: 3, BlockTime: ago(time.Second)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJudge_StateSync_ShowsItsProgress(t *testing.T) {
	for name, tc := range map[string]struct {
		sync StateSync
		want *api.Progress
	}{
		"nothing yet":     {StateSync{Metrics: &StateSyncMetrics{}}, nil},
		"chunks":          {StateSync{Metrics: &StateSyncMetrics{Chunks: 3, ChunksTotal: 8}}, &api.Progress{Done: 3, Total: 8, Unit: "chunks"}},
		"second snapshot": {StateSync{Metrics: &StateSyncMetrics{Chunks: 12, ChunksTotal: 8}}, &api.Progress{Done: 8, Total: 8, Unit: "chunks"}},
		"chunks on disk":  {StateSync{ChunkFiles: 4}, &api.Progress{Done: 4, Unit: "chunks"}},
		"headers":         {StateSync{Metrics: &StateSyncMetrics{Chunks: 8, ChunksTotal: 8, Backfilled: 10, BackfilledTotal: 90}}, &api.Progress{Done: 10, Total: 90, Unit: "blocks"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Judge(syncing(tc.sync)).Progress); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
