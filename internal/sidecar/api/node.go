package api

import "time"

// PathNode answers with the Node document.
const PathNode = "/v0/node"

// Node is the body of GET /v0/node: all that can be seen of a node from inside its pod.
// What is not known is empty, and nothing may be concluded from it.
type Node struct {
	APILevel int  `json:"apiLevel"`
	Gate     Gate `json:"gate"`
	Home     Home `json:"home"`
	Seid     Seid `json:"seid"`
	Sync     Sync `json:"sync"`
	// Upgrade is the plan that the chain has scheduled; nil when there is none.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Upgrades is what is known of the chain's upgrades on the volume; nil: an older sidecar.
	Upgrades *Upgrades `json:"upgrades,omitempty"`
	// Snapshots are the finished state-sync snapshots on the volume, newest first.
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	// Published is about the snapshots in the bucket; nil: an older sidecar, which publishes none
	// by itself.
	Published *Published `json:"published,omitempty"`
	Disk      *Disk      `json:"disk,omitempty"`
	// ResultExport is the standing export of results; nil when nobody has asked for one.
	ResultExport *StandingExport `json:"resultExport,omitempty"`
}

// GateState is whether seid may start.
type GateState string

// The states of the start gate.
const (
	// GateClosed: nobody has opened the gate of this sidecar yet.
	GateClosed GateState = "closed"
	GateOpen   GateState = "open"
	// GateHeld: an operation has closed the gate and keeps it closed.
	GateHeld GateState = "held"
)

// Gate is the start gate.
type Gate struct {
	State GateState  `json:"state"`
	Since *time.Time `json:"since,omitempty"`
	// HeldBy is the id of the mark-not-ready task that holds the gate; empty unless it is held.
	// Deleting that task releases the gate.
	HeldBy string `json:"heldBy,omitempty"`
	// Opened is what the gate was opened for; nil unless it is open.
	Opened *Opening `json:"opened,omitempty"`
	// Refusal says why seid is not started although the gate is open.
	Refusal string `json:"refusal,omitempty"`
}

// Opening is what a gate was opened for. An empty field was not asked about.
type Opening struct {
	ConfigHash       string `json:"configHash,omitempty"`
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	// ByPermission: the sidecar opened the gate on the permission that an operator left
	// on the volume, because no operator was heard of.
	ByPermission bool `json:"byPermission,omitempty"`
}

// HomeStage is how far the home directory has come.
type HomeStage string

// The stages of a home directory.
const (
	// HomeEmpty: there is no configuration, or nobody has configured the genesis yet.
	HomeEmpty HomeStage = "empty"
	// HomePrepared: seid could start and has not yet.
	HomePrepared HomeStage = "prepared"
	// HomeFirstSync: seid has started and was not in sync yet.
	HomeFirstSync HomeStage = "firstSync"
	// HomeSynced: the node was in sync at least once.
	HomeSynced HomeStage = "synced"
)

// Home is the home directory on the volume.
type Home struct {
	Stage       HomeStage `json:"stage"`
	GenesisHash string    `json:"genesisHash,omitempty"`
	// ConfigHash is the hash that came with the configuration that is on disk. Empty: it
	// came without one, or the files were edited since.
	ConfigHash string `json:"configHash,omitempty"`
	// Validation is the last verdict on the files that are on disk; nil: not validated.
	Validation *Validation `json:"validation,omitempty"`
	// Refused is the last configuration that failed validation and was replaced by the
	// last good one; nil when the files on disk are newer than that.
	Refused *Refusal `json:"refused,omitempty"`
	// Emptied: the chain data was deleted, and neither a snapshot nor seid has made any since.
	Emptied bool `json:"emptied,omitempty"`
	// PartlyDeleted: a reset of the data has begun and is not complete. seid does not start.
	PartlyDeleted bool `json:"partlyDeleted,omitempty"`
	// StateSync: seid is set up to fetch its first state from peers or a local snapshot.
	StateSync bool   `json:"stateSync,omitempty"`
	NodeID    string `json:"nodeId,omitempty"`
	// ConsensusAddress is the address of the key that seid would sign with, mounted or on
	// the volume, in upper-case hex.
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	// Signs: with this configuration seid signs blocks when its key is in the validator set.
	Signs bool `json:"signs"`
}

// Validation is a verdict on a configuration.
type Validation struct {
	Valid bool `json:"valid"`
	// SeidVersion is the version the verdict is for.
	SeidVersion string `json:"seidVersion,omitempty"`
	// Tried: seid itself was started on the configuration.
	Tried bool `json:"tried,omitempty"`
	// Error is why the configuration is not valid, or why it was not tried.
	Error string `json:"error,omitempty"`
}

// Refusal is a configuration that failed validation.
type Refusal struct {
	ConfigHash  string `json:"configHash,omitempty"`
	SeidVersion string `json:"seidVersion,omitempty"`
	Error       string `json:"error"`
}

// SeidState is the state of the chain process.
type SeidState string

