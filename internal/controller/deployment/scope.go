package deployment

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// member is one of the ordinals the fleet shall have.
type member struct {
	// target is the node as the template asks for it.
	target fleet.Child
	// live is the node that is there; nil when there is none.
	live *v1alpha1.SeiNode
	// restarted is the value of sei.io/restart its pod was made with.
	restarted string
	// foreign says why a node of this name is not the fleet's.
	foreign string
	// refused says why the API server does not take the node.
	refused string
	// moves: it may take over the template in this pass.
	moves bool
}

// scope is what one pass over a fleet knows: filled by observe, decide and act, and
// turned into status by report.
type scope struct {
	snd      *v1alpha1.SeiNodeDeployment
	before   *v1alpha1.SeiNodeDeployment
	now      time.Time
	snapshot *statuspatch.Snapshot

	members []*member
	// surplus are nodes beyond the wanted number, highest ordinal first.
	surplus []*v1alpha1.SeiNode
	// stale: the cache is behind what we wrote.
	stale bool

	// genesis are the ConfigMaps with a genesis of the fleet's chain.
	genesis  []corev1.ConfigMap
	ceremony fleet.Ceremony
	progress plan.Progress
	// finished is the plan that ended in this pass.
	finished *v1alpha1.TaskPlan
	warnings []string

	targetHash string
	// changes are the fields a rollout is about.
	changes []string
	// nodes is how the members are judged; after act, as it left them.
	nodes []fleet.Node

	networking networking

	// told are the events of what was done in this pass.
	told []events.Event

	err          error
	again        bool
	requeueAfter time.Duration
}

func (r *Reconciler) newScope(snd *v1alpha1.SeiNodeDeployment) *scope {
	return &scope{snd: snd, before: snd.DeepCopy(), now: r.Clock.Now(), snapshot: r.status.New(snd)}
}

// comeBackIn asks for another look after d, unless an earlier one is due.
func (s *scope) comeBackIn(d time.Duration) {
	if d > 0 && (s.requeueAfter == 0 || d < s.requeueAfter) {
		s.requeueAfter = d
	}
}

func (s *scope) tell(e events.Event) { s.told = append(s.told, e) }

// judge looks at every member as it is now.
func (s *scope) judge() error {
	s.nodes = make([]fleet.Node, 0, len(s.members))
	for _, m := range s.members {
		live := m.live
		if m.foreign != "" {
			live = nil
		}
		n, err := fleet.Observe(m.target, live, m.restarted)
		if err != nil {
			return err
		}
		switch {
		case m.foreign != "":
			n.Why = m.foreign
		case m.refused != "":
			n.Why = m.refused
		}
		s.nodes = append(s.nodes, n)
	}
	return nil
}
