package operation

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/internal/task/nodetask"
)

// decide asks the domain what to do.
func (r *Reconciler) decide(s *scope) {
	s.Decision = domain.Decide(&s.Observed)
	s.comeBackIn(s.Decision.RecheckAfter)
}

// act does what was decided. A new plan is only stored; the next pass begins it, so that every side
// effect has been announced in status.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	switch s.Decision.Action {
	case domain.Begin:
		return r.begin(ctx, s)
	case domain.Run:
		if s.Observed.Group == nil {
			r.advance(ctx, s)
		}
	case domain.Start:
		return r.start(ctx, s)
	case domain.Withdraw:
		return r.withdraw(ctx, s)
	case domain.Wait, domain.Fail, domain.Rest, domain.Complete:
	}
	return nil
}

// begin makes the task's plan. A task that changes its node takes the node's turn, and one that a
// sidecar will work on is seen to before it goes. A task for several nodes has no plan: it has
// children.
func (r *Reconciler) begin(ctx context.Context, s *scope) error {
	if domain.Queues(&s.task.Spec) {
		if err := r.takeTurn(ctx, s); err != nil {
			return err
		}
	}
	s.again = true
	if s.Observed.Group != nil {
		return nil
	}
	if s.Decision.Kind.OnSidecar {
		before := s.task.ResourceVersion
		if err := loop.EnsureFinalizer(ctx, r.Client, s.task, v1alpha1.FinalizerSeiNodeTask); err != nil {
			return err
		}
		if s.task.ResourceVersion != before {
			s.snapshot = r.Status.New(s.task)
		}
	}
	s.Plan = plan.New(s.Decision.Plan, s.Observed.Now)
	return nil
}

// takeTurn makes sure that no other task changes the node. The API server itself is asked, because a
// cache may be late, and what an earlier process let begin is nowhere but in the tasks' status.
func (r *Reconciler) takeTurn(ctx context.Context, s *scope) error {
	others, err := r.othersLive(ctx, s.task)
	if err != nil {
		return err
	}
	live := s.Observed
	live.Others = others
	if live.Budget != nil {
		if late, err := r.rollingOut(ctx, live.Budget.Fleet); late || err != nil {
			return cmp.Or(err, errCacheBehind)
		}
	}
	// The turn is taken by a task that begins, and by no other: those that wait for it are notified of its
	// end, not that it has thought better of it.
	if live.Behind() != "" || !r.turns.take(target(s.task), turn{s.key(), s.task.UID}) {
		return errCacheBehind // another one comes first; the next look says which
	}
	return nil
}

// rollingOut asks the API server whether a fleet rolls out by now, or is gone: the cache may not show
// yet that a rollout has taken the budget.
func (r *Reconciler) rollingOut(ctx context.Context, cachedFleet *v1alpha1.SeiNodeDeployment) (bool, error) {
	snd, err := cached(ctx, r.Live, client.ObjectKeyFromObject(cachedFleet), &v1alpha1.SeiNodeDeployment{})
	if err != nil {
		return false, err
	}
	return snd == nil || fleet.RollingOut(snd), nil
}

// advance runs the plan on. What a sidecar may still be working on when the time is up is
// cancelled.
func (r *Reconciler) advance(ctx context.Context, s *scope) {
	env := r.env(s.before, s.Observed.Node, &s.objects)
	s.Progress = r.executor.Advance(ctx, s.Plan, env)
	s.Outputs = env.Outputs
	s.comeBackIn(s.Progress.RequeueAfter)
	if s.TimedOut() && env.Sidecar != nil {
		if err := cancelSteps(ctx, env.Sidecar, s.Plan); err != nil {
			log.FromContext(ctx).Info("a step that ran out of time could not be cancelled", "error", err.Error())
		}
	}
}

func (r *Reconciler) env(of *v1alpha1.SeiNodeTask, node *v1alpha1.SeiNode, o *task.Objects) *nodetask.Env {
	return &nodetask.Env{
		Client: r.Client, Task: of, Node: node, Objects: o, Sidecar: o.Dial(r.Sidecars, node),
		Platform: r.Platform, Clock: r.Clock, Wrote: r.Writes.Wrote,
	}
}
