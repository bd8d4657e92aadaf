package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// maxName is the longest name of a child, and the longest value of a label.
const maxName = 63

// Child is the task that does on one node what a task for several nodes asks for. Its name follows
// from the parent and the node: made twice, it is the same one.
func Child(parent *v1alpha1.SeiNodeTask, node string) *v1alpha1.SeiNodeTask {
	child := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{
		Namespace: parent.Namespace, Name: ChildName(parent, node),
		Labels: map[string]string{v1alpha1.LabelTask: labelValue(parent.Name), v1alpha1.LabelNode: labelValue(node)},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(parent, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNodeTask)),
		},
	}}
	child.Spec = *parent.Spec.DeepCopy()
	child.Spec.Target.FleetRef, child.Spec.Target.Selector = v1alpha1.FleetRef{}, nil
	child.Spec.Target.NodeRef.Name = node
	child.Spec.TTLSecondsAfterFinished = nil // it goes with its parent
	return child
}

// ChildName is the name of the child for a node. The parent's UID is part of it: children of an
// earlier task of the same name may still be on their way out.
func ChildName(parent *v1alpha1.SeiNodeTask, node string) string {
	return shortened(parent.Name+"-"+node, string(parent.UID)+"/"+node)
}

func labelValue(name string) string {
	if len(name) <= maxName {
		return name
	}
	return shortened(name, name)
}

// shortened is as much of a name as there is room for, and a hash that tells it from others.
func shortened(name, identity string) string {
	sum := sha256.Sum256([]byte(identity))
	suffix := "-" + hex.EncodeToString(sum[:3])
	return strings.TrimRight(name[:min(len(name), maxName-len(suffix))], "-.") + suffix
}

// ParentOf is the owner of a task that is the child of another; nil for all others.
func ParentOf(task *v1alpha1.SeiNodeTask) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(task)
	if owner == nil || owner.Kind != v1alpha1.KindSeiNodeTask {
		return nil
	}
	return owner
}

// parentSays is why a child that has not begun does not begin now; false when it may. A child begins
// only when its parent's status names it: whatever has had an effect is on record there.
func (o *Observation) parentSays() (Decision, bool) {
	owner := ParentOf(o.Task)
	if owner == nil {
		return Decision{}, false
	}
	wait := func(why string) (Decision, bool) {
		return Decision{Action: Wait, Reason: v1alpha1.ReasonTaskQueued, Message: fmt.Sprintf("SeiNodeTask %s, which this one belongs to, %s", owner.Name, why)}, true
	}
	parent := o.Parent
	switch {
	case parent == nil || parent.UID != owner.UID || parent.DeletionTimestamp != nil:
		return wait("was deleted")
	case Ended(&parent.Status):
		return wait("has ended")
	case !names(parent.Status.Nodes, o.Task.Name):
		return wait("has not started it yet")
	}
	if deadline, begun := Deadline(parent); !begun || !o.Now.Before(deadline) {
		return wait("has no time left")
	}
	if o.Node == nil {
		node := o.Task.Spec.Target.NodeRef.Name
		return Decision{
			Action: Fail, Reason: v1alpha1.ReasonTargetDeleted,
			Message: fmt.Sprintf("SeiNode %s was deleted after SeiNodeTask %s had started", node, owner.Name),
		}, true
	}
	return Decision{}, false
}

// names reports whether a child is on its parent's record.
func names(nodes *v1alpha1.TaskNodes, child string) bool {
	if nodes == nil {
		return false
	}
	for i := range nodes.Members {
		if nodes.Members[i].Task == child {
			return true
		}
	}
	return false
}

// deadline is when the time of a task on one node is up that begins now. A child has no more time
// than its parent has left.
func (o *Observation) deadline(kind Kind) time.Time {
	own := o.Now.Add(kind.timeout(&o.Task.Spec))
	if o.Parent == nil {
		return own
	}
	if parents, begun := Deadline(o.Parent); begun && parents.Before(own) {
		return parents
	}
	return own
}

// steps are those of the plan.
func (o *Observation) steps(kind Kind) []string {
	if o.Parent == nil {
		return kind.Steps
	}
	return slices.Concat(kind.Steps, kind.OnFleet)
}
