package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task/nodetask"
)

// releaseNode gives a node back that a task holds.
func (r *Reconciler) releaseNode(ctx context.Context, env *nodetask.Env) error {
	document, err := env.Sidecar.Node(ctx)
	if err != nil {
		return fmt.Errorf("looking at the node: %w", err)
	}
	p := env.Task.Status.Plan.DeepCopy()
	if document.APILevel < api.LevelRelease {
		return r.releaseOlder(ctx, env, p)
	}
	holding, err := nodetask.HoldingOf(ctx, env.Sidecar, document, p)
	if err != nil {
		return fmt.Errorf("looking at the node: %w", err)
	}
	switch domain.DecideRelease(env.Task, holding, r.Clock.Now()) {
	case domain.FinishReset:
		return r.finishReset(ctx, env, p)
	case domain.FinishSteps:
		if done, err := r.finishSteps(ctx, env, p); done || err != nil {
			return err
		}
		return r.releaseHold(ctx, env, holding)
	case domain.ReleaseNow:
		return r.releaseHold(ctx, env, holding)
	default:
		return cancelSteps(ctx, env.Sidecar, p)
	}
}

// finishReset deletes the rest of the data. A node on half of its data never starts.
func (r *Reconciler) finishReset(ctx context.Context, env *nodetask.Env, p *v1alpha1.TaskPlan) error {
	step := plan.Find(p, domain.StepResetData)
	o := r.executor.Tasks[step.Type].Run(ctx, env, step)
	switch {
	case o.IsDone():
		return errors.New("its node's chain data is deleted; waiting for the node to be observed again")
	case o.IsTerminal(): // forgotten there, it is tried again
		err := env.Sidecar.Delete(ctx, step.ID)
		return errors.Join(fmt.Errorf("the rest of its node's chain data cannot be deleted: %w", o.Err), ignoreNotFound(err))
	default:
		return fmt.Errorf("the rest of its node's chain data is being deleted: %s", cmp.Or(o.Message, fmt.Sprint(o.Err)))
	}
}

// finishSteps does what is left of the plan after the data is gone, up to the opening of the gate,
// so that the node gets its data from where the task has said. It reports whether the gate is open;
// if a step fails, the node's own plan decides.
func (r *Reconciler) finishSteps(ctx context.Context, env *nodetask.Env, p *v1alpha1.TaskPlan) (bool, error) {
	progress := r.executor.Advance(ctx, p, env)
	if open := plan.Find(p, domain.StepMarkReady); open != nil && open.Status == v1alpha1.TaskComplete {
		return true, nil
	}
	if n := len(progress.Steps); n > 0 && p.Phase == v1alpha1.PlanActive {
		return false, fmt.Errorf("its node is being set up: %s: %s", progress.Steps[n-1].Task.Type, progress.Steps[n-1].Outcome.Message)
	}
	return false, nil
}

// releaseHold ends the hold. What the sidecar still does for the task is cancelled first.
func (r *Reconciler) releaseHold(ctx context.Context, env *nodetask.Env, holding domain.Holding) error {
	if err := cancelSteps(ctx, env.Sidecar, env.Task.Status.Plan); err != nil {
		return err
	}
	hold := plan.Find(env.Task.Status.Plan, domain.StepHoldGate)
	if err := ignoreNotFound(env.Sidecar.Delete(ctx, hold.ID)); err != nil {
		return fmt.Errorf("releasing the node's gate: %w", err)
	}
	state := "its chain data is unchanged"
	if holding.Emptied {
		state = "its chain data was deleted, and it is set up again as its spec says"
	}
	r.Events.Emit(ctx, env.Task, events.New(events.NodeReleased, "SeiNode %s is released: %s", env.Node.Name, state).About(events.Target(env.Task)))
	return nil
}

// errOlderSidecar: nothing more can be done for a node that such a sidecar holds.
var errOlderSidecar = errors.New("its node's sidecar is too old to release the node without starting it")

// releaseOlder opens the gate of a node whose sidecar cannot release it. Where the node's data was
// touched, what is left of the plan is done first: a node that is released without its data would
// start from nothing.
func (r *Reconciler) releaseOlder(ctx context.Context, env *nodetask.Env, p *v1alpha1.TaskPlan) error {
	asItWas, err := nodetask.MayLetGo(ctx, env.Sidecar, p)
	if err != nil {
		return err
	}
	if !asItWas {
		if done, err := r.finishSteps(ctx, env, p); done || err != nil {
			return err
		}
		return fmt.Errorf("%w: create another SeiNodeTask of kind StateSync", errOlderSidecar)
	}
	if err := cancelSteps(ctx, env.Sidecar, p); err != nil {
		return err
	}
	if o := nodetask.LetGo(ctx, env, p); !o.IsDone() {
		return fmt.Errorf("opening the node's gate: %s", cmp.Or(o.Message, fmt.Sprint(o.Err)))
	}
	return nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, sidecar.ErrNotFound) {
		return nil
	}
	return err
}
