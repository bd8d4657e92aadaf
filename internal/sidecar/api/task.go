package api

import (
	"encoding/json"
	"time"
)

// TaskRequest is the body of POST /v0/tasks.
type TaskRequest struct {
	// ID makes the submission idempotent. Empty means "a new task".
	ID string `json:"id,omitempty"`
	// Type is one of the task types the sidecar lists under /v0/version.
	Type TaskType `json:"type"`
	// Params are checked by the task's type before the task is stored.
	Params json.RawMessage `json:"params,omitempty"`
}

// TaskAccepted is the body of the 201 answer to POST /v0/tasks.
type TaskAccepted struct {
	ID string `json:"id"`
}

// TaskStatus is the state of a stored task. There is no pending and no
// cancelled on the wire: a queued task is running, a deleted one is gone.
type TaskStatus string

// The states of a task on the wire.
const (
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
)

// Terminal reports whether a task in this state will not change any more by
// itself.
func (s TaskStatus) Terminal() bool { return s == TaskCompleted || s == TaskFailed }

// TaskResult is one task as GET /v0/tasks and GET /v0/tasks/{id} show it.
type TaskResult struct {
	ID     string          `json:"id"`
	Type   TaskType        `json:"type"`
	Status TaskStatus      `json:"status"`
	Run    int             `json:"run"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	// ErrorDetail says what a caller may do about Error.
	ErrorDetail *ErrorDetail `json:"errorDetail,omitempty"`
	// Progress is the last report of a running task.
	Progress    *Progress  `json:"progress,omitempty"`
	SubmittedAt time.Time  `json:"submittedAt"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
}

// Progress is how far a long task has come.
type Progress struct {
	Done    int64  `json:"done"`
	Total   int64  `json:"total,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Message string `json:"message,omitempty"`
}
