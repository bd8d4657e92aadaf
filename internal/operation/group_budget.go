package operation

import (
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// atOnce is how many children are made in one pass.
const atOnce = 50

// next lists the nodes that the task is begun on now. When there are none, why says what the others
// wait for, and again when to look once more.
func (o *Observation) next(kind Kind, members []member) (start []string, why string, again time.Duration) {
	var waiting []string
	for i := range members {
		if members[i].Task == "" && !members[i].ended() {
			waiting = append(waiting, members[i].Name)
		}
	}
	if len(waiting) == 0 {
		return nil, "", 0
	}
	if kind.Restarts && forFleet(&o.Task.Spec) {
		return o.withinBudget(members, waiting)
	}
	return waiting[:min(len(waiting), atOnce)], "", 0
}

// withinBudget lists the nodes that may be restarted now by the rule of a rollout: a node that is
// down always, one that serves while the fleet's budget is not used up. A rollout and a task do not
// share the fleet: the task waits until the rollout has ended.
func (o *Observation) withinBudget(members []member, waiting []string) (start []string, why string, again time.Duration) {
	snd := o.Group.Fleet
	for _, name := range waiting {
		if o.Group.Nodes[name] == nil {
			start = append(start, name) // it was deleted: its child says so
		}
	}
	if len(start) > 0 {
		return start, "", 0
	}
	if fleet.RollingOut(snd) {
		return nil, rolloutFirst(snd), 0
	}
	nodes := o.judged(members, waiting)
	moves := fleet.Moves(nodes, fleet.MaxUnavailable(snd))
	for i := range nodes {
		if slices.Contains(moves, nodes[i].Ordinal) {
			start = append(start, nodes[i].Name)
		}
		if soak := nodes[i].Soak; soak > 0 {
			again = sooner(again, soak)
		}
	}
	return start, waitsFor(nodes), again
}

func rolloutFirst(snd *v1alpha1.SeiNodeDeployment) string {
	return fmt.Sprintf("waiting for the rollout of SeiNodeDeployment %s to end", snd.Name)
}

// judged are the fleet's nodes as the budget sees them. One that waits for its restart is behind,
// and one whose restart is under way is down, whatever its status still says.
func (o *Observation) judged(members []member, waiting []string) []fleet.Node {
	snd := o.Group.Fleet
	nodes := make([]fleet.Node, 0, len(o.Group.Target))
	for _, name := range o.Group.Target {
		n := fleet.Look(snd, name, o.Group.Nodes[name], o.Now)
		n.Current = !slices.Contains(waiting, name)
		if other := o.Group.Restarting[name]; other != "" {
			n = down(n, other)
		}
		if at := slices.IndexFunc(members, func(m member) bool { return m.Name == name }); at >= 0 {
			n = members[at].judged(n, fleet.MinReady(snd), o.Now)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// judged is the node with what the task knows of it: it counts again when it has been in sync for
// long enough since its restart.
func (m *member) judged(n fleet.Node, minReady time.Duration, now time.Time) fleet.Node {
	if m.started() {
		return down(n, m.Task)
	}
	if m.Phase == v1alpha1.NodeTaskComplete && m.child != nil && n.Ready {
		n.Soak = max(n.Soak, m.child.Status.CompletedAt.Add(minReady).Sub(now))
		if n.Soak > 0 && n.InForce {
			n.Why = "it has been restarted less than minReadySeconds ago"
		}
	}
	return n
}

// down is a node that a task restarts.
func down(n fleet.Node, task string) fleet.Node {
	n.Ready, n.Unknown, n.Current = false, false, true
	n.Why = "SeiNodeTask " + task + " restarts it"
	return n
}

// waitsFor names the node that keeps the others from being restarted.
func waitsFor(nodes []fleet.Node) string {
	for i := range nodes {
		if n := &nodes[i]; n.Unknown || n.Current && !n.Available() {
			return fmt.Sprintf("waiting for %s: %s", n.Name, n.Why)
		}
	}
	for i := range nodes {
		if n := &nodes[i]; !n.Available() {
			return fmt.Sprintf("waiting for %s: %s", n.Name, n.Why)
		}
	}
	return ""
}
