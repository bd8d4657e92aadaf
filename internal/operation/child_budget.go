package operation

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// NeedsBudget reports whether a child takes from the budget of its parent's fleet when it begins. Its
// parent has asked already, but a child that queues for its node begins much later: a rollout may have
// begun meanwhile, or another node be down.
func NeedsBudget(child, parent *v1alpha1.SeiNodeTask) bool {
	return parent != nil && !Begun(&child.Status) && Restarts(&parent.Spec) && forFleet(&parent.Spec)
}

// budgetSays is why a child that would restart its node does not begin now; false when it may. The
// rollout that it waits for does not wait for it: a fleet counts the tasks that have begun.
func (o *Observation) budgetSays() (Decision, bool) {
	if !NeedsBudget(o.Task, o.Parent) {
		return Decision{}, false
	}
	wait := func(why string, again time.Duration) (Decision, bool) {
		return Decision{Action: Wait, Reason: v1alpha1.ReasonTaskQueued, Message: why, RecheckAfter: again}, true
	}
	if o.Budget == nil {
		return wait("waiting for the budget of the fleet to be known", 0)
	}
	parent := &Observation{Task: o.Parent, Group: o.Budget, Now: o.Now}
	if lost := parent.fleetLost(); lost != "" {
		return wait(lost, 0)
	}
	snd := o.Budget.Fleet
	if fleet.RollingOut(snd) {
		return wait(rolloutFirst(snd), 0)
	}
	nodes := parent.queued()
	moves, own := fleet.Moves(nodes, fleet.MaxUnavailable(snd)), o.Task.Spec.Target.NodeRef.Name
	var again time.Duration
	for i := range nodes {
		if nodes[i].Name == own && slices.Contains(moves, nodes[i].Ordinal) {
			return Decision{}, false
		}
		again = sooner(again, nodes[i].Soak)
	}
	why := waitsFor(nodes)
	if why == "" {
		why = fmt.Sprintf("waiting for its turn: the budget of SeiNodeDeployment %s is used up", snd.Name)
	}
	return wait(why, again)
}

// queued are the fleet's nodes as the budget sees them for the children that have not begun: those
// compete for it. Nodes that have no child yet take no part, although they count if they are down.
func (o *Observation) queued() []fleet.Node {
	var waiting, idle []string
	members := o.members()
	others := make([]member, 0, len(members))
	for _, m := range members {
		switch {
		case m.started() && m.Phase == v1alpha1.NodeTaskPending:
			waiting = append(waiting, m.Name)
			continue
		case m.Task == "":
			idle = append(idle, m.Name)
		}
		others = append(others, m)
	}
	nodes := o.judged(others, waiting)
	for i := range nodes {
		if slices.Contains(idle, nodes[i].Name) {
			nodes[i].Current, nodes[i].Held = false, true
		}
	}
	return nodes
}
