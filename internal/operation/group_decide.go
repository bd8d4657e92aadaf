package operation

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// decideGroup says what to do with a task for several nodes.
func (o *Observation) decideGroup(kind Kind) Decision {
	if Begun(&o.Task.Status) {
		return o.steer(kind)
	}
	if why := o.refused(kind); why != "" {
		return Decision{Action: Fail, Reason: v1alpha1.ReasonTargetRefused, Message: why}
	}
	if target := o.groupTarget(); target.reason != v1alpha1.ReasonPhaseMet {
		return o.awaitTarget(target)
	}
	if other := o.Behind(); other != "" {
		return Decision{Action: Wait, Reason: v1alpha1.ReasonTaskQueued, Message: fmt.Sprintf("waiting for SeiNodeTask %s, which comes first on this fleet", other)}
	}
	return Decision{Action: Begin}
}

// refused says why the task cannot be done on one of the nodes; then it is done on none.
func (o *Observation) refused(kind Kind) string {
	if n := len(o.Group.Target); n > maxNodes {
		return fmt.Sprintf("%s has %d nodes, and a task can be for %d at most", targetText(&o.Task.Spec), n, maxNodes)
	}
	for _, name := range o.Group.Target {
		if node := o.Group.Nodes[name]; node != nil && kind.refusal != nil {
			if why := kind.refusal(&o.Task.Spec, node); why != "" {
				return why
			}
		}
	}
	return ""
}

// steer says what to do with a task that has begun on its nodes.
func (o *Observation) steer(kind Kind) Decision {
	members := o.members()
	n := summary(recorded(members))
	switch {
	case n.Complete == n.Total:
		return Decision{Action: Complete, Reason: v1alpha1.ReasonTaskComplete, Message: fmt.Sprintf("complete on all %d nodes", n.Total)}
	case n.Complete+n.Failed == n.Total:
		return o.failGroup(members)
	case o.halted(recorded(members)):
		return o.halt(members)
	}
	start, why, soak := o.next(kind, members)
	if len(start) > 0 {
		return Decision{Action: Start, Nodes: start}
	}
	return Decision{Action: Run, Message: why, RecheckAfter: sooner(o.untilDeadline(), soak)}
}

// halt begins with no other node: children that have not begun are withdrawn, the others come to
// their end, and the task has failed.
func (o *Observation) halt(members []member) Decision {
	var withdraw []string
	running := false
	for i := range members {
		m := &members[i]
		if !m.started() {
			continue
		}
		running = true
		if m.Phase == v1alpha1.NodeTaskPending && m.child.DeletionTimestamp == nil {
			withdraw = append(withdraw, m.Name)
		}
	}
	switch {
	case len(withdraw) > 0:
		return Decision{Action: Withdraw, Nodes: withdraw, Message: "no further node is started"}
	case running:
		return Decision{Action: Run, Message: "no further node is started"}
	default:
		return o.failGroup(members)
	}
}

// failGroup ends the task with the results of its nodes.
func (o *Observation) failGroup(members []member) Decision {
	n := summary(recorded(members))
	message := fmt.Sprintf("failed on %d of %d nodes", n.Failed, n.Total)
	if n.Pending > 0 {
		message += fmt.Sprintf(", not started on %d", n.Pending)
	}
	if first := firstFailure(members); first != "" {
		message += "; " + first
	}
	d := Decision{Action: Fail, Reason: v1alpha1.ReasonTaskNodeFailed, Message: message}
	switch lost := o.fleetLost(); {
	case lost != "":
		d.Reason, d.Message = v1alpha1.ReasonTargetDeleted, lost+"; "+message
	case o.timeIsUp():
		deadline, _ := Deadline(o.Task)
		d.Reason, d.Message = v1alpha1.ReasonTaskTimeout, fmt.Sprintf("not completed within %s: %s", deadline.Sub(o.Task.Status.StartedAt.Time), message)
	}
	return d
}

// sooner is the shorter of two waits; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
