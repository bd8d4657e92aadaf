package planner

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Wanted is the state the node's spec asks for, reduced to what plans pin.
type Wanted struct {
	v1alpha1.PlanTarget
	// SpecHash identifies the part of the pod template that comes from the
	// node's spec. A template that differs although the spec part is the same
	// differs because the operator or its configuration changed.
	SpecHash string
	// Restart is the value of the annotation sei.io/restart.
	Restart string
}

// Input is all a decision may depend on.
type Input struct {
	Node     *v1alpha1.SeiNode
	Observed *Observation
	Wanted   Wanted
	Now      time.Time
}

// Action is what becomes of the node's plan.
type Action int

// The actions.
const (
	// Keep goes on with the active plan, or with none.
	Keep Action = iota
	// Start begins a plan where there is none.
	Start
	// Supersede ends the active plan and begins another.
	Supersede
	// Hold freezes everything: the node is paused.
	Hold
)

// Decision is what to do about a node, and why.
type Decision struct {
	Action Action
	// Plan is the plan to begin with Start and Supersede.
	Plan plan.Spec
	// PendingRestart says, if not empty, what the next restart will pick up.
	PendingRestart string
	// RecheckAfter is when a plan that was put off becomes due.
	RecheckAfter time.Duration
}

// Decide chooses what to do. Rules are tried in order and the first that matches
// wins, so that a larger plan goes before the smaller one it contains.
func Decide(in Input) Decision {
	if in.Node.Spec.Paused {
		return Decision{Action: Hold}
	}
	choice, matched := firstMatch(in, rulesFor(in.Node.Status.Phase))
	decision := Decision{PendingRestart: pendingRestart(in)}
	if active := in.Node.Status.Plan; active != nil && active.Phase == v1alpha1.PlanActive {
		if matched && supersedes(choice, active) {
			decision.Action, decision.Plan = Supersede, choice.spec(in)
		}
		return decision
	}
	if !matched {
		return decision
	}
	if left := putOffFor(in, choice); left > 0 {
		decision.RecheckAfter = left
		return decision
	}
	decision.Action, decision.Plan = Start, choice.spec(in)
	return decision
}

// supersedes reports whether a chosen plan replaces the active one: because it is
// the larger one, or because it is of the same kind and leads somewhere else.
func supersedes(c choice, active *v1alpha1.TaskPlan) bool {
	running := kindOf(active.Reason)
	if c.kind != running {
		return c.kind > running
	}
	switch c.kind {
	case kindReconfigure:
		return active.Target == nil || c.target.ConfigHash != active.Target.ConfigHash
	case kindMarkReady:
		return false
	default:
		return active.Target == nil || c.target.Image != active.Target.Image ||
			c.target.PodTemplateHash != active.Target.PodTemplateHash
	}
}

// How long a plan that failed is left alone before it is tried again by itself.
const (
	retryUpdateAfter    = 5 * time.Minute
	retryMarkReadyAfter = 30 * time.Second
)

// putOffFor is how long to wait before starting a plan that has just failed with
// the same target. A new target, or a new value of sei.io/retry, starts at once.
func putOffFor(in Input, c choice) time.Duration {
	last := in.Node.Status.LastPlan
	if last == nil || last.Outcome != v1alpha1.OutcomeFailed || kindOf(last.Reason) != c.kind || c.kind == kindInit {
		return 0
	}
	if last.Target == nil || *last.Target != c.target || retryRequested(in) {
		return 0
	}
	after := retryUpdateAfter
	if c.kind == kindMarkReady {
		after = retryMarkReadyAfter
	}
	return max(0, last.FinishedAt.Add(after).Sub(in.Now))
}

// retryRequested reports whether the user asked for another try since the last one.
func retryRequested(in Input) bool {
	v := in.Node.Annotations[v1alpha1.AnnotationRetry]
	return v != "" && v != in.Node.Status.RetriedFor
}
