package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// Target is the node or the fleet that a task is for; nil for a selector.
func Target(task *seiv1.SeiNodeTask) runtime.Object {
	kind, name := seiv1.KindSeiNode, task.Spec.Target.NodeRef.Name
	if fleet := task.Spec.Target.FleetRef.Name; fleet != "" {
		kind, name = seiv1.KindSeiNodeDeployment, fleet
	}
	if name == "" {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: seiv1.GroupVersion.String(), Kind: kind, Namespace: task.Namespace, Name: name}
}

// begins says where a task begins.
func begins(task *seiv1.SeiNodeTask) Event {
	if nodes := task.Status.Nodes; nodes != nil {
		return New(TaskStarted, "%s starts on %d nodes", task.Spec.Kind, nodes.Total)
	}
	return New(TaskStarted, "%s starts on SeiNode %s", task.Spec.Kind, task.Spec.Target.NodeRef.Name)
}

// ForTask lists the events of a task that went from one state to the next. Both states are as
// stored, so that each transition is told once, also across restarts.
func ForTask(before, after *seiv1.SeiNodeTask) []Event {
	if before.Status.Phase == after.Status.Phase {
		return nil
	}
	var e Event
	switch after.Status.Phase {
	case seiv1.NodeTaskRunning:
		e = begins(after)
	case seiv1.NodeTaskComplete:
		e = New(TaskComplete, "%s", message(after, seiv1.ConditionReady))
	case seiv1.NodeTaskFailed:
		e = New(TaskFailed, "%s", message(after, seiv1.ConditionFailed))
	default:
		return nil
	}
	return []Event{e.About(Target(after))}
}

func message(task *seiv1.SeiNodeTask, conditionType string) string {
	if c := conditions.Get(task.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return string(task.Status.Phase)
}
