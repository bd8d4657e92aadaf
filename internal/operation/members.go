package operation

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// member is one of the nodes that a task for several nodes is for, as this pass sees it.
type member struct {
	v1alpha1.TaskMember
	// child is the task on the node; nil when it is not there.
	child *v1alpha1.SeiNodeTask
	// deleted: the child was there and is not any more.
	deleted bool
}

// members are the nodes that the task began with. How it ended on a node stays as it is; a child
// that is gone before its end has failed.
func (o *Observation) members() []member {
	recorded := o.Task.Status.Nodes.Members
	found := make([]member, 0, len(recorded))
	for _, r := range recorded {
		m := member{TaskMember: r, child: o.Group.Children[r.Name]}
		switch {
		case m.ended():
		case r.Task == "":
			m.Phase = v1alpha1.NodeTaskPending
		case m.child == nil && o.halted(recorded) && r.Phase != v1alpha1.NodeTaskRunning:
			m.Task, m.Phase = "", v1alpha1.NodeTaskPending // it was withdrawn before it had begun
		case m.child == nil:
			m.Phase, m.deleted = v1alpha1.NodeTaskFailed, true
		default:
			m.Phase = childPhase(m.child)
		}
		found = append(found, m)
	}
	return found
}

func childPhase(child *v1alpha1.SeiNodeTask) v1alpha1.SeiNodeTaskPhase {
	switch {
	case Ended(&child.Status):
		return child.Status.Phase
	case Begun(&child.Status):
		return v1alpha1.NodeTaskRunning
	default:
		return v1alpha1.NodeTaskPending
	}
}

func (m *member) ended() bool {
	return m.Phase == v1alpha1.NodeTaskComplete || m.Phase == v1alpha1.NodeTaskFailed
}

// started reports whether the node has a child that is not over.
func (m *member) started() bool { return m.Task != "" && !m.ended() }

// halted reports whether no further node is started: the time is up, the fleet is gone, or a node
// that was restarted has failed.
func (o *Observation) halted(members []v1alpha1.TaskMember) bool {
	if o.timeIsUp() || o.fleetLost() != "" {
		return true
	}
	return Restarts(&o.Task.Spec) && slices.ContainsFunc(members, func(m v1alpha1.TaskMember) bool { return m.Phase == v1alpha1.NodeTaskFailed })
}

func (o *Observation) timeIsUp() bool {
	deadline, begun := Deadline(o.Task)
	return begun && !o.Now.Before(deadline)
}

// fleetLost says that the fleet is gone whose budget a restart needs; empty while it is there.
func (o *Observation) fleetLost() string {
	if !Restarts(&o.Task.Spec) || !forFleet(&o.Task.Spec) {
		return ""
	}
	if fleet := o.Group.Fleet; fleet == nil || fleet.UID != o.Task.Status.TargetUID || fleet.DeletionTimestamp != nil {
		return targetText(&o.Task.Spec) + " was deleted while the task ran"
	}
	return ""
}

// untilDeadline is how long the task still has.
func (o *Observation) untilDeadline() time.Duration {
	deadline, _ := Deadline(o.Task)
	return max(0, deadline.Sub(o.Now))
}

// recorded are the members as status lists them.
func recorded(members []member) []v1alpha1.TaskMember {
	list := make([]v1alpha1.TaskMember, 0, len(members))
	for i := range members {
		list = append(list, members[i].TaskMember)
	}
	return list
}

// summary counts the members.
func summary(members []v1alpha1.TaskMember) *v1alpha1.TaskNodes {
	n := &v1alpha1.TaskNodes{Total: int32(len(members)), Members: members}
	for i := range members {
		switch members[i].Phase {
		case v1alpha1.NodeTaskComplete:
			n.Complete++
		case v1alpha1.NodeTaskFailed:
			n.Failed++
			n.FailedNames = append(n.FailedNames, members[i].Name)
		case v1alpha1.NodeTaskRunning:
			n.Running++
		default:
			n.Pending++
		}
	}
	return n
}

// firstFailure says on which node the task failed first, and why.
func firstFailure(members []member) string {
	var first *member
	for i := range members {
		m := &members[i]
		if m.Phase == v1alpha1.NodeTaskFailed && (first == nil || m.failedBefore(first)) {
			first = m
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("first on %s: %s", first.Name, first.error())
}

func (m *member) failedBefore(other *member) bool {
	if m.child == nil || other.child == nil {
		return m.child != nil
	}
	return m.child.Status.CompletedAt.Before(other.child.Status.CompletedAt)
}

func (m *member) error() string {
	if m.child == nil {
		return fmt.Sprintf("its SeiNodeTask %s was deleted", m.Task)
	}
	if c := conditions.Get(m.child.Status.Conditions, v1alpha1.ConditionFailed); c != nil {
		return c.Message
	}
	return "its SeiNodeTask " + m.Task + " failed"
}
