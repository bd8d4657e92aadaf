package v1alpha1

// TaskNodes sums up a task that is for several nodes.
type TaskNodes struct {
	// total is how many nodes the task is for.
	Total int32 `json:"total"`
	// pending is on how many nodes the task has not begun.
	Pending int32 `json:"pending"`
	// running is on how many nodes the task runs.
	Running int32 `json:"running"`
	// complete is on how many nodes the task is complete.
	Complete int32 `json:"complete"`
	// failed is on how many nodes the task has failed.
	Failed int32 `json:"failed"`
	// failedNames are the nodes on which the task has failed.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +optional
	FailedNames []string `json:"failedNames,omitempty"`
	// members are the nodes that the task is for. They are settled when it begins: a node that is
	// made later is none of them, and one that is deleted fails.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=atomic
	// +optional
	Members []TaskMember `json:"members,omitempty"`
}

// TaskMember is one of the nodes that a task is for.
type TaskMember struct {
	// name of the SeiNode.
	Name string `json:"name"`
	// task is the SeiNodeTask that does it on this node. Empty until it is the node's turn.
	// +optional
	Task string `json:"task,omitempty"`
	// phase of that SeiNodeTask.
	// +optional
	Phase SeiNodeTaskPhase `json:"phase,omitempty"`
}
