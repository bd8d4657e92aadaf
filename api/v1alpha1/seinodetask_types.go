package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SeiNodeTaskKind is what a SeiNodeTask does.
// +kubebuilder:validation:Enum=GovSoftwareUpgrade;GovVote;GovParamChange;AwaitCondition;UpdateNodeImage;AwaitNodesAtHeight;RestartSeid;MarkReady;StateSync
type SeiNodeTaskKind string

// The kinds of SeiNodeTask.
const (
	TaskKindGovSoftwareUpgrade SeiNodeTaskKind = "GovSoftwareUpgrade"
	TaskKindGovVote            SeiNodeTaskKind = "GovVote"
	TaskKindGovParamChange     SeiNodeTaskKind = "GovParamChange"
	TaskKindAwaitCondition     SeiNodeTaskKind = "AwaitCondition"
	TaskKindUpdateNodeImage    SeiNodeTaskKind = "UpdateNodeImage"
	TaskKindAwaitNodesAtHeight SeiNodeTaskKind = "AwaitNodesAtHeight"
	TaskKindRestartSeid        SeiNodeTaskKind = "RestartSeid"
	TaskKindMarkReady          SeiNodeTaskKind = "MarkReady"
	TaskKindStateSync          SeiNodeTaskKind = "StateSync"
)

// SeiNodeTaskSpec is one operation, on one node or on several. It cannot change.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a task cannot change: delete it, or make another with a new name"
// +kubebuilder:validation:XValidation:rule="[has(self.govSoftwareUpgrade), has(self.govVote), has(self.govParamChange), has(self.awaitCondition), has(self.updateNodeImage), has(self.awaitNodesAtHeight), has(self.restartSeid), has(self.markReady), has(self.stateSync)].filter(x, x).size() == 1",message="set exactly one payload: the field that is named like the kind"
// +kubebuilder:validation:XValidation:rule="self.kind != 'GovSoftwareUpgrade' || has(self.govSoftwareUpgrade)",message="kind GovSoftwareUpgrade needs the payload govSoftwareUpgrade"
// +kubebuilder:validation:XValidation:rule="self.kind != 'GovVote' || has(self.govVote)",message="kind GovVote needs the payload govVote"
// +kubebuilder:validation:XValidation:rule="self.kind != 'GovParamChange' || has(self.govParamChange)",message="kind GovParamChange needs the payload govParamChange"
// +kubebuilder:validation:XValidation:rule="self.kind != 'AwaitCondition' || has(self.awaitCondition)",message="kind AwaitCondition needs the payload awaitCondition"
// +kubebuilder:validation:XValidation:rule="self.kind != 'UpdateNodeImage' || has(self.updateNodeImage)",message="kind UpdateNodeImage needs the payload updateNodeImage"
// +kubebuilder:validation:XValidation:rule="self.kind != 'AwaitNodesAtHeight' || has(self.awaitNodesAtHeight)",message="kind AwaitNodesAtHeight needs the payload awaitNodesAtHeight"
// +kubebuilder:validation:XValidation:rule="self.kind != 'RestartSeid' || has(self.restartSeid)",message="kind RestartSeid needs the payload restartSeid: {}"
// +kubebuilder:validation:XValidation:rule="self.kind != 'MarkReady' || has(self.markReady)",message="kind MarkReady needs the payload markReady: {}"
// +kubebuilder:validation:XValidation:rule="self.kind != 'StateSync' || has(self.stateSync)",message="kind StateSync needs the payload stateSync"
// +kubebuilder:validation:XValidation:rule="!has(self.target.fleetRef) || self.kind != 'UpdateNodeImage'",message="target.fleetRef is not for kind UpdateNodeImage: change spec.template.spec.image of the SeiNodeDeployment, which rolls the image out within its budget"
// +kubebuilder:validation:XValidation:rule="!has(self.target.fleetRef) || (self.kind != 'GovSoftwareUpgrade' && self.kind != 'GovParamChange')",message="target.fleetRef is not for proposals, which are made once: name one validator in target.nodeRef"
// +kubebuilder:validation:XValidation:rule="!has(self.target.fleetRef) || self.kind != 'MarkReady'",message="target.fleetRef is not for kind MarkReady, which opens the gate of a node that was held on purpose: name that node in target.nodeRef"
// +kubebuilder:validation:XValidation:rule="!has(self.target.fleetRef) || self.kind != 'AwaitNodesAtHeight'",message="target.fleetRef is not for kind AwaitNodesAtHeight: select the nodes of the fleet with target.selector {sei.io/nodedeployment: NAME}"
// +kubebuilder:validation:XValidation:rule="!has(self.target.selector) || self.kind == 'AwaitNodesAtHeight'",message="target.selector is only for kind AwaitNodesAtHeight: name a node in target.nodeRef, or a fleet in target.fleetRef"
type SeiNodeTaskSpec struct {
	// kind says what to do.
	Kind SeiNodeTaskKind `json:"kind"`
	// target is the node to do it on, or the nodes.
	Target TaskTarget `json:"target"`
	// timeoutSeconds is how long the task may take once it runs, on all of its nodes. 0 means the
	// default of its kind; for a fleet that is restarted, that of its kind for each node.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// ttlSecondsAfterFinished removes the task that long after it ended. Absent keeps it.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// govSoftwareUpgrade proposes a software upgrade.
	// +optional
	GovSoftwareUpgrade *GovSoftwareUpgrade `json:"govSoftwareUpgrade,omitempty"`
	// govVote votes on a proposal.
	// +optional
	GovVote *GovVote `json:"govVote,omitempty"`
	// govParamChange proposes a change of chain parameters.
	// +optional
	GovParamChange *GovParamChange `json:"govParamChange,omitempty"`
	// awaitCondition waits for the node's own state.
	// +optional
	AwaitCondition *AwaitCondition `json:"awaitCondition,omitempty"`
	// updateNodeImage changes the node's image.
	// +optional
	UpdateNodeImage *UpdateNodeImage `json:"updateNodeImage,omitempty"`
	// awaitNodesAtHeight waits until the node has reached a height.
	// +optional
	AwaitNodesAtHeight *AwaitNodesAtHeight `json:"awaitNodesAtHeight,omitempty"`
	// restartSeid restarts the chain process without replacing the pod.
	// +optional
	RestartSeid *RestartSeid `json:"restartSeid,omitempty"`
	// markReady opens the node's start gate.
	// +optional
	MarkReady *MarkReady `json:"markReady,omitempty"`
	// stateSync deletes the node's data and fetches it again with state sync.
	// +optional
	StateSync *StateSyncTask `json:"stateSync,omitempty"`
}

