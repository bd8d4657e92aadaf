package operation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// sumUp is what status.nodes says after a pass over a task for several nodes; nil before it has
// begun.
func (p *Pass) sumUp() *v1alpha1.TaskNodes {
	o := &p.Observed
	switch {
	case p.Decision.Action == Begin:
		members := make([]v1alpha1.TaskMember, 0, len(o.Group.Target))
		for _, name := range o.Group.Target {
			members = append(members, v1alpha1.TaskMember{Name: name, Phase: v1alpha1.NodeTaskPending})
		}
		return summary(members)
	case !Begun(&o.Task.Status):
		return nil
	}
	members := recorded(o.members())
	for i := range members {
		if child, made := p.Made[members[i].Name]; made {
			members[i].Task = child
		}
	}
	return summary(members)
}

// beganOn is the uid of what a task has begun on; empty for a selector.
func (o *Observation) beganOn() types.UID {
	switch {
	case o.Node != nil:
		return o.Node.UID
	case o.Group != nil && o.Group.Fleet != nil:
		return o.Group.Fleet.UID
	default:
		return ""
	}
}

// groupProgress says how far a task for several nodes is, and what it waits for.
func groupProgress(n *v1alpha1.TaskNodes, why string) string {
	words := fmt.Sprintf("complete on %d of %d nodes, running on %d", n.Complete, n.Total, n.Running)
	if n.Failed > 0 {
		words += fmt.Sprintf(", failed on %d", n.Failed)
	}
	if why != "" {
		words += "; " + why
	}
	return words
}
