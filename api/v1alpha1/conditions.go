package v1alpha1

// Condition types of a SeiNode. Each is present once the controller has seen
// the object.
const (
	// ConditionReady says whether the node is in sync and runs what its spec asks for.
	ConditionReady = "Ready"
	// ConditionInSync says whether the node keeps up with its chain, whatever spec it runs.
	ConditionInSync = "InSync"
	// ConditionReconciling is True while the operator works on the object.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the operator cannot continue by itself.
	ConditionStalled = "Stalled"
	// ConditionSidecarReady says whether the sidecar holds the start gate open.
	ConditionSidecarReady = "SidecarReady"
	// ConditionNodeUpdateInProgress says whether the pod is being replaced.
	ConditionNodeUpdateInProgress = "NodeUpdateInProgress"
	// ConditionPlanInProgress says what work is in progress.
	ConditionPlanInProgress = "PlanInProgress"
	// ConditionSpecValid says whether the spec makes sense beyond what admission sees.
	ConditionSpecValid = "SpecValid"
	// ConditionImportPVCReady says whether the imported volume can be used.
	ConditionImportPVCReady = "ImportPVCReady"
	// ConditionSigningKeyReady says whether the consensus key can be used.
	ConditionSigningKeyReady = "SigningKeyReady"
	// ConditionNodeKeyReady says whether the node key can be used.
	ConditionNodeKeyReady = "NodeKeyReady"
	// ConditionOperatorKeyringReady says whether the operator's keyring can be used.
	ConditionOperatorKeyringReady = "OperatorKeyringReady"
	// ConditionResultsMatch says whether a replayer's blocks agree with those of its canonical node.
	ConditionResultsMatch = "ResultsMatch"
	// ConditionSnapshotsPublished says whether the node's snapshots reach the bucket.
	ConditionSnapshotsPublished = "SnapshotsPublished"
	// ConditionUpgradeScheduled says whether the chain has an upgrade ahead.
	ConditionUpgradeScheduled = "UpgradeScheduled"
	// ConditionUpgradeImageMissing says whether no image is known for an upgrade that is ahead.
	ConditionUpgradeImageMissing = "UpgradeImageMissing"
	// ConditionUpgradeFailed says whether the image of an upgrade turned out to be the wrong one.
	ConditionUpgradeFailed = "UpgradeFailed"
	// ConditionUpgradeSnapshotTaken says whether there is a backup from before the last upgrade.
	ConditionUpgradeSnapshotTaken = "UpgradeSnapshotTaken"
	// ConditionPaused says whether the object is paused.
	ConditionPaused = "Paused"
)

// Condition types of a SeiNodeDeployment, besides Ready, Reconciling, Stalled, SpecValid,
// UpgradeImageMissing, PlanInProgress and Paused.
const (
	// ConditionNodesReady says whether all nodes are in sync.
	ConditionNodesReady = "NodesReady"
	// ConditionNetworkingReady says whether what was asked for is published.
	ConditionNetworkingReady = "NetworkingReady"
	// ConditionGenesisCeremonyComplete latches when the ceremony is done.
	ConditionGenesisCeremonyComplete = "GenesisCeremonyComplete"
	// ConditionRolloutInProgress says whether a change is on its way.
	ConditionRolloutInProgress = "RolloutInProgress"
	// ConditionRolloutStalled says whether a rollout makes no progress.
	ConditionRolloutStalled = "RolloutStalled"
	// ConditionRolloutFailed says whether a rollout was halted by a node that failed.
	ConditionRolloutFailed = "RolloutFailed"
	// ConditionResizePending says whether volumes are smaller than the template asks for.
	ConditionResizePending = "ResizePending"
)

// Condition types of a SeiNodeTask, besides Ready.
const (
	// ConditionFailed latches when a task has failed.
	ConditionFailed = "Failed"
	// ConditionTargetReady says whether the target is in the required phase.
	ConditionTargetReady = "TargetReady"
	// ConditionReleased is there while a task is being deleted whose node cannot be released yet,
	// or whose work cannot be cancelled yet.
	ConditionReleased = "Released"
)

// Reasons of conditions InSync and Ready.
const (
	ReasonInSync          = "InSync"
	ReasonNotInSync       = "NotInSync"
	ReasonSyncUnknown     = "SyncUnknown"
	ReasonStartingUp      = "StartingUp"
	ReasonReplaying       = "Replaying"
	ReasonStateSyncing    = "StateSyncing"
	ReasonCatchingUp      = "CatchingUp"
	ReasonBehind          = "Behind"
	ReasonNoPeers         = "NoPeers"
	ReasonNoBlocks        = "NoBlocks"
	ReasonHalted          = "Halted"
	ReasonUpgradeNeeded   = "UpgradeNeeded"
	ReasonNotAnswering    = "NotAnswering"
	ReasonGateClosed      = "GateClosed"
	ReasonStartRefused    = "StartRefused"
	ReasonDraining        = "Draining"
	ReasonPodNotReady     = "PodNotReady"
	ReasonPodCrashLooping = "PodCrashLooping"
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonContainerConfigFailed: a Secret or ConfigMap that a container needs is not there.
	ReasonContainerConfigFailed = "ContainerConfigFailed"
	ReasonPodPending            = "PodPending"
	ReasonPodUnknown            = "PodUnknown"
	ReasonInitializing          = "Initializing"
	ReasonInitFailed            = "InitFailed"
	ReasonTerminating           = "Terminating"
)