// TaskTarget is the node a task is for, or the nodes.
// +kubebuilder:validation:XValidation:rule="[has(self.nodeRef), has(self.fleetRef), has(self.selector)].filter(x, x).size() == 1",message="set exactly one of target.nodeRef (a SeiNode), target.fleetRef (all nodes of a SeiNodeDeployment) and target.selector (SeiNodes by label)"
type TaskTarget struct {
	// nodeRef names a SeiNode in the task's namespace.
	// +optional
	NodeRef NodeRef `json:"nodeRef,omitzero"`
	// fleetRef names a SeiNodeDeployment in the task's namespace. The task is done on each of its
	// nodes by a SeiNodeTask of its own, which this one owns. For the kinds RestartSeid and
	// StateSync, which restart nodes, only within the budget of the fleet's updateStrategy.
	// +optional
	FleetRef FleetRef `json:"fleetRef,omitzero"`
	// selector selects SeiNodes of the task's namespace by their labels, for the kind
	// AwaitNodesAtHeight. Those that it selects when the task begins are waited for.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Selector map[string]string `json:"selector,omitempty"`
	// requirePhase is the phase the node must be in.
	// +kubebuilder:default=Running
	// +optional
	RequirePhase SeiNodePhase `json:"requirePhase,omitempty"`
	// requirePhaseTimeout is how long to wait for that phase.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?(ns|us|µs|ms|s|m|h)){1,6}$`
	// +kubebuilder:default="5m"
	// +optional
	RequirePhaseTimeout *metav1.Duration `json:"requirePhaseTimeout,omitempty"`
}

// NodeRef names a SeiNode.
type NodeRef struct {
	// name of the SeiNode.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// FleetRef names a SeiNodeDeployment.
type FleetRef struct {
	// name of the SeiNodeDeployment.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=49
	Name string `json:"name"`
}

// GovTx is what every governance transaction carries.
type GovTx struct {
	// chainId the transaction is for; a guard against the wrong chain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ChainID string `json:"chainId"`
	// keyName is the key that signs. Empty takes the target's.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+$`
	// +kubebuilder:validation:MaxLength=64
	// +optional
	KeyName string `json:"keyName,omitempty"`
	// memo of the transaction.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Memo string `json:"memo,omitempty"`
	// fees are what the transaction pays, in usei, for example 20000usei.
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]*usei$`
	Fees string `json:"fees"`
	// gas limit.
	// +kubebuilder:validation:Minimum=1
	Gas int64 `json:"gas"`
}

// GovSoftwareUpgrade proposes a software upgrade.
type GovSoftwareUpgrade struct {
	GovTx `json:",inline"`
	// title of the proposal.
	// +kubebuilder:validation:MinLength=1
	Title string `json:"title"`
	// description of the proposal.
	// +kubebuilder:validation:MinLength=1
	Description string `json:"description"`
	// upgradeName as the new binary knows it.
	// +kubebuilder:validation:MinLength=1
	UpgradeName string `json:"upgradeName"`
	// upgradeHeight is the height the chain stops at.
	// +kubebuilder:validation:Minimum=1
	UpgradeHeight int64 `json:"upgradeHeight"`
	// upgradeInfo for the new binary.
	// +optional
	UpgradeInfo string `json:"upgradeInfo,omitempty"`
	// initialDeposit is what the proposer pays in, in usei.
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]*usei$`
	InitialDeposit string `json:"initialDeposit"`
}

