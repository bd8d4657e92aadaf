package operation

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// CancelPatience is for how long the deletion of a task waits for a sidecar that does not answer,
// and for steps that are left. A dead node must not keep its tasks from going.
const CancelPatience = 30 * time.Second

// Release is what to do about the node of a task that is being deleted.
type Release int

// The ways to release a node.
const (
	// NotHeld: the task does not hold the node, or not any more.
	NotHeld Release = iota
	// FinishReset: the data is deleted in part. The rest has to go before the node may start.
	FinishReset
	// FinishSteps: the data is gone, and the steps that are left tell the node where to get other.
	FinishSteps
	// ReleaseNow: the node's own plan takes over.
	ReleaseNow
)

// Holding is what was seen of a node whose task is being deleted.
type Holding struct {
	// Held: the node's gate is held by this task.
	Held bool
	// PartlyDeleted: the data is being deleted, or a deletion did not come to its end.
	PartlyDeleted bool
	// Emptied: all of the data is gone.
	Emptied bool
}

// DecideRelease says how to release the node of a task that is being deleted. Whatever fails, the
// node's own plan takes over as soon as its data is either whole or gone.
func DecideRelease(of *v1alpha1.SeiNodeTask, h Holding, now time.Time) Release {
	switch {
	case !h.Held:
		return NotHeld
	case h.PartlyDeleted:
		return FinishReset
	case h.Emptied && Running(&of.Status) && now.Before(of.DeletionTimestamp.Add(CancelPatience)):
		return FinishSteps
	default:
		return ReleaseNow
	}
}

// MayHold reports whether a task has left its node held, or may have: it has closed the gate and is
// not known to have opened it.
func MayHold(of *v1alpha1.SeiNodeTask) bool {
	kind, err := KindOf(&of.Spec)
	if err != nil || !kind.Holds || of.Status.Plan == nil {
		return false
	}
	hold, open := plan.Find(of.Status.Plan, StepHoldGate), plan.Find(of.Status.Plan, StepMarkReady)
	return hold != nil && hold.SubmittedAt != nil && (open == nil || open.Status != v1alpha1.TaskComplete)
}

// KeepsClosed reports whether a task that runs has closed its node's gate or is about to, and is not known to have
// opened it. One that waits before its first step leaves the node alone: it looks for somebody to sync from.
func KeepsClosed(of *v1alpha1.SeiNodeTask) bool {
	kind, err := KindOf(&of.Spec)
	if err != nil || !kind.Holds || of.Status.Plan == nil || !Running(&of.Status) {
		return false
	}
	hold, open := plan.Find(of.Status.Plan, StepHoldGate), plan.Find(of.Status.Plan, StepMarkReady)
	waits := hold == nil || hold.Status == v1alpha1.TaskRunning && hold.SubmittedAt == nil
	return !waits && (open == nil || open.Status != v1alpha1.TaskComplete)
}