// ReasonOutOfDate is the reason of condition Ready of a node that is in sync but does not run
// what its spec asks for yet.
const ReasonOutOfDate = "OutOfDate"

// Reasons of conditions Reconciling and Stalled.
const (
	ReasonProgressing = "Progressing"
	ReasonHeldBack    = "HeldBack"
)

// Reasons of condition SidecarReady.
const (
	ReasonSidecarReady       = "Ready"
	ReasonSidecarNotReady    = "NotReady"
	ReasonSidecarUnreachable = "Unreachable"
	ReasonGateHeld           = "Held"
	// ReasonSharedAudience: the gate is open, and the sidecar accepts a token that is valid for other nodes
	// too: its pod is from an older operator, or its image is older.
	ReasonSharedAudience = "SharedAudience"
	// ReasonPlaintext: the gate is open, and the sidecar is called over plain HTTP.
	ReasonPlaintext = "Plaintext"
)

// ReasonNotApplicable is the reason of a condition whose subject the spec does
// not ask for.
const ReasonNotApplicable = "NotApplicable"

// Reasons of condition NodeUpdateInProgress.
const (
	ReasonUpdateStarted  = "UpdateStarted"
	ReasonUpToDate       = "UpToDate"
	ReasonUpdateComplete = "UpdateComplete"
	ReasonUpdateFailed   = "UpdateFailed"
	// ReasonPendingRestart: the operator would render another pod template; the
	// next update, or the annotation sei.io/restart, picks it up.
	ReasonPendingRestart = "PendingRestart"
)

// Reasons of condition PlanInProgress.
const (
	ReasonPlanRunning  = "PlanRunning"
	ReasonPlanWaiting  = "PlanWaiting"
	ReasonNoPlan       = "NoPlan"
	ReasonPlanComplete = "PlanComplete"
	ReasonPlanFailed   = "PlanFailed"
)

// Reasons of condition SpecValid.
const (
	ReasonSpecValid   = "Valid"
	ReasonSpecInvalid = "Invalid"
	// ReasonConfigRefused: seid itself refuses the configuration.
	ReasonConfigRefused = "ConfigRefused"
	// ReasonVolumeNotResized: the claim cannot grow to dataVolume.size. Everything else of the
	// spec is in force.
	ReasonVolumeNotResized = "VolumeNotResized"
	// ReasonNoCertificate: the sidecar cannot get a certificate. A pod is neither made nor replaced;
	// one that runs continues.
	ReasonNoCertificate = "NoCertificate"
)

// Reasons of condition ImportPVCReady.
const (
	ReasonPVCValidated = "PVCValidated"
	ReasonPVCNotReady  = "PVCNotReady"
	ReasonPVCInvalid   = "PVCInvalid"
)

// Reasons of the key conditions.
const (
	ReasonSigningKeyValidated      = "SigningKeyValidated"
	ReasonSigningKeyNotReady       = "SigningKeyNotReady"
	ReasonSigningKeyInvalid        = "SigningKeyInvalid"
	ReasonKeyInUse                 = "KeyInUse"
	ReasonKeyChanged               = "KeyChanged"
	ReasonNodeKeyValidated         = "NodeKeyValidated"
	ReasonNodeKeyNotReady          = "NodeKeyNotReady"
	ReasonNodeKeyInvalid           = "NodeKeyInvalid"
	ReasonOperatorKeyringValidated = "OperatorKeyringValidated"
	ReasonOperatorKeyringNotReady  = "OperatorKeyringNotReady"
	ReasonOperatorKeyringInvalid   = "OperatorKeyringInvalid"
)

// Reasons of condition ResultsMatch.
const (
	ReasonComparing = "Comparing"
	// ReasonDiverged: a block differs. The comparison has ended there.
	ReasonDiverged = "Diverged"
	// ReasonNotCompared: the comparison has not begun yet.
	ReasonNotCompared = "NotCompared"
	// ReasonComparisonFailing: nothing can be compared or exported now.
	ReasonComparisonFailing = "ComparisonFailing"
	// ReasonNoResultBucket: the operator's configuration names no bucket for results.
	ReasonNoResultBucket = "NoResultBucket"
	// ReasonCanonicalRPCInvalid: canonicalRpc is no address of an RPC.
	ReasonCanonicalRPCInvalid = "CanonicalRPCInvalid"
)

// Reasons of condition SnapshotsPublished. SidecarTooOld is one of ResultsMatch too.
const (
	ReasonPublished = "Published"
	// ReasonNothingPublished: no snapshot has been published yet.
	ReasonNothingPublished = "NothingPublished"
	ReasonPublishFailed    = "PublishFailed"
	// ReasonNoBucket: the operator's configuration names no bucket for it.
	ReasonNoBucket = "NoBucket"
	// ReasonSidecarTooOld: the version of the sidecar does not know what is asked of it.
	ReasonSidecarTooOld = "SidecarTooOld"
)

