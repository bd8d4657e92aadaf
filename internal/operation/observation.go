package operation

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Observation is all that a decision about a task is made on.
type Observation struct {
	Task *v1alpha1.SeiNodeTask
	Now  time.Time
	// Node is the target; nil when there is none of its name.
	Node *v1alpha1.SeiNode
	// Group is what a task for several nodes is for; nil for a task on one.
	Group *Group
	// Parent is the task that this one is a child of; nil when there is none.
	Parent *v1alpha1.SeiNodeTask
	// Budget is what was seen of the fleet whose budget a child needs before it begins; nil when it
	// needs none.
	Budget *Group
	// Others are the other tasks of the same node, or of the same fleet.
	Others []*v1alpha1.SeiNodeTask
	// Began is the task that this process has let begin on the node last; the cache may not show
	// yet that it did. Empty when there is none, or it is this one.
	Began types.UID
}

// Ended reports whether a task has ended. What its status says then stays as it is.
func Ended(status *v1alpha1.SeiNodeTaskStatus) bool { return status.CompletedAt != nil }

// Begun reports whether a task was let begin: it has the plan that it is done by, or the nodes that
// it is for.
func Begun(status *v1alpha1.SeiNodeTaskStatus) bool { return status.Plan != nil || status.Nodes != nil }

// Running reports whether a task has begun and is not over.
func Running(status *v1alpha1.SeiNodeTaskStatus) bool { return Begun(status) && !Ended(status) }

// before reports whether a task comes before another in their node's queue.
func before(a, b *v1alpha1.SeiNodeTask) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// Behind is the name of the task that a task which queues has to wait for: one that
// runs or is giving the node back, or else the one that comes right before it. Empty when it is its turn.
func (o *Observation) Behind() string {
	if !Queues(&o.Task.Spec) {
		return ""
	}
	var last *v1alpha1.SeiNodeTask
	for _, other := range o.Others {
		releasing := other.DeletionTimestamp != nil && MayHold(other)
		if Ended(&other.Status) && !releasing || !Queues(&other.Spec) {
			continue
		}
		if Running(&other.Status) || releasing || other.UID == o.Began {
			return other.Name
		}
		// One that is being deleted before it has begun never will.
		if other.DeletionTimestamp == nil && before(other, o.Task) && (last == nil || before(last, other)) {
			last = other
		}
	}
	if last == nil {
		return ""
	}
	return last.Name
}
