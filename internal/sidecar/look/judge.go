package look

import (
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The times after which something is called by its name.
const (
	// freshBlock is how old the latest block of a healthy chain may be.
	freshBlock = time.Minute
	// closingWindow is how long a node that is behind may go without catching up.
	closingWindow = time.Minute
	// blockStall is how long a node that is behind may stay at one height.
	blockStall = time.Minute
	// stateSyncStall is how long a state sync may show no progress.
	stateSyncStall = 2 * time.Minute
	// startStall is how long seid may take until it opens a port.
	startStall = 10 * time.Minute
	// replayPause is how long ago the last commit of a seid that replays may be.
	replayPause = 2 * time.Minute
	// openGrace is how long seid may have its RPC open before it answers. It opens between
	// two glances too: at the RPC, and then at the ports.
	openGrace = 3 * time.Second
	// stopNoteAge is how long before an exit the note of an upgrade belongs to it.
	stopNoteAge = 2 * time.Minute
)

// Judge decides the sync state of a node. It is a function of the facts alone.
func Judge(f Facts) api.Sync {
	var s api.Sync
	switch {
	case f.Seid.State == api.SeidWaiting || f.Seid.State == api.SeidExited:
		s = stopped(f)
	case f.Chain != nil:
		s = following(f)
	case f.Seid.State == "" && !f.Ports.P2P && !f.Ports.RPC:
		s = state(api.SyncNotRunning, sayNotStarted)
	default:
		s = silent(f)
	}
	s.Draining = f.Draining
	return s
}

// state makes a verdict.
func state(s api.SyncState, message string) api.Sync { return api.Sync{State: s, Message: message} }

// stopped is a node whose process does not run.
func stopped(f Facts) api.Sync {
	if ended, ok := endedForGood(f); ok {
		return ended
	}
	if f.Gate.State == api.GateOpen && f.Gate.Refusal != "" {
		return state(api.SyncNotRunning, "seid is not started: "+f.Gate.Refusal)
	}
	if f.Seid.State == api.SeidWaiting {
		return state(api.SyncNotRunning, sayWaiting)
	}
	if exit := f.Seid.LastExit; exit != nil {
		switch exit.Reason {
		case api.ExitCrash:
			return state(api.SyncNotRunning, sayCrashed)
		case api.ExitOutOfDisk:
			return state(api.SyncNotRunning, sayOutOfDisk)
		case api.ExitTooEarly:
			return state(api.SyncNotRunning, sayTooEarly)
		default: // stopped, or unknown
		}
	}
	return state(api.SyncNotRunning, sayEnded)
}

// endedForGood recognises ends that another start of the same binary only repeats. An end
// before this sidecar began was perhaps that of another binary.
func endedForGood(f Facts) (api.Sync, bool) {
	exit := f.Seid.LastExit
	if exit == nil || f.Seid.State != api.SeidExited && exit.At.Before(f.Began) {
		return api.Sync{}, false
	}
	switch {
	case exit.Reason == api.ExitUpgradeNeeded || f.stoppedForUpgrade(exit):
		return state(api.SyncUpgradeNeeded, sayUpgradeNeeded), true
	case exit.Reason == api.ExitHaltHeight:
		return state(api.SyncHalted, sayHalted), true
	}
	return api.Sync{}, false
}

// stoppedForUpgrade recognises by its note a stop whose reason nobody heard.
func (f Facts) stoppedForUpgrade(exit *api.Exit) bool {
	if f.Stop == nil || exit.Reason != api.ExitCrash && exit.Reason != api.ExitUnknown {
		return false
	}
	before := exit.At.Sub(f.Stop.Written)
	return before.Abs() <= stopNoteAge
}

// silent is a node that runs and whose RPC does not answer.
func silent(f Facts) api.Sync {
	if f.Mode == seid.ModeSeed {
		return silentSeed(f)
	}
	if ended, ok := endedForGood(f); ok && !f.Trend.Answered {
		return ended // the same binary on its way to the same end
	}
	switch {
	case f.Trend.Answered, f.Ports.RPC && f.Trend.Open >= openGrace:
		return state(api.SyncNotAnswering, sayNotAnswering)
	case f.stateSyncing():
		return stateSyncing(f)
	case f.Ports.RPCOff && f.Ports.P2P:
		return state(api.SyncNotAnswering, sayRPCOff)
	case f.replaying():
		return state(api.SyncReplaying, sayReplaying)
	}
	return starting(f)
}

func starting(f Facts) api.Sync {
	s := state(api.SyncStarting, sayStarting)
	if exit := f.Seid.LastExit; exit != nil && exit.Reason == api.ExitCrash && !exit.At.Before(f.Began) {
		s.Message = sayStartingAgain
	}
	s.Stalled = f.Seid.Since != nil && f.Now.Sub(*f.Seid.Since) >= startStall
	return s
}

// silentSeed: a seed has no RPC and no blocks. That it takes connections is all there is.
func silentSeed(f Facts) api.Sync {
	if f.Ports.P2P {
		return state(api.SyncInSync, saySeed)
	}
	return starting(f)
}

// replaying: before it opens a port, seid commits state only when it applies blocks that it
// has on disk.
func (f Facts) replaying() bool {
	return f.Seid.Since != nil && f.Committed.After(*f.Seid.Since) && f.Now.Sub(f.Committed) < replayPause && !f.Ports.P2P
}

// following is a node that answers.
func following(f Facts) api.Sync {
	s := standing(f)
	s.Height, s.Lag = f.Chain.Height, f.Chain.Lag
	if f.Chain.Peers != nil {
		s.Peers = *f.Chain.Peers
	}
	if f.Chain.Height > 0 && !f.Chain.BlockTime.IsZero() {
		s.BlockTime = new(f.Chain.BlockTime)
	}
	return s
}

// standing is the rule of readiness: a block, a small distance to the peers, and either a
// fresh block or somebody to compare with.
func standing(f Facts) api.Sync {
	c := f.Chain
	alone := c.Peers != nil && *c.Peers == 0
	switch {
	case c.Height < 1 && alone && !f.Signs:
		return state(api.SyncNoPeers, sayNoPeers)
	case c.Height < 1:
		return stalledAfter(state(api.SyncNoBlocks, sayNoFirstBlock), f.Trend.Idle, stateSyncStall)
	case c.Behind && alone:
		return state(api.SyncNoPeers, sayNoPeers)
	case c.Behind:
		return behind(f)
	case f.Now.Sub(c.BlockTime) <= freshBlock:
		return state(api.SyncInSync, sayInSync)
	case f.stoppedAt(c.Height):
		return state(api.SyncUpgradeNeeded, sayUpgradeNeeded)
	case alone && c.OnlyValidator && f.Quiet:
		return state(api.SyncInSync, sayQuiet) // the next block comes with the next transaction
	case alone:
		return state(api.SyncNoPeers, sayNoPeers)
	case c.Peers == nil:
		return state(api.SyncNotAnswering, sayHalfAnswering)
	case c.CatchingUp:
		return behind(f)
	}
	return stalledAfter(state(api.SyncNoBlocks, sayNoNewBlock), f.Trend.Idle, blockStall)
}

// stoppedAt reports whether the process that runs has stopped for an upgrade after this height. The
// note of a process before is not its own: the binary that has the upgrade waits here for others.
func (f Facts) stoppedAt(height int64) bool {
	return f.Stop != nil && f.Stop.Height == height+1 && (f.Seid.Since == nil || !f.Stop.Written.Before(*f.Seid.Since))
}

func behind(f Facts) api.Sync {
	s := state(api.SyncCatchingUp, sayCatchingUp)
	if !f.Trend.ClosingIn {
		s = state(api.SyncBehind, sayBehind)
	}
	return stalledAfter(s, f.Trend.Idle, blockStall)
}

func stalledAfter(s api.Sync, idle, limit time.Duration) api.Sync {
	s.Stalled = idle >= limit
	return s
}

// Ready says whether clients may be sent to a node: it keeps up, or its whole chain makes no blocks. A chain
// without new blocks is no reason to take every node out of its Services.
func Ready(s api.Sync) bool {
	if s.Draining {
		return false
	}
	return s.State == api.SyncInSync || s.State == api.SyncNoBlocks && s.Height > 0 && s.Peers > 0
}
