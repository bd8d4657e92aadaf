package operation

import (
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
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

const (
	// cancelPatience is for how long the deletion of a task waits for a sidecar that does not
	// answer. A dead node must not keep its tasks from going.
	cancelPatience = 30 * time.Second
	cancelInterval = 2 * time.Second
)

// finalize cancels what the node's sidecar still works on for a task that is being deleted.
func (r *Reconciler) finalize(ctx context.Context, task *v1alpha1.SeiNodeTask) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(task, v1alpha1.FinalizerSeiNodeTask) {
		return ctrl.Result{}, nil
	}
	if err := r.cancel(ctx, task); err != nil {
		if r.Clock.Now().Before(task.DeletionTimestamp.Add(cancelPatience)) {
			return ctrl.Result{RequeueAfter: cancelInterval}, nil
		}
		r.Events.Emit(ctx, task, events.New(events.TaskNotCancelled, "the task is gone, but its node may still work on it: %v", err).About(events.TargetNode(task)))
	}
	if err := r.release(ctx, task); err != nil {
		return loop.ConflictIsRetry(err)
	}
	r.turns.end(client.ObjectKeyFromObject(task))
	return ctrl.Result{}, nil
}

var errNoSidecar = errors.New("its sidecar does not run")

// cancel has the node's sidecar forget the task's steps. Where the node is gone there is nothing to
// cancel.
func (r *Reconciler) cancel(ctx context.Context, task *v1alpha1.SeiNodeTask) error {
	if !domain.Running(&task.Status) {
		return nil
	}
	node, err := cached(ctx, r.Client, target(task), &v1alpha1.SeiNode{})
	if err != nil || node == nil || node.UID != task.Status.TargetUID || node.DeletionTimestamp != nil {
		return err
	}
	objects, err := r.observeObjects(ctx, node)
	if err != nil {
		return err
	}
	to := r.dial(node, &objects)
	if to == nil {
		return errNoSidecar
	}
	return cancelSteps(ctx, to, task.Status.Plan)
}

// cancelSteps cancels the steps of a plan that are not complete. A sidecar that does not know one
// has nothing to cancel: it never got it.
func cancelSteps(ctx context.Context, to sidecar.Sidecar, plan *v1alpha1.TaskPlan) error {
	for i := range plan.Tasks {
		if plan.Tasks[i].Status == v1alpha1.TaskComplete {
			continue
		}
		if err := to.Delete(ctx, plan.Tasks[i].ID); err != nil && !errors.Is(err, sidecar.ErrNotFound) {
			return fmt.Errorf("cancelling %s: %w", plan.Tasks[i].Type, err)
		}
	}
	return nil
}

// release lets a task go, or stay without being seen to.
func (r *Reconciler) release(ctx context.Context, task *v1alpha1.SeiNodeTask) error {
	before := task.DeepCopy()
	if !controllerutil.RemoveFinalizer(task, v1alpha1.FinalizerSeiNodeTask) {
		return nil
	}
	if err := r.Client.Patch(ctx, task, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}