// The states of the chain process.
const (
	// SeidWaiting: the process waits behind the gate.
	SeidWaiting SeidState = "waiting"
	SeidRunning SeidState = "running"
	// SeidExited: the process has ended and its container has not started again.
	SeidExited SeidState = "exited"
)

// Seid is the chain process.
type Seid struct {
	State SeidState  `json:"state,omitempty"`
	Since *time.Time `json:"since,omitempty"`
	// Version is what the binary in the pod calls itself.
	Version string `json:"version,omitempty"`
	// ConfigHash is the hash of the configuration the process was started with, and
	// ConsensusAddress that of the key; both empty unless it runs.
	ConfigHash       string `json:"configHash,omitempty"`
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	// RestartDue lists the keys, as file:section.key, that differ between what the
	// process was started with and what is on disk and that only a restart picks up.
	RestartDue []string `json:"restartDue,omitempty"`
	// Starts counts the starts since the volume was made.
	Starts int `json:"starts,omitempty"`
	// LastExit is how the process before this one ended.
	LastExit *Exit `json:"lastExit,omitempty"`
	// Divergence is the block of the chain that seid refuses because its own state has come to
	// something else; nil while it refuses none.
	Divergence *Divergence `json:"divergence,omitempty"`
}

// ExitReason is why seid ended.
type ExitReason string

// The reasons of an exit.
const (
	// ExitStopped: it was asked to.
	ExitStopped ExitReason = "stopped"
	// ExitHaltHeight: it reached its halt height.
	ExitHaltHeight ExitReason = "haltHeight"
	// ExitUpgradeNeeded: the chain needs another binary from here on.
	ExitUpgradeNeeded ExitReason = "upgradeNeeded"
	// ExitTooEarly: the binary has an upgrade that is not due yet.
	ExitTooEarly  ExitReason = "tooEarly"
	ExitOutOfDisk ExitReason = "outOfDisk"
	ExitCrash     ExitReason = "crash"
	// ExitUnknown: the gate that watched it ended first.
	ExitUnknown ExitReason = "unknown"
)

// Exit is the end of a chain process.
type Exit struct {
	At     time.Time  `json:"at"`
	Reason ExitReason `json:"reason"`
	Code   int        `json:"code"`
	// Signal ended the process; empty when it ended by itself.
	Signal string `json:"signal,omitempty"`
	// Message is the last panic or error line.
	Message string `json:"message,omitempty"`
	// Upgrade is the upgrade that the process ended for. Without a height it is applied already,
	// or, with ExitTooEarly, still ahead.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Divergence is the block that the process has refused; nil when it has refused none.
	Divergence *Divergence `json:"divergence,omitempty"`
}

// Upgrade is an upgrade of the chain.
type Upgrade struct {
	Name   string `json:"name"`
	Height int64  `json:"height"`
	Info   string `json:"info,omitempty"`
	// Minor: the new binary may run before the height.
	Minor bool `json:"minor,omitempty"`
}

// Upgrades is what is known of the chain's upgrades on a volume. It outlives processes and pods.
type Upgrades struct {
	// Known: the node's own state was asked which upgrades are applied. Otherwise Applied holds no
	// more than what seid said when it ended.
	Known bool `json:"known"`
	// Applied are the upgrades that are applied to the state, newest first.
	Applied []AppliedUpgrade `json:"applied,omitempty"`
	// Needed is the upgrade that seid has stopped for and that is not applied yet.
	Needed *Upgrade `json:"needed,omitempty"`
	// Refusal is how the binary of this pod has refused the state; nil when it has not.
	Refusal *UpgradeRefusal `json:"refusal,omitempty"`
	// EstimatedTime is about when the chain gets to the height of the upgrade that is planned, by
	// the pace of its last blocks; nil when it cannot be determined. It changes all the time.
	EstimatedTime *time.Time `json:"estimatedTime,omitempty"`
}

// AppliedUpgrade is an upgrade that is applied.
type AppliedUpgrade struct {
	Name string `json:"name"`
	// Height is that of the block that applied it; 0 when it is unknown.
	Height int64 `json:"height,omitempty"`
}

// UpgradeRefusal is a binary that does not run on a state because of an upgrade.
type UpgradeRefusal struct {
	Kind UpgradeRefusalKind `json:"kind"`
	// Name of the upgrade.
	Name string `json:"name"`
	// Message is the line in which seid says so.
	Message string `json:"message,omitempty"`
}

// UpgradeRefusalKind is why a binary does not run on a state.
type UpgradeRefusalKind string

// The kinds of refusals.
const (
	// RefusedNeeded: the upgrade is due, and the binary does not have it.
	RefusedNeeded UpgradeRefusalKind = "needed"
	// RefusedHandlerMissing: the upgrade is applied, and the binary does not have it.
	RefusedHandlerMissing UpgradeRefusalKind = "handlerMissing"
	// RefusedTooEarly: the binary has the upgrade, which is not due yet.
	RefusedTooEarly UpgradeRefusalKind = "tooEarly"
)

// SyncState is the sync state of the node.
type SyncState string