// Reasons of conditions UpgradeScheduled, UpgradeImageMissing and UpgradeFailed. SidecarTooOld is
// one of UpgradeScheduled too.
const (
	// ReasonImageKnown: an entry of spec.upgrades names the image of the upgrade that is ahead.
	ReasonImageKnown = "ImageKnown"
	// ReasonNoEntry: no entry of spec.upgrades names the upgrade that is ahead.
	ReasonNoEntry = "NoEntry"
	// ReasonNothingScheduled: the chain has no upgrade ahead.
	ReasonNothingScheduled = "NothingScheduled"
	// ReasonNotAsked: the sidecar has not reported yet.
	ReasonNotAsked = "NotAsked"
	// ReasonHandlerMissing: the image of the upgrade does not have its handler.
	ReasonHandlerMissing = "HandlerMissing"
	// ReasonTooEarly: the image has the handler of an upgrade that is not due yet.
	ReasonTooEarly = "TooEarly"
	// ReasonNoFailure: nothing is wrong with the image.
	ReasonNoFailure = "NoFailure"
)

// Reasons of condition UpgradeSnapshotTaken.
const (
	ReasonSnapshotTaken   = "SnapshotTaken"
	ReasonSnapshotPending = "SnapshotPending"
	// ReasonSnapshotAPIMissing: the cluster has no VolumeSnapshots.
	ReasonSnapshotAPIMissing = "SnapshotAPIMissing"
	ReasonSnapshotRefused    = "SnapshotRefused"
	// ReasonSnapshotTimeout: it was not taken in time, and the upgrade continued.
	ReasonSnapshotTimeout = "SnapshotTimeout"
)

// Reasons of condition Paused. The first is also a reason of Ready.
const (
	ReasonPaused    = "Paused"
	ReasonNotPaused = "NotPaused"
)

// Reasons of a SeiNodeDeployment's conditions.
const (
	ReasonAllNodesReady       = "AllNodesReady"
	ReasonNodesInitializing   = "NodesInitializing"
	ReasonNodesNotReady       = "NodesNotReady"
	ReasonNodesFailed         = "NodesFailed"
	ReasonHTTPRoutesPublished = "HTTPRoutesPublished"
	ReasonRoutesPending       = "RoutesPending"
	ReasonRoutesNotAccepted   = "RoutesNotAccepted"
	ReasonP2PEndpointsApplied = "P2PEndpointsApplied"
	ReasonP2PEndpointsPending = "P2PEndpointsPending"
	ReasonHostTaken           = "HostTaken"
	ReasonNetworkingDisabled  = "NetworkingDisabled"
	ReasonNoEffectiveRoutes   = "NoEffectiveRoutes"
	ReasonCRDNotInstalled     = "CRDNotInstalled"
	ReasonNetworkingFailed    = "NetworkingFailed"
	ReasonCeremonyComplete    = "Complete"
	ReasonCeremonyNotStarted  = "NotStarted"
	ReasonCeremonyInProgress  = "InProgress"
	ReasonCeremonyFailed      = "CeremonyFailed"
	ReasonGenesisConflict     = "GenesisConflict"
	ReasonNotInGenesis        = "NotInGenesis"
	ReasonRollingOut          = "RollingOut"
	ReasonChainUpgrade        = "ChainUpgrade"
	ReasonRolloutNotStarted   = "NotStarted"
	ReasonRolloutComplete     = "RolloutComplete"
	ReasonRolloutProgressing  = "RolloutProgressing"
	ReasonDeadlineExceeded    = "ProgressDeadlineExceeded"
	ReasonNoRollout           = "NoRollout"
	ReasonNodeFailed          = "NodeFailed"
	ReasonVolumesResized      = "VolumesResized"
)

// Reasons of a SeiNodeTask's conditions.
const (
	ReasonTaskComplete          = "TaskComplete"
	ReasonTaskNotComplete       = "NotComplete"
	ReasonTaskFailed            = "TaskFailed"
	ReasonTaskNotFailed         = "NotFailed"
	ReasonTaskQueued            = "Queued"
	ReasonTaskNodeFailed        = "FailedOnNodes"
	ReasonNoNodes               = "NoNodes"
	ReasonTaskTimeout           = "Timeout"
	ReasonUnsupportedKind       = "UnsupportedKind"
	ReasonSuperseded            = "Superseded"
	ReasonSidecarRefuses        = "SidecarRefuses"
	ReasonTargetNotFound        = "TargetNotFound"
	ReasonTargetDeleted         = "TargetDeleted"
	ReasonTargetRefused         = "TargetRefused"
	ReasonPhaseMet              = "PhaseMet"
	ReasonPhaseNotMet           = "PhaseNotMet"
	ReasonPhaseTimeout          = "PhaseTimeout"
	ReasonTxFailed              = "TxFailed"
	ReasonInclusionUndetermined = "InclusionUndetermined"
	ReasonReleasing             = "Releasing"
)
