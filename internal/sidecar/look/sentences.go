package look

// What people read. A sentence names a kind of trouble and holds nothing that changes by
// itself: heights, counts and times have their own fields.
const (
	sayInSync = "the node keeps up with its chain"
	sayQuiet  = "the node is its chain's only validator and makes no block without transactions"
	saySeed   = "the seed takes connections; it follows no chain"

	sayNotStarted    = "seid has not been started yet"
	sayWaiting       = "seid waits behind the gate"
	sayEnded         = "seid has ended"
	sayCrashed       = "seid has crashed; its last error is in seid.lastExit"
	sayOutOfDisk     = "seid has ended because the disk is full; grow the volume"
	sayHalted        = "seid has stopped at its halt height"
	sayUpgradeNeeded = "seid has stopped because the chain needs another binary from here on"
	sayTooEarly      = "seid has ended because its binary has an upgrade that is not due yet"

	sayStarting      = "seid has started and does not answer yet"
	sayStartingAgain = "seid has crashed and started again; its last error is in seid.lastExit"
	sayReplaying     = "seid applies the blocks that it has on disk"
	sayNotAnswering  = "seid runs and its RPC does not answer any more"
	sayHalfAnswering = "seid answers only part of what it is asked"
	sayRPCOff        = "seid runs and its RPC is switched off; nobody can tell whether it keeps up"

	sayNoPeers      = "no peer is connected"
	sayNoFirstBlock = "there is no block yet"
	sayNoNewBlock   = "there is no new block, and no peer is far ahead"
	sayCatchingUp   = "the node is behind its peers and comes closer"
	sayBehind       = "the node is behind its peers and does not come closer"

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
