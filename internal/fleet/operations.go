package fleet

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Look judges a node of the fleet by itself, whatever the template asks for; nil when it is not
// there. Operations that restart nodes share the rollout's budget: they ask Moves about the nodes as
// they are judged here.
func Look(snd *v1alpha1.SeiNodeDeployment, name string, live *v1alpha1.SeiNode, now time.Time) Node {
	_, ordinal, _ := ParseChildName(name)
	l := look{current: true, minReady: MinReady(snd), now: now}
	if live != nil {
		l.restarted = live.Annotations[rolledAnnotation]
	}
	return observe(Child{Name: name, Ordinal: ordinal}, live, l)
}

// restartedBy is the node while a SeiNodeTask restarts it: it takes budget before its status shows
// that it is down.
func (n Node) restartedBy(task string) Node {
	if n.Task = task; task != "" && n.Ready {
		n.Why = "SeiNodeTask " + task + " restarts it"
	}
	return n
}

// RollingOut reports whether a change is on its way through the fleet, or may be: nobody has looked
// at its spec yet.
func RollingOut(snd *v1alpha1.SeiNodeDeployment) bool {
	return snd.Status.Rollout != nil || snd.Status.ObservedGeneration != snd.Generation
}

// Names are those of the nodes that the fleet should have, by ordinal.
func Names(snd *v1alpha1.SeiNodeDeployment) []string {
	names := make([]string, 0, snd.Spec.Replicas)
	for _, ordinal := range Ordinals(snd) {
		names = append(names, ChildName(snd.Name, ordinal))
	}
	return names
}
