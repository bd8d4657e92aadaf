package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/plan"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/internal/task/nodetask"
)

const (
	// cancelPatience is for how long the deletion of a task waits for a sidecar that does not
	// answer. A dead node must not keep its tasks from going.
	cancelPatience = 30 * time.Second
	cancelInterval = 2 * time.Second
)

// finalize cancels what the node's sidecar still works on for a task that is being deleted.
func (r *Reconciler) finalize(ctx context.Context, of *v1alpha1.SeiNodeTask) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(of, v1alpha1.FinalizerSeiNodeTask) {
		return ctrl.Result{}, nil
	}
	if err := r.cancel(ctx, of); err != nil {
		if errors.Is(err, errGoesOn) || r.Clock.Now().Before(of.DeletionTimestamp.Add(cancelPatience)) {
			return ctrl.Result{RequeueAfter: cancelInterval}, nil
		}
		r.Events.Emit(ctx, of, events.New(events.TaskNotCancelled, "the task is gone, but its node may still work on it: %v", err).About(events.TargetNode(of)))
	}
	if err := r.release(ctx, of); err != nil {
		return loop.ConflictIsRetry(err)
	}
	r.turns.end(client.ObjectKeyFromObject(of))
	return ctrl.Result{}, nil
}

var errNoSidecar = errors.New("its sidecar does not run")

// cancel has the node's sidecar forget the task's steps. Where the node is gone there is nothing to
// cancel.
func (r *Reconciler) cancel(ctx context.Context, of *v1alpha1.SeiNodeTask) error {
	if !domain.Running(&of.Status) {
		return nil
	}
	node, err := cached(ctx, r.Client, target(of), &v1alpha1.SeiNode{})
	if err != nil || node == nil || node.UID != of.Status.TargetUID || node.DeletionTimestamp != nil {
		return err
	}
	objects, err := r.observeObjects(ctx, node)
	if err != nil {
		return err
	}
	env := r.env(of, node, &objects)
	if env.Sidecar == nil {
		return errNoSidecar
	}
	if kind, err := domain.KindOf(&of.Spec); err == nil && kind.Holds {
		return r.letGo(ctx, env)
	}
	return cancelSteps(ctx, env.Sidecar, of.Status.Plan)
}

// errGoesOn: the sidecar is at work for a task that is being deleted and cannot be stopped.
var errGoesOn = errors.New("the node's data is being replaced")

// letGo opens the gate of a node that a task holds. Where the node's data was touched, what is left
// of the plan is done first: a node that is let go without its data would start from nothing.
func (r *Reconciler) letGo(ctx context.Context, env *nodetask.Env) error {
	p := env.Task.Status.Plan.DeepCopy()
	asItWas, err := nodetask.MayLetGo(ctx, env.Sidecar, p)
	if err != nil {
		return err
	}
	if !asItWas {
		return goOn(r.executor.Advance(ctx, p, env), p)
	}
	if err := cancelSteps(ctx, env.Sidecar, p); err != nil {
		return err
	}
	if o := nodetask.LetGo(ctx, env, p); !o.IsDone() {
		return fmt.Errorf("opening the node's gate: %s", cmp.Or(o.Message, fmt.Sprint(o.Err)))
	}
	return nil
}

// goOn says how far the rest of a plan came.
func goOn(progress plan.Progress, p *v1alpha1.TaskPlan) error {
	if p.Phase == v1alpha1.PlanComplete {
		return nil
	}
	if n := len(progress.Steps); n > 0 && p.Phase == v1alpha1.PlanActive {
		switch last := progress.Steps[n-1].Outcome; last.Reason {
		case task.ReasonSidecarWorking, nodetask.ReasonRetried:
			return errGoesOn
		default:
			return errors.New(last.Message)
		}
	}
	if p.FailedTaskDetail != nil {
		return fmt.Errorf("%s: %s; the node is stopped behind its gate", p.FailedTaskDetail.Type, p.FailedTaskDetail.Error)
	}
	return errGoesOn
}

// cancelSteps cancels the steps of a plan that are not complete. A sidecar that does not know one
// has nothing to cancel: it never got it.
func cancelSteps(ctx context.Context, to sidecar.Sidecar, p *v1alpha1.TaskPlan) error {
	for i := range p.Tasks {
		if p.Tasks[i].Status == v1alpha1.TaskComplete {
			continue
		}
		if err := to.Delete(ctx, p.Tasks[i].ID); err != nil && !errors.Is(err, sidecar.ErrNotFound) {
			return fmt.Errorf("cancelling %s: %w", p.Tasks[i].Type, err)
		}
	}
	return nil
}

// release lets a task go, or stay without being seen to.
func (r *Reconciler) release(ctx context.Context, of *v1alpha1.SeiNodeTask) error {
	before := of.DeepCopy()
	if !controllerutil.RemoveFinalizer(of, v1alpha1.FinalizerSeiNodeTask) {
		return nil
	}
	if err := r.Client.Patch(ctx, of, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}
