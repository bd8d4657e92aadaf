package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SeiNodeTaskPhase is where a task is.
// +kubebuilder:validation:Enum=Pending;Running;Complete;Failed
type SeiNodeTaskPhase string

// The phases of a SeiNodeTask.
const (
	NodeTaskPending  SeiNodeTaskPhase = "Pending"
	NodeTaskRunning  SeiNodeTaskPhase = "Running"
	NodeTaskComplete SeiNodeTaskPhase = "Complete"
	NodeTaskFailed   SeiNodeTaskPhase = "Failed"
)

// SeiNodeTaskStatus is what was observed of a task.
type SeiNodeTaskStatus struct {
	// observedGeneration is the generation of the spec most recently observed by the operator.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase is where the task is.
	// +optional
	Phase SeiNodeTaskPhase `json:"phase,omitempty"`
	// plan holds the steps of the task.
	// +optional
	Plan *TaskPlan `json:"plan,omitempty"`
	// targetFirstObservedAt is when the target was first observed; the wait
	// for its phase counts from here.
	// +optional
	TargetFirstObservedAt *metav1.Time `json:"targetFirstObservedAt,omitempty"`
	// targetUid is the uid of the node that the task runs on, or of the SeiNodeDeployment. One of
	// the same name that takes its place is another one, and ends the task.
	// +optional
	TargetUID types.UID `json:"targetUid,omitempty"`
	// startedAt is when the task began to run; its timeout counts from here.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// completedAt is when the task ended.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// outputs are what the task found out, by kind.
	// +optional
	Outputs *TaskOutputs `json:"outputs,omitempty"`
	// nodes sums up a task that is for several nodes.
	// +optional
	Nodes *TaskNodes `json:"nodes,omitempty"`
	// conditions Ready and Failed stay as they are once the task has ended, for kubectl wait.
	// +listType=atomic
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TaskOutputs are what a task found out; one field, by kind.
type TaskOutputs struct {
	// govSoftwareUpgrade holds the outputs of that kind.
	// +optional
	GovSoftwareUpgrade *ProposalOutputs `json:"govSoftwareUpgrade,omitempty"`
	// govParamChange holds the outputs of that kind.
	// +optional
	GovParamChange *ProposalOutputs `json:"govParamChange,omitempty"`
	// govVote holds the outputs of that kind.
	// +optional
	GovVote *TxOutputs `json:"govVote,omitempty"`
	// awaitCondition holds the outputs of that kind.
	// +optional
	AwaitCondition *AwaitConditionOutputs `json:"awaitCondition,omitempty"`
	// updateNodeImage holds the outputs of that kind.
	// +optional
	UpdateNodeImage *UpdateNodeImageOutputs `json:"updateNodeImage,omitempty"`
	// awaitNodesAtHeight holds the outputs of that kind.
	// +optional
	AwaitNodesAtHeight *AwaitNodesAtHeightOutputs `json:"awaitNodesAtHeight,omitempty"`
	// stateSync holds the outputs of that kind.
	// +optional
	StateSync *StateSyncOutputs `json:"stateSync,omitempty"`
}

// StateSyncOutputs tell how far the node came.
type StateSyncOutputs struct {
	// height at which the node was in sync.
	// +optional
	Height int64 `json:"height,omitempty"`
}

// TxOutputs tell where a transaction ended up.
type TxOutputs struct {
	// txHash of the transaction.
	// +optional
	TxHash string `json:"txHash,omitempty"`
	// height of the block that holds it.
	// +optional
	Height int64 `json:"height,omitempty"`
}

// ProposalOutputs tell where a proposal ended up.
type ProposalOutputs struct {
	TxOutputs `json:",inline"`
	// proposalId is the proposal's number.
	// +optional
	ProposalID int64 `json:"proposalId,omitempty"`
}

// AwaitConditionOutputs tell what was observed.
type AwaitConditionOutputs struct {
	// observedValue that made the condition true.
	// +optional
	ObservedValue string `json:"observedValue,omitempty"`
}

// UpdateNodeImageOutputs tell what runs.
type UpdateNodeImageOutputs struct {
	// appliedImage runs in the node's pod.
	// +optional
	AppliedImage string `json:"appliedImage,omitempty"`
}

// AwaitNodesAtHeightOutputs tell the height.
type AwaitNodesAtHeightOutputs struct {
	// currentHeight of the node.
	// +optional
	CurrentHeight int64 `json:"currentHeight,omitempty"`
}
