package look

// What people read. A sentence names a kind of trouble and holds nothing that changes by
// itself: heights, counts and times have their own fields.
const (
	sayInSync = "the node is in sync with its chain"
	sayQuiet  = "the node is its chain's only validator and makes no block without transactions"
	saySeed   = "the seed accepts connections; it does not follow the chain"

	sayNotStarted    = "seid has not been started yet"
	sayWaiting       = "seid is waiting for the start gate to open"
	sayEnded         = "seid has exited"
	sayCrashed       = "seid has crashed; its last error is in seid.lastExit"
	sayOutOfDisk     = "seid has exited: the disk is full; expand the volume"
	sayHalted        = "seid has stopped at its halt height"
	sayUpgradeNeeded = "seid has stopped: the chain needs another binary from this height on"
	sayTooEarly      = "seid has exited: its binary has an upgrade that is not due yet"

	sayStarting      = "seid has started but does not answer yet"
	sayStartingAgain = "seid crashed and was restarted; its last error is in seid.lastExit"
	sayReplaying     = "seid is replaying the blocks on disk"
	sayNotAnswering  = "seid is running, but its RPC no longer answers"
	sayHalfAnswering = "seid answers only some RPC calls"
	sayRPCOff        = "seid is running, but its RPC is off: it is unknown whether seid is in sync"

	sayNoPeers      = "no peers"
	sayNoFirstBlock = "no block yet"
	sayNoNewBlock   = "no new block, and no peer is far ahead"
	sayCatchingUp   = "the node is behind its peers and catching up"
	sayBehind       = "the node is behind its peers and not catching up"

	sayStateSyncing        = "seid syncs its state from its peers"
	sayNeedsPeers          = "state sync waits for two connected peers"
	sayLookingForSnapshots = "state sync waits for a peer that offers a snapshot"
	sayVerifyingSnapshots  = "state sync verifies the offered snapshots with its witnesses"
	sayFetchingChunks      = "state sync fetches and applies the chunks of a snapshot"
	sayBackfilling         = "state sync fetches the headers before its snapshot"
	sayLocalSnapshot       = "seid restores its state from the snapshot on the volume"

	sayStateSyncStalled     = "state sync makes no progress"
	sayNoSnapshotOffered    = "state sync found no usable snapshot: no peer offers one"
	sayNoUsableSnapshot     = "state sync found no usable snapshot: none that is offered could be verified; check the trust height and the witnesses"
	sayChunksStalled        = "state sync makes no progress: no chunk of the snapshot arrives"
	sayBackfillStalled      = "state sync makes no progress: the headers before its snapshot do not arrive"
	sayLocalSnapshotStalled = "restoring the snapshot on the volume makes no progress; check the trust height and the witnesses"

	sayDraining = "the node is about to be restarted"
)
