package operation

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Action is what to do with a task.
type Action int

// The actions.
const (
	// Wait: it is not its turn.
	Wait Action = iota
	// Begin stores the plan that the task is done by.
	Begin
	// Run runs the plan on.
	Run
	// Fail ends the task for a reason that no step has found.
	Fail
	// Rest: the task has ended.
	Rest
	// Start makes the tasks on single nodes that are next.
	Start
	// Withdraw removes tasks on single nodes that have not begun.
	Withdraw
	// Complete ends a task that is complete on all of its nodes.
	Complete
)

// Decision is what to do with a task, and why.
type Decision struct {
	Action Action
	// Reason and Message say what is waited for, or why the task fails.
	Reason, Message string
	// Kind is the task's; empty when it is not known.
	Kind Kind
	// Nodes are those that Start and Withdraw are about.
	Nodes []string
	// Plan is the plan to begin with.
	Plan plan.Spec
	// RecheckAfter is when to decide again if nothing happens before.
	RecheckAfter time.Duration
}

// Decide says what to do with a task. The rules are asked in order; the first that knows decides.
func Decide(o *Observation) Decision {
	status := &o.Task.Status
	if Ended(status) {
		return Decision{Action: Rest}
	}
	kind, err := KindOf(&o.Task.Spec)
	if err != nil {
		return Decision{Action: Fail, Reason: v1alpha1.ReasonUnsupportedKind, Message: err.Error()}
	}
	var d Decision
	if o.Group != nil {
		d = o.decideGroup(kind)
	} else {
		d = o.decide(kind)
	}
	d.Kind = kind
	return d
}

func (o *Observation) decide(kind Kind) Decision {
	if Begun(&o.Task.Status) {
		if lost := o.lost(); lost != "" {
			return Decision{Action: Fail, Reason: v1alpha1.ReasonTargetDeleted, Message: lost}
		}
		return Decision{Action: Run}
	}
	if wait, must := o.parentSays(); must {
		return wait
	}
	if o.Node != nil && kind.refusal != nil {
		if why := kind.refusal(&o.Task.Spec, o.Node); why != "" {
			return Decision{Action: Fail, Reason: v1alpha1.ReasonTargetRefused, Message: why}
		}
	}
	if target := o.target(); target.reason != v1alpha1.ReasonPhaseMet {
		return o.awaitTarget(target)
	}
	if other := o.Behind(); other != "" {
		return Decision{Action: Wait, Reason: v1alpha1.ReasonTaskQueued, Message: fmt.Sprintf("waiting for SeiNodeTask %s, which comes first on this node", other)}
	}
	if wait, must := o.budgetSays(); must {
		return wait
	}
	return Decision{Action: Begin, Plan: o.plan(kind)}
}

// awaitTarget waits for the target as long as the spec allows.
func (o *Observation) awaitTarget(target verdict) Decision {
	left := o.phaseDeadline().Sub(o.Now)
	if left > 0 {
		return Decision{Action: Wait, Reason: v1alpha1.ReasonTaskNotComplete, Message: "waiting for the target: " + target.message, RecheckAfter: left}
	}
	reason := target.reason
	if reason == v1alpha1.ReasonPhaseNotMet {
		reason = v1alpha1.ReasonPhaseTimeout
	}
	return Decision{Action: Fail, Reason: reason, Message: fmt.Sprintf("%s; waited for %s", target.message, phaseTimeout(&o.Task.Spec))}
}

// plan is the plan that the task is done by. Its id is the task's uid, so that its steps have the
// same ids whoever stores it: a task never reaches a sidecar under two ids.
func (o *Observation) plan(kind Kind) plan.Spec {
	return plan.Spec{
		ID: string(o.Task.UID), Reason: string(kind.Name), Tasks: o.steps(kind), Deadline: o.deadline(kind),
		Message: fmt.Sprintf("%s on SeiNode %s", kind.Name, o.Node.Name),
	}
}
