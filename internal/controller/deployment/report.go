package deployment

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// report derives the status from what this pass saw and did, writes it once if it
// changed, and tells of transitions. It runs after errors too: what could not be
// observed stays as it was.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	if s.nodes != nil {
		s.deriveNodes()
		s.deriveRollout()
	}
	s.deriveConditions()
	if s.networking.synced {
		s.deriveNetworking(r.Platform)
	}
	s.networkingReady(conditions.For(&s.snd.Status.Conditions, s.snd.Generation, s.now), r.Platform)
	enterPhase(s.snd, s.phase(), s.now)
	s.snd.Status.ObservedGeneration = s.snd.Generation
	result, err := s.snapshot.Patch(ctx, r.Client, s.snd)
	if err != nil {
		return err
	}
	r.Metrics.DeploymentObserved(s.before, s.snd)
	r.Metrics.TasksCalled(v1alpha1.KindSeiNodeDeployment, s.progress)
	r.countPlan(s)
	r.Events.Emit(ctx, s.snd, s.told...)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, s.snd, events.ForDeployment(s.before, s.snd, strings.Join(s.changes, ", "))...)
		logPhase(ctx, s.before, s.snd)
	}
	loop.LogPlan(ctx, s.progress, s.before.Status.Plan, s.snd.Status.Plan, s.finished)
	r.emitTroubles(ctx, s)
	return nil
}

// deriveNodes writes which nodes there are and how they do.
func (s *scope) deriveNodes() {
	status := &s.snd.Status
	status.Selector = fleet.Selector(s.snd.Name)
	status.Nodes, status.IncumbentNodes = nil, nil
	status.ReadyReplicas, status.UpdatedReplicas = 0, 0
	for i, m := range s.members {
		if m.live == nil || m.foreign != "" {
			continue
		}
		ready := fleet.IsReady(m.live)
		status.Nodes = append(status.Nodes, v1alpha1.FleetNode{
			Name: m.live.Name, Phase: m.live.Status.Phase, Ready: ready, CurrentImage: m.live.Status.CurrentImage,
		})
		status.IncumbentNodes = append(status.IncumbentNodes, m.live.Name)
		if ready {
			status.ReadyReplicas++
		}
		if s.nodes[i].Current && s.nodes[i].Settled {
			status.UpdatedReplicas++
		}
	}
	status.Replicas = int32(len(status.Nodes))
}

// deriveRollout writes how far a change has come. A paused fleet's rollout stands
// where it was.
func (s *scope) deriveRollout() {
	status := &s.snd.Status
	if s.snd.Spec.Paused {
		return
	}
	status.Rollout = fleet.Track(s.before.Status.Rollout, s.before.Status.TemplateHash, s.targetHash, s.nodes, s.now)
	if status.Rollout == nil {
		status.TemplateHash = s.targetHash
		return
	}
	_, left := fleet.StalledSince(status.Rollout, fleet.ProgressDeadline(s.snd), s.now)
	s.comeBackIn(left)
}

// emitTroubles tells once of what keeps a node from being the fleet's, and of errors
// that no condition speaks of.
func (r *Reconciler) emitTroubles(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.snd)
	tell := func(reason events.Reason, text string) {
		if r.latch.Changed(key, reason, text) {
			r.Events.Emit(ctx, s.snd, events.New(reason, "%s", text))
		}
	}
	var foreign, refused []string
	for _, m := range s.members {
		if m.foreign != "" {
			foreign = append(foreign, m.foreign)
		}
		if m.refused != "" {
			refused = append(refused, m.refused)
		}
	}
	tell(events.NodeNotOurs, strings.Join(foreign, "; "))
	tell(events.NodeRefused, strings.Join(refused, "; "))
	tell(events.GenesisWarning, s.warned())
	failure := ""
	if s.err != nil {
		failure = s.err.Error()
	}
	tell(events.ReconcileFailed, failure)
}

// countPlan records how long the plan took that ended in this pass.
func (r *Reconciler) countPlan(s *scope) {
	if p := s.finished; p != nil {
		outcome := v1alpha1.OutcomeComplete
		if p.Phase == v1alpha1.PlanFailed {
			outcome = v1alpha1.OutcomeFailed
		}
		r.Metrics.PlanEnded(v1alpha1.KindSeiNodeDeployment, p.Reason, outcome, s.now.Sub(p.StartedAt.Time))
	}
}

// logPhase writes a line when the phase has changed. What else happens is an event, which
// is logged too.
func logPhase(ctx context.Context, before, after *v1alpha1.SeiNodeDeployment) {
	if from, to := before.Status.Phase, after.Status.Phase; from != to {
		log.FromContext(ctx).Info("phase changed", "from", from, "to", to)
	}
}
