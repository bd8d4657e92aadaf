package events

import corev1 "k8s.io/api/core/v1"

// Reason is why an event was emitted: one CamelCase word that alerts and people
// can match on.
type Reason string

// Reasons of events on SeiNodes.
const (
	PhaseChanged             Reason = "PhaseChanged"
	Paused                   Reason = "Paused"
	Resumed                  Reason = "Resumed"
	UpdateStarted            Reason = "UpdateStarted"
	UpdateComplete           Reason = "UpdateComplete"
	PlanFailed               Reason = "PlanFailed"
	SidecarReadinessLost     Reason = "SidecarReadinessLost"
	SidecarReadinessRestored Reason = "SidecarReadinessRestored"
	PodCrashLooping          Reason = "PodCrashLooping"
	ImagePullFailed          Reason = "ImagePullFailed"
	SpecInvalid              Reason = "SpecInvalid"
	PVCNotReady              Reason = "PVCNotReady"
	PVCInvalid               Reason = "PVCInvalid"
	KeyNotReady              Reason = "KeyNotReady"
	KeyInvalid               Reason = "KeyInvalid"
	KeyInUse                 Reason = "KeyInUse"
	StatefulSetRecreated     Reason = "StatefulSetRecreated"
	StatefulSetNotOurs       Reason = "StatefulSetNotOurs"
	ImpostorDeleted          Reason = "ImpostorDeleted"
	VolumeNotResized         Reason = "VolumeNotResized"
	EditReverted             Reason = "EditReverted"
	KeyChanged               Reason = "KeyChanged"
	ResultsDiverged          Reason = "ResultsDiverged"
	UpgradeScheduled         Reason = "UpgradeScheduled"
	UpgradeCancelled         Reason = "UpgradeCancelled"
	UpgradeHalted            Reason = "UpgradeHalted"
	UpgradeApplied           Reason = "UpgradeApplied"
	UpgradeImageMissing      Reason = "UpgradeImageMissing"
	UpgradeFailed            Reason = "UpgradeFailed"
	UpgradeSnapshotMissing   Reason = "UpgradeSnapshotMissing"
	NetworkPolicyRefused     Reason = "NetworkPolicyRefused"
	PeerResolutionFailed     Reason = "PeerResolutionFailed"
	ReconcileFailed          Reason = "ReconcileFailed"
)

// Reasons of events on SeiNodeDeployments, besides Paused, Resumed and ReconcileFailed.
const (
	RolloutStarted    Reason = "RolloutStarted"
	RolloutSuperseded Reason = "RolloutSuperseded"
	RolloutComplete   Reason = "RolloutComplete"
	RolloutStalled    Reason = "RolloutStalled"
	RolloutFailed     Reason = "RolloutFailed"
	// ChainUpgradeStarted: the first node of a fleet has stopped for an upgrade, or takes it early.
	ChainUpgradeStarted Reason = "ChainUpgradeStarted"
	NodeRemoved         Reason = "NodeRemoved"
	NodeRecreated       Reason = "NodeRecreated"
	NodeRestored        Reason = "NodeRestored"
	NodeNotOurs         Reason = "NodeNotOurs"
	NodeRefused         Reason = "NodeRefused"
	NodesRetained       Reason = "NodesRetained"
	CeremonyComplete    Reason = "CeremonyComplete"
	CeremonyFailed      Reason = "CeremonyFailed"
	GenesisWarning      Reason = "GenesisWarning"
	GenesisConflict     Reason = "GenesisConflict"
	NotInGenesis        Reason = "NotInGenesis"

	DisruptionBudgetRefused Reason = "DisruptionBudgetRefused"
	HistoryNotKept          Reason = "HistoryNotKept"
)

// Reasons of events on SeiNodeTasks.
const (
	TaskStarted      Reason = "TaskStarted"
	TaskComplete     Reason = "TaskComplete"
	TaskFailed       Reason = "TaskFailed"
	TaskNotCancelled Reason = "TaskNotCancelled"
	NodeReleased     Reason = "NodeReleased"
)

