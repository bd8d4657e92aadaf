package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlanPhase is where a plan stands.
// +kubebuilder:validation:Enum=Active;Complete;Failed
type PlanPhase string

// The phases of a plan.
const (
	PlanActive   PlanPhase = "Active"
	PlanComplete PlanPhase = "Complete"
	PlanFailed   PlanPhase = "Failed"
)

// TaskStatus is where one task of a plan stands.
// +kubebuilder:validation:Enum=Pending;Running;Complete;Failed
type TaskStatus string

// The states of a planned task.
const (
	TaskPending  TaskStatus = "Pending"
	TaskRunning  TaskStatus = "Running"
	TaskComplete TaskStatus = "Complete"
	TaskFailed   TaskStatus = "Failed"
)

// TaskPlan is an ordered list of tasks that takes an object from one state to
// another. It is written before anything is done, so that it shows what is in progress, and so that a
// restarted operator continues where the last one stopped.
type TaskPlan struct {
	// id is unique per plan.
	ID string `json:"id"`
	// phase is Active while tasks remain, then Complete or Failed.
	Phase PlanPhase `json:"phase"`
	// reason is one CamelCase word on why the plan exists, for example ImageChanged.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message explains the reason in words.
	// +optional
	Message string `json:"message,omitempty"`
	// target is the state the plan was made for. A plan whose target is no
	// longer wanted is superseded.
	// +optional
	Target *PlanTarget `json:"target,omitempty"`
	// startedAt is when the plan was made.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// tasks are run in order.
	// +optional
	// +listType=atomic
	Tasks []PlannedTask `json:"tasks,omitempty"`
	// failedTaskIndex is the position of the task that failed the plan.
	// +optional
	FailedTaskIndex *int32 `json:"failedTaskIndex,omitempty"`
	// failedTaskDetail describes the task that failed the plan.
	// +optional
	FailedTaskDetail *FailedTaskDetail `json:"failedTaskDetail,omitempty"`
}

// PlanTarget pins what a plan leads to.
type PlanTarget struct {
	// image is the seid image.
	// +optional
	Image string `json:"image,omitempty"`
	// sidecarImage is the sidecar image.
	// +optional
	SidecarImage string `json:"sidecarImage,omitempty"`
	// podTemplateHash identifies the rendered pod template.
	// +optional
	PodTemplateHash string `json:"podTemplateHash,omitempty"`
	// specHash identifies the part of the pod template that comes from the spec. A template
	// that differs in the rest alone differs because of the operator or its configuration.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// configHash identifies the node's wanted configuration.
	// +optional
	ConfigHash string `json:"configHash,omitempty"`
	// preparationHash identifies where the node's first state and genesis come from.
	// +optional
	PreparationHash string `json:"preparationHash,omitempty"`
	// generation is the generation of the spec that the plan was made for.
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// PlannedTask is one step of a plan.
type PlannedTask struct {
	// type names what the task does, for example apply-statefulset.
	Type string `json:"type"`
	// id identifies this attempt of the task, also towards the sidecar.
	ID string `json:"id"`
	// status is Pending, Running, Complete or Failed.
	Status TaskStatus `json:"status"`
	// params are the task's small parameters. Never a payload, never a secret.
	// +optional
	Params *apiextensionsv1.JSON `json:"params,omitempty"`
	// attempt counts the tries, starting at 1.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// maxRetries is how many more attempts may follow a failed one.
	// +optional
	MaxRetries int32 `json:"maxRetries,omitempty"`
	// retryCount is how many retries were used.
	// +optional
	RetryCount int32 `json:"retryCount,omitempty"`
	// submittedAt is when this attempt was handed to the sidecar.
	// +optional
	SubmittedAt *metav1.Time `json:"submittedAt,omitempty"`
	// startedAt is when the task was first tried.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// retryAt is when the next attempt is due.
	// +optional
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
	// completedAt is when the task ended.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// deadline is when the task fails if it is not complete by then.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// message says what a running task waits for.
	// +optional
	Message string `json:"message,omitempty"`
	// error is the last error of the task.
	// +optional
	Error string `json:"error,omitempty"`
}

// FailedTaskDetail describes the task that failed a plan.
type FailedTaskDetail struct {
	// type of the task.
	Type string `json:"type"`
	// id of the failed attempt.
	ID string `json:"id"`
	// error that ended it.
	Error string `json:"error"`
	// retryCount is how many retries were used.
	// +optional
	RetryCount int32 `json:"retryCount,omitempty"`
	// maxRetries is how many retries there were.
	// +optional
	MaxRetries int32 `json:"maxRetries,omitempty"`
}

// PlanOutcome is how a plan ended.
// +kubebuilder:validation:Enum=Complete;Failed;Superseded
type PlanOutcome string

// The outcomes of a plan.
const (
	OutcomeComplete   PlanOutcome = "Complete"
	OutcomeFailed     PlanOutcome = "Failed"
	OutcomeSuperseded PlanOutcome = "Superseded"
)

// PlanSummary is what is kept of a plan that has ended.
type PlanSummary struct {
	// id of the plan.
	ID string `json:"id"`
	// reason the plan existed for.
	// +optional
	Reason string `json:"reason,omitempty"`
	// outcome is Complete, Failed or Superseded.
	Outcome PlanOutcome `json:"outcome"`
	// finishedAt is when the plan ended.
	FinishedAt metav1.Time `json:"finishedAt"`
	// target is what the plan led to.
	// +optional
	Target *PlanTarget `json:"target,omitempty"`
	// failedTask is the type of the task that failed.
	// +optional
	FailedTask string `json:"failedTask,omitempty"`
	// error of the failed task.
	// +optional
	Error string `json:"error,omitempty"`
}
