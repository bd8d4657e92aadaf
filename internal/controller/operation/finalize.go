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
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// cancelInterval is how often a task is looked at that is being deleted and cannot go yet.
const cancelInterval = 2 * time.Second

// finalize cancels what the node's sidecar still works on for a task that is being deleted, and
// gives a node back that the task holds.
func (r *Reconciler) finalize(ctx context.Context, of *v1alpha1.SeiNodeTask) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(of, v1alpha1.FinalizerSeiNodeTask) {
		return ctrl.Result{}, nil
	}
	if err := r.cancel(ctx, of); err != nil {
		if r.mustWait(of, err) {
			if err := r.reportWait(ctx, of, err); err != nil {
				return loop.ConflictIsRetry(err)
			}
			return ctrl.Result{RequeueAfter: cancelInterval}, nil
		}
		r.Events.Emit(ctx, of, events.New(events.TaskNotCancelled, "the task was deleted, but its node may still be running it: %v", err).About(events.Target(of)))
	}
	if err := r.release(ctx, of); err != nil {
		return loop.ConflictIsRetry(err)
	}
	r.turns.end(client.ObjectKeyFromObject(of))
	return ctrl.Result{}, nil
}

// mustWait reports whether a task that is being deleted has to stay although something is in the
// way. A node that it holds would stay down for good without it.
func (r *Reconciler) mustWait(of *v1alpha1.SeiNodeTask, err error) bool {
	if r.Clock.Now().Before(of.DeletionTimestamp.Add(domain.CancelPatience)) {
		return true
	}
	return domain.MayHold(of) && !errors.Is(err, errOlderSidecar)
}

// reportWait says in the task's status what its deletion waits for.
func (r *Reconciler) reportWait(ctx context.Context, of *v1alpha1.SeiNodeTask, why error) error {
	snapshot := r.Status.New(of)
	conditions.For(&of.Status.Conditions, of.Generation, r.Clock.Now()).False(v1alpha1.ConditionReleased, v1alpha1.ReasonReleasing, "waiting: "+why.Error())
	_, err := snapshot.Patch(ctx, r.Client, of)
	return err
}

var errNoSidecar = errors.New("its sidecar is not running")

// cancel has the node's sidecar forget the task's steps. Where the node is gone there is nothing to
// cancel.
func (r *Reconciler) cancel(ctx context.Context, of *v1alpha1.SeiNodeTask) error {
	if !domain.Running(&of.Status) && !domain.MayHold(of) {
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
	switch {
	case env.Sidecar == nil && node.Spec.Paused:
		return errors.New("its node is paused: unset spec.paused")
	case env.Sidecar == nil:
		return errNoSidecar
	}
	if kind, err := domain.KindOf(&of.Spec); err == nil && kind.Holds {
		return r.releaseNode(ctx, env)
	}
	return cancelSteps(ctx, env.Sidecar, of.Status.Plan)
}

// cancelSteps cancels the steps of a plan that are not complete. A sidecar that does not know one
// has nothing to cancel: it never got it.
func cancelSteps(ctx context.Context, to sidecar.Sidecar, p *v1alpha1.TaskPlan) error {
	for i := range p.Tasks {
		// A deletion of data is not stopped half-way.
		if p.Tasks[i].Status == v1alpha1.TaskComplete || p.Tasks[i].Type == domain.StepResetData {
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