// Entry describes a reason.
type Entry struct {
	Reason Reason
	// Type is Normal or Warning.
	Type string
	// Action is what the operator did or tried to do.
	Action string
	// Related is the kind of the other object the event is about; empty if there is none.
	Related string
	// Meaning explains the reason to a user.
	Meaning string
}

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// Catalogue lists every reason.
func Catalogue() []Entry {
	return []Entry{
		{PhaseChanged, normal, "ChangePhase", "", "The node went from one phase to another; the note names both. " +
			"That a new node leaves Pending for Initializing is not announced."},
		{Paused, normal, "Pause", "", "`spec.paused` was set. A node's pod is stopped and its plans are suspended; a fleet is frozen and its pods keep running."},
		{Resumed, normal, "Resume", "", "`spec.paused` was unset."},
		{UpdateStarted, normal, "Update", "Pod", "The pod is about to be replaced; the note says why."},
		{UpdateComplete, normal, "FinishUpdate", "Pod", "The replaced pod runs what the spec asks for."},
		{PlanFailed, warning, "RunPlan", "", "A plan ended without reaching its goal; the note names the step and its last error. " +
			"On a node in phase Failed a spec change or a new value of the annotation `sei.io/retry` starts over."},
		{SidecarReadinessLost, warning, "ProbeSidecar", "Pod", "The sidecar of a running node holds the start gate closed, " +
			"which means that its pod was replaced. A mark-ready plan follows."},
		{SidecarReadinessRestored, normal, "MarkReady", "Pod", "The start gate is open again."},
		{PodCrashLooping, warning, "ObservePod", "Pod", "A container of the pod is crash-looping; the note names it and its last exit."},
		{ImagePullFailed, warning, "PullImage", "Pod", "An image of the pod, or of the upgrade that is ahead, cannot be pulled; the note names it."},
		{SpecInvalid, warning, "ValidateSpec", "", "The spec asks for something that cannot be done; the note names the field."},
		{PVCNotReady, warning, "ValidateVolume", "PersistentVolumeClaim", "The imported volume cannot be used yet; the operator keeps looking."},
		{PVCInvalid, warning, "RefuseVolume", "PersistentVolumeClaim", "The imported volume can never be used as it is; the note says what to change."},
		{KeyNotReady, warning, "ValidateKey", "Secret", "A Secret with a key is missing or being deleted; the operator keeps looking."},
		{KeyInvalid, warning, "RefuseKey", "Secret", "A Secret does not hold what it should; the note names the Secret and the data key."},
		{KeyInUse, warning, "ReserveKey", "Secret", "The consensus key is reserved for another node. " +
			"Starting this one could sign twice, so it waits; the note names the holder."},
		{StatefulSetRecreated, warning, "CreateStatefulSet", "StatefulSet", "The node's StatefulSet had been deleted and was recreated."},
		{StatefulSetNotOurs, warning, "AdoptStatefulSet", "StatefulSet", "A StatefulSet of the node's name belongs to someone else. Rename or delete it."},
		{ImpostorDeleted, warning, "DeleteStatefulSet", "StatefulSet",
			"Someone had replaced the node's StatefulSet by another of the same name; that one was deleted."},
		{EditReverted, warning, "RevertEdit", "StatefulSet",
			"Something had been added to the node's StatefulSet or Service by hand; it was removed. The note lists it. Change the SeiNode instead."},
		{KeyChanged, warning, "RefuseChangedKey", "Secret", "The Secret holds another consensus key than the one the node has signed with. " +
			"seid is not started with it; the note names both."},
		{ResultsDiverged, warning, "CompareResults", "", "A block of a replayer differs from that of its canonical node; " +
			"the note names height, layer and report. The comparison has ended there."},
		{UpgradeScheduled, normal, "AwaitUpgrade", "", "The chain has scheduled an upgrade, or moved it to another height."},
		{UpgradeCancelled, normal, "ForgetUpgrade", "", "The upgrade is no longer scheduled: " +
			"the chain's governance has cancelled it, or it was skipped."},
		{UpgradeHalted, normal, "HaltForUpgrade", "Pod", "seid has stopped at the height of an upgrade. " +
			"The pod is replaced by one with its image at once, if an entry of `spec.upgrades` names it."},
		{UpgradeApplied, normal, "FinishUpgrade", "", "The state on the node's volume has the upgrade."},
		{UpgradeImageMissing, warning, "FindUpgradeImage", "", "No entry of `spec.upgrades` names an upgrade " +
			"that is scheduled, or that seid has stopped for. Add one."},
		{UpgradeFailed, warning, "RunUpgradeImage", "", "The image of an upgrade is the wrong one; " +
			"the note has the line of seid's log. The node stays on it until it is corrected."},
		{UpgradeSnapshotMissing, warning, "BackUpVolume", "", "An upgrade continues without the VolumeSnapshot that was asked for; the note says why."},
		{VolumeNotResized, warning, "ResizeVolume", "PersistentVolumeClaim", "`dataVolume.size` grew, but the claim cannot follow; the note says why."},
		{NetworkPolicyRefused, warning, "GuardPorts", "",
			"The node has no NetworkPolicy: the API server refuses it, or one of its name belongs to someone else. The node continues; the note says why."},
		{PeerResolutionFailed, warning, "ResolvePeers", "", "A peer source gave no answer; the peers it gave last are kept."},
		{ReconcileFailed, warning, "Reconcile", "", "Something went wrong that no condition covers; the operator tries again."},
		{RolloutStarted, normal, "RollOut", "", "A fleet's template changed in a way that disturbs nodes; the note names the fields. They move a few at a time."},
		{ChainUpgradeStarted, normal, "UpgradeChain", "", "The first node of a fleet has stopped for an upgrade of its chain, " +
			"or takes a minor one before its height. `RolloutComplete` follows when all nodes are past it."},
		{RolloutSuperseded, normal, "SupersedeRollout", "", "The template changed again before the rollout was complete; nodes now move to the newest."},
		{RolloutComplete, normal, "FinishRollout", "", "Every node of the fleet that takes part runs the template, is in sync, and has been for `minReadySeconds`."},
		{RolloutStalled, warning, "AwaitRollout", "SeiNode",
			"No node has completed in `progressDeadlineSeconds`; the note names the node and its condition."},
		{RolloutFailed, warning, "HaltRollout", "", "A node failed with the template, so that no other node that is in sync is changed; " +
			"the note names the node and why. " +
			"The rollout resumes when the template is corrected or rolled back."},
		{NodeRemoved, normal, "RemoveNode", "SeiNode", "A node was removed because the fleet was scaled down."},
		{NodeRecreated, warning, "RecreateNode", "SeiNode", "A fleet's node had been deleted and was recreated."},
		{NodeRestored, warning, "RestoreNode", "SeiNode", "A fleet's node had been edited by hand; its spec was reverted. Change the fleet's template instead."},
		{NodeNotOurs, warning, "AdoptNode", "", "A SeiNode under one of the fleet's names belongs to someone else; the note says what to do."},
		{NodeRefused, warning, "ApplyNode", "", "The API server refuses a node as the template describes it; the note says why."},
		{CeremonyComplete, normal, "MakeGenesis", "ConfigMap", "The genesis of the fleet's chain exists; the note says where, and its hash."},
		{CeremonyFailed, warning, "AwaitGenesis", "", "The genesis could not be created; the note names the validator and why. The ceremony is tried again."},
		{GenesisWarning, warning, "CheckGenesis", "", "The genesis is valid, but the chain may not do what was meant; the note says why."},
		{GenesisConflict, warning, "CompareGenesis", "", "Another object has the name of the ConfigMap with the chain's genesis. " +
			"It is left alone, and the note says what to do."},
		{NotInGenesis, warning, "CompareKeys", "", "A validator of the fleet has a consensus key that is not in the chain's genesis: " +
			"the one it replaces is lost. The note names both."},
		{DisruptionBudgetRefused, warning, "LimitDisruptions", "",
			"The fleet has no PodDisruptionBudget: the API server refuses it, or one of its name belongs to someone else. The fleet continues; the note says why."},
		{HistoryNotKept, warning, "KeepTemplate", "",
			"A template of the fleet could not be written to its history, or not be removed from it. The fleet continues; the note says why."},
		{NodesRetained, normal, "RetainNodes", "", "The fleet was deleted with `deletionPolicy: Retain`; its nodes keep running."},
		{TaskStarted, normal, "StartTask", "SeiNode or SeiNodeDeployment", "A SeiNodeTask begins: its target is in the required phase " +
			"and no other task is before it. " +
			"A task for several nodes begins once for all; each of its children reports its own node."},
		{TaskComplete, normal, "FinishTask", "SeiNode or SeiNodeDeployment", "A SeiNodeTask is complete; the note has its result."},
		{TaskFailed, warning, "FailTask", "SeiNode or SeiNodeDeployment", "A SeiNodeTask has failed for good; the note says why. " +
			"To try again, make another with a new name."},
		{TaskNotCancelled, warning, "CancelTask", "SeiNode", "A running SeiNodeTask was deleted, and its node's sidecar could not be reached within 30 seconds: " +
			"it may still do what it was asked to."},
		{NodeReleased, normal, "ReleaseNode", "SeiNode", "A SeiNodeTask that held its node was deleted, " +
			"and the node's own plan takes over; the note says what is left of its data."},
	}
}
