package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Group is what was seen of the nodes that a task for several nodes is for.
type Group struct {
	// Fleet is the target of a task for a fleet; nil when there is none of its name.
	Fleet *v1alpha1.SeiNodeDeployment
	// Nodes are the nodes that the target has now, and those that the task began with as far as
	// they are there, by name.
	Nodes map[string]*v1alpha1.SeiNode
	// Target are the names of the nodes that the target has now, in order: for a fleet also those
	// that it still has to make.
	Target []string
	// Children are the tasks on single nodes that the task has made, by the name of the node.
	Children map[string]*v1alpha1.SeiNodeTask
	// Restarting are the tasks of others that restart a node now, by the name of the node.
	Restarting map[string]string
}

// ForSeveral reports whether a task is for several nodes: those of a fleet, or those with some
// labels.
func ForSeveral(spec *v1alpha1.SeiNodeTaskSpec) bool {
	return forFleet(spec) || len(spec.Target.Selector) > 0
}

func forFleet(spec *v1alpha1.SeiNodeTaskSpec) bool { return spec.Target.FleetRef.Name != "" }

// SelectorKey is the key of tasks with a selector. No node is called like it, nor like a FleetKey.
const SelectorKey = "selector/"

// TargetIndex is the name of the cache's index of SeiNodeTasks by TargetKey. The SeiNodeTask
// controller sets it up.
const TargetIndex = "task.target"

// TargetKey tells the targets of tasks apart: two tasks with the same key are for the same node, or
// for the same fleet. Those with a selector share one.
func TargetKey(spec *v1alpha1.SeiNodeTaskSpec) string {
	switch {
	case forFleet(spec):
		return FleetKey(spec.Target.FleetRef.Name)
	case ForSeveral(spec):
		return SelectorKey
	default:
		return spec.Target.NodeRef.Name
	}
}

// FleetKey is the key of tasks for a fleet.
func FleetKey(fleet string) string { return "fleet/" + fleet }

// Restarts reports whether a task restarts its nodes, and so needs the budget of a fleet.
func Restarts(spec *v1alpha1.SeiNodeTaskSpec) bool {
	kind, err := KindOf(spec)
	return err == nil && kind.Restarts
}

// Queues reports whether a task waits for others with the same target. Tasks on single nodes do that
// change their node; of those for several nodes, the ones that share a fleet's budget.
func Queues(spec *v1alpha1.SeiNodeTaskSpec) bool {
	if ForSeveral(spec) {
		return forFleet(spec) && Restarts(spec)
	}
	return Changes(spec)
}

// targetText name the target of a task for several nodes.
func targetText(spec *v1alpha1.SeiNodeTaskSpec) string {
	if forFleet(spec) {
		return "SeiNodeDeployment " + spec.Target.FleetRef.Name
	}
	pairs := make([]string, 0, len(spec.Target.Selector))
	for _, key := range slices.Sorted(maps.Keys(spec.Target.Selector)) {
		pairs = append(pairs, key+"="+spec.Target.Selector[key])
	}
	return "the selector " + strings.Join(pairs, ",")
}

// Deadline is when the time of a task for several nodes is up, on all of them; false before it has
// begun. Where nodes are restarted one after the other, the default is that of the kind for each.
func Deadline(task *v1alpha1.SeiNodeTask) (time.Time, bool) {
	kind, err := KindOf(&task.Spec)
	if err != nil || task.Status.StartedAt == nil || task.Status.Nodes == nil {
		return time.Time{}, false
	}
	return task.Status.StartedAt.Add(groupTimeout(kind, &task.Spec, task.Status.Nodes.Total)), true
}

func groupTimeout(kind Kind, spec *v1alpha1.SeiNodeTaskSpec, nodes int32) time.Duration {
	if spec.TimeoutSeconds == 0 && kind.Restarts {
		return kind.Timeout * time.Duration(nodes)
	}
	return kind.timeout(spec)
}

// maxNodes is for how many nodes a task can be. A fleet has at most 100.
const maxNodes = 1000

// groupTarget is what condition TargetReady says of a task for several nodes that has not begun.
func (o *Observation) groupTarget() verdict {
	words, g := targetText(&o.Task.Spec), o.Group
	if forFleet(&o.Task.Spec) {
		if g.Fleet == nil {
			return notYet(v1alpha1.ReasonTargetNotFound, "there is no "+words+" in this namespace")
		}
		if missing := g.missing(); missing != "" {
			return notYet(v1alpha1.ReasonNoNodes, fmt.Sprintf("%s has not created SeiNode %s yet", words, missing))
		}
	}
	if len(g.Target) == 0 {
		return notYet(v1alpha1.ReasonNoNodes, words+" has no SeiNode in this namespace")
	}
	return verdict{metav1.ConditionTrue, v1alpha1.ReasonPhaseMet, fmt.Sprintf("%s has %d nodes", words, len(g.Target))}
}

func notYet(reason, message string) verdict {
	return verdict{metav1.ConditionFalse, reason, message}
}

// missing is the first of the target's nodes that is not there; empty when all are.
func (g *Group) missing() string {
	for _, name := range g.Target {
		if g.Nodes[name] == nil {
			return name
		}
	}
	return ""
}
