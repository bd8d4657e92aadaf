package deployment

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// report derives the status from what this pass saw and did, writes it once if it
// changed, and reports transitions. It runs after errors too: what could not be
// observed stays as it was.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	s.comeBackIn(s.Report(s.snd, s.platform))
	result, err := s.snapshot.Patch(ctx, r.Client, s.snd)
	if err != nil {
		return err
	}
	r.Metrics.DeploymentObserved(s.before(), s.snd)
	r.Metrics.TasksCalled(v1alpha1.KindSeiNodeDeployment, s.progress)
	r.Events.Emit(ctx, s.snd, s.told...)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, s.snd, events.ForDeployment(s.before(), s.snd, strings.Join(s.Decision.Changes, ", "))...)
		logPhase(ctx, s.before(), s.snd)
	}
	loop.LogPlan(ctx, s.progress, s.before().Status.Plan, s.snd.Status.Plan, s.finished)
	r.emitTroubles(ctx, s)
	return nil
}

// emitTroubles tells once of what keeps a node from being the fleet's, and of errors
// that no condition is about.
func (r *Reconciler) emitTroubles(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.snd)
	tell := func(reason events.Reason, text string) {
		if r.latch.Changed(key, reason, text) {
			r.Events.Emit(ctx, s.snd, events.New(reason, "%s", text))
		}
	}
	var foreign, refused []string
	for _, m := range s.Result.Members {
		if m.Foreign != "" {
			foreign = append(foreign, m.Foreign)
		}
		if m.Refused != "" {
			refused = append(refused, m.Refused)
		}
	}
	tell(events.NodeNotOurs, strings.Join(foreign, "; "))
	tell(events.NodeRefused, strings.Join(refused, "; "))
	tell(events.DisruptionBudgetRefused, s.budgetProblem)
	tell(events.HistoryNotKept, s.historyProblem)
	tell(events.NotInGenesis, notInGenesis(s.Result.Nodes))
	tell(events.GenesisConflict, conflict(s.Decision.Ceremony))
	tell(events.GenesisWarning, strings.Join(s.warnings, "; "))
	failure := ""
	if s.Result.Err != nil {
		failure = s.Result.Err.Error()
	}
	tell(events.ReconcileFailed, failure)
}

func notInGenesis(nodes []fleet.Node) string {
	var named []string
	for _, n := range nodes {
		if n.NotInGenesis != "" {
			named = append(named, n.Name+": "+n.NotInGenesis)
		}
	}
	return strings.Join(named, "; ")
}

func conflict(c fleet.Ceremony) string {
	if c.State != fleet.CeremonyConflict {
		return ""
	}
	return c.Message
}

// logPhase writes a line when the phase has changed. What else happens is an event, which
// is logged too.
func logPhase(ctx context.Context, before, after *v1alpha1.SeiNodeDeployment) {
	if from, to := before.Status.Phase, after.Status.Phase; from != to {
		log.FromContext(ctx).Info("phase changed", "from", from, "to", to)
	}
}
