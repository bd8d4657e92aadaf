package look

import (
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Facts is all that Judge knows of a node.
type Facts struct {
	Now time.Time
	// Began is when this sidecar began to look. What ended before belongs to another pod,
	// perhaps to another binary.
	Began time.Time
	Gate  api.Gate
	Seid  api.Seid
	Mode  seid.Mode
	// Signs: seid makes blocks, so it may have to do without peers.
	Signs bool
	// Quiet: seid makes no block while there are no transactions.
	Quiet bool
	// Draining: a task is about to restart the node.
	Draining bool

	// Chain is what the node answered; nil: it did not.
	Chain *Chain
	Ports Ports
	// StateSync is the state sync that config.toml asks for; nil: it asks for none.
	StateSync *StateSync
	// Committed is when state was last committed to disk; zero: unknown or never.
	Committed time.Time
	// Stop is the note of a seid that stopped for an upgrade; nil: there is none.
	Stop *upgrade.Stop

	Trend Trend
}

// Chain is what the node says of itself and its chain.
type Chain struct {
	Height int64
	// Lag is the distance to the highest peer, Behind the node's own verdict on it.
	Lag    int64
	Behind bool
	// CatchingUp: the node fetches blocks and takes no part in consensus. False says
	// nothing: nodes far behind have been seen to say so.
	CatchingUp bool
	BlockTime  time.Time
	// Peers is the number of connected peers; nil: the node did not say.
	Peers *int
	// OnlyValidator: the node makes the chain's blocks alone. It is not asked when there are
	// peers.
	OnlyValidator bool
}

// Ports says on which of its ports seid listens. A seid that starts opens the peer-to-peer
// port after it has loaded and replayed, then fetches its state if it has to, and opens the
// RPC last.
type Ports struct {
	// Known is false where the kernel's tables cannot be read.
	Known    bool
	P2P, RPC bool
	// RPCOff: the configuration gives the RPC no address.
	RPCOff bool
}

// StateSync is how far a state sync has come.
type StateSync struct {
	// Local: the state comes from a snapshot on the volume, not from peers.
	Local bool
	// HasState: there is committed state, so seid skips the state sync when it starts.
	HasState bool
	// Metrics is what seid's metrics say; nil: the port does not answer.
	Metrics *StateSyncMetrics
	// ChunkFiles is the number of chunks that wait on disk to be applied, Restored the
	// size of the state that was written so far.
	ChunkFiles int
	Restored   int64
}

// StateSyncMetrics are the metrics by which seid reports a state sync.
type StateSyncMetrics struct {
	// Peers is nil until seid counted one.
	Peers                       *int
	Snapshots                   int64
	Chunks, ChunksTotal         int64
	Backfilled, BackfilledTotal int64
}

// work is a number that changes whenever a state sync makes progress.
func (s *StateSync) work() int64 {
	if s == nil {
		return 0
	}
	sum := int64(s.ChunkFiles) + s.Restored
	if m := s.Metrics; m != nil {
		sum += m.Snapshots + m.Chunks + m.Backfilled
	}
	return sum
}

// Trend is what was seen over time of the running process.
type Trend struct {
	// Answered: this process has answered before.
	Answered bool
	// Open is for how long the RPC port has been seen open.
	Open time.Duration
	// ClosingIn: the distance to the peers shrinks, or was not watched for long enough.
	ClosingIn bool
	// Idle is for how long neither height nor state sync has moved.
	Idle time.Duration
}