// GovVote votes on a proposal.
type GovVote struct {
	GovTx `json:",inline"`
	// proposalId is the proposal's number.
	// +kubebuilder:validation:Minimum=1
	ProposalID int64 `json:"proposalId"`
	// option is the vote.
	// +kubebuilder:validation:Enum=yes;no;abstain;no_with_veto;no-with-veto
	Option string `json:"option"`
}

// GovParamChange proposes a change of chain parameters.
type GovParamChange struct {
	GovTx `json:",inline"`
	// title of the proposal.
	// +kubebuilder:validation:MinLength=1
	Title string `json:"title"`
	// description of the proposal.
	// +kubebuilder:validation:MinLength=1
	Description string `json:"description"`
	// changes are the parameters to change.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Changes []ParamChange `json:"changes"`
	// initialDeposit is what the proposer pays in, in usei.
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]*usei$`
	InitialDeposit string `json:"initialDeposit"`
}

// ParamChange is one changed parameter.
type ParamChange struct {
	// subspace is the module.
	// +kubebuilder:validation:MinLength=1
	Subspace string `json:"subspace"`
	// key is the parameter.
	// +kubebuilder:validation:MinLength=1
	Key string `json:"key"`
	// value is the parameter's new value as JSON.
	Value apiextensionsv1.JSON `json:"value"`
}

// AwaitCondition waits for a state of the node.
// +kubebuilder:validation:XValidation:rule="has(self.height) != has(self.catchingUp)",message="wait for exactly one of height and catchingUp"
type AwaitCondition struct {
	// height waits until the node has reached a height.
	// +optional
	Height *HeightCondition `json:"height,omitempty"`
	// catchingUp waits until the node has caught up.
	// +optional
	CatchingUp *CatchingUpCondition `json:"catchingUp,omitempty"`
	// action is done once the condition holds.
	// +kubebuilder:validation:Enum=SIGTERM_SEID
	// +optional
	Action string `json:"action,omitempty"`
}

// HeightCondition holds from a height on.
type HeightCondition struct {
	// targetHeight is the height to wait for.
	// +kubebuilder:validation:Minimum=1
	TargetHeight int64 `json:"targetHeight"`
}

// CatchingUpCondition has no fields.
type CatchingUpCondition struct{}

// UpdateNodeImage changes a node's image.
type UpdateNodeImage struct {
	// image to run.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
}

// AwaitNodesAtHeight waits for a height.
type AwaitNodesAtHeight struct {
	// targetHeight is the height to wait for.
	// +kubebuilder:validation:Minimum=1
	TargetHeight int64 `json:"targetHeight"`
}

// RestartSeid has no fields.
type RestartSeid struct{}

// MarkReady has no fields.
type MarkReady struct{}

// StateSyncTask fetches a node's data again.
type StateSyncTask struct {
	// rpcServers are the witnesses, host:port each, at least two. Empty takes
	// those of the node.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	RPCServers []HostPort `json:"rpcServers,omitempty"`
}

// SeiNodeTask is one operation, on one node or on several.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=snt,categories=sei
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.kind`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target.nodeRef.name`
// +kubebuilder:printcolumn:name="Fleet",type=string,JSONPath=`.spec.target.fleetRef.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Complete",type=integer,JSONPath=`.status.nodes.complete`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes.total`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SeiNodeTask struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec SeiNodeTaskSpec `json:"spec"`
	// status is what was observed. Its observedGeneration is -1 until an operator has looked.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status SeiNodeTaskStatus `json:"status,omitempty"`
}

// SeiNodeTaskList is a list of SeiNodeTasks.
// +kubebuilder:object:root=true
type SeiNodeTaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SeiNodeTask `json:"items"`
}
