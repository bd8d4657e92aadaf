package deployment

import (
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// scope is what one pass over a fleet knows: filled by observe, decide and act, and
// turned into status by report.
type scope struct {
	// snd is the fleet with the status that is being written.
	snd      *v1alpha1.SeiNodeDeployment
	snapshot *statuspatch.Snapshot
	fleet.Pass
	// platform is the operator's configuration without what other fleets have taken of it.
	platform *platform.Config

	// stale: the cache is behind what we wrote.
	stale    bool
	progress plan.Progress
	// finished is the plan that ended in this pass.
	finished *v1alpha1.TaskPlan
	warnings []string
	// budgetProblem says why the fleet has no PodDisruptionBudget.
	budgetProblem string
	// historyProblem says why a template of the fleet is not kept.
	historyProblem string
	// told are the events of what was done in this pass.
	told []events.Event

	again        bool
	requeueAfter time.Duration
}

func (r *Reconciler) newScope(snd *v1alpha1.SeiNodeDeployment) *scope {
	s := &scope{snd: snd, snapshot: r.Status.New(snd), platform: r.Platform}
	fleet.TakeOver(snd)
	fleet.EndPlan(&snd.Status, r.Clock.Now())
	s.Observed.Fleet, s.Observed.Now = snd.DeepCopy(), r.Clock.Now()
	return s
}

// before is the fleet as it was read.
func (s *scope) before() *v1alpha1.SeiNodeDeployment { return s.Observed.Fleet }

// comeBackIn asks for another look after d, unless an earlier one is due.
func (s *scope) comeBackIn(d time.Duration) {
	if d > 0 && (s.requeueAfter == 0 || d < s.requeueAfter) {
		s.requeueAfter = d
	}
}

func (s *scope) tell(e events.Event) { s.told = append(s.told, e) }

// decide works out what to do. What is done changes the result and never the observation.
func (r *Reconciler) decide(s *scope) error {
	var err error
	if s.Decision, err = fleet.Decide(&s.Observed, s.platform); err != nil {
		return err
	}
	s.Result.Members, s.Result.Nodes = slices.Clone(s.Observed.Members), s.Decision.Nodes
	return nil
}