// The states of a node in its chain.
const (
	SyncInSync SyncState = "inSync"
	// SyncNotRunning: seid waits behind the gate or has ended.
	SyncNotRunning SyncState = "notRunning"
	// SyncStarting: seid runs and does not answer yet.
	SyncStarting SyncState = "starting"
	// SyncReplaying: seid applies blocks it has on disk.
	SyncReplaying SyncState = "replaying"
	// SyncStateSyncing: seid fetches its first state from peers; RPC stays closed meanwhile.
	SyncStateSyncing SyncState = "stateSyncing"
	// SyncCatchingUp: the node is behind and catching up.
	SyncCatchingUp SyncState = "catchingUp"
	// SyncBehind: the node is behind and not catching up.
	SyncBehind   SyncState = "behind"
	SyncNoPeers  SyncState = "noPeers"
	SyncNoBlocks SyncState = "noBlocks"
	// SyncHalted: the node stopped at its halt height.
	SyncHalted SyncState = "halted"
	// SyncUpgradeNeeded: the node stopped because the chain needs another binary.
	SyncUpgradeNeeded SyncState = "upgradeNeeded"
	// SyncNotAnswering: seid answered before, or has its RPC open, and does not answer.
	SyncNotAnswering SyncState = "notAnswering"
)

// Sync is the sync state of the node, with details.
type Sync struct {
	State SyncState `json:"state"`
	// Message is one sentence for people. It holds nothing that changes by itself.
	Message string `json:"message,omitempty"`
	// Stalled: the node makes no progress in this state.
	Stalled bool  `json:"stalled,omitempty"`
	Height  int64 `json:"height,omitempty"`
	// Lag is the distance to the highest peer.
	Lag   int64 `json:"lag,omitempty"`
	Peers int   `json:"peers,omitempty"`
	// BlockTime is the time of the latest block.
	BlockTime *time.Time `json:"blockTime,omitempty"`
	// Progress is how far a state sync or replay has come.
	Progress *Progress `json:"progress,omitempty"`
	// Draining: the node is about to be restarted and has left its Services.
	Draining bool `json:"draining,omitempty"`
}

// Snapshot is a state-sync snapshot on the volume.
type Snapshot struct {
	Height int64  `json:"height"`
	Format uint32 `json:"format"`
	Chunks int    `json:"chunks"`
}

// Published says how publishing the node's snapshots stands.
type Published struct {
	// Keep is how many snapshots of the chain stay in the bucket; 0: none are published.
	Keep int32 `json:"keep"`
	// Height is the newest snapshot of this node that is in the bucket, and Time when it was
	// seen to be there; 0 and nil when there is none yet.
	Height int64      `json:"height,omitempty"`
	Time   *time.Time `json:"time,omitempty"`
	// Error is why the last try failed; empty when it did not. It holds nothing that changes
	// by itself.
	Error string `json:"error,omitempty"`
}

// Disk is the file system of the home directory, in bytes.
type Disk struct {
	Size int64 `json:"size"`
	Free int64 `json:"free"`
	// Used is what the home itself takes; 0 until it was measured.
	Used int64 `json:"used,omitempty"`
}

// StandingExport is the export that the sidecar sees to by itself: every block is compared with that of another node.
type StandingExport struct {
	// Hash is the name under which it was asked for.
	Hash string `json:"hash"`
	// Bucket is the address without its options.
	Bucket       string `json:"bucket"`
	Prefix       string `json:"prefix,omitempty"`
	CanonicalRPC string `json:"canonicalRpc"`
	// Height is the last one that is in the bucket. It moves by pages, not by blocks.
	Height int64 `json:"height,omitempty"`
	// Problem is why nothing can be compared or exported now; it is tried again.
	Problem string `json:"problem,omitempty"`
	// Divergence ended the export; nil while all blocks agree.
	Divergence *Divergence `json:"divergence,omitempty"`
}

// Divergence is the first block on which two nodes do not agree.
type Divergence struct {
	// Height of the block; 0 when seid has refused it without a word on its height.
	Height int64 `json:"height"`
	// Layer is 0 for block headers, 1 for transaction results, 2 for EVM state.
	Layer int    `json:"layer"`
	Field string `json:"field"`
	// Report is the object in the bucket that has all of it; empty when there is none.
	Report string `json:"report"`
	// Message is the line in which seid itself refuses the block; empty when the comparison has
	// found the difference.
	Message string `json:"message,omitempty"`
}

// PathGate is where the gate asks, over loopback, whether seid may start.
const PathGate = "/v0/gate"

// GateAddressParam is the query parameter in which the gate names the address that seid
// would sign with: empty when it signs with none, GateAddressUnknown when it would sign and
// the key cannot be read.
const (
	GateAddressParam   = "address"
	GateAddressUnknown = "unknown"
)

// GateAnswer is the body of GET /v0/gate. It is public and holds no more than a word.
type GateAnswer struct {
	State GateState `json:"state"`
	// Refusal says why seid must not start although the gate is open.
	Refusal string `json:"refusal,omitempty"`
}
