// Package loop is what all reconcilers do the same way: how they take up an object,
// what wakes them, and how they take a lost race. What a kind is about does not enter.
package loop

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// StaleInterval is how soon to look again when the cache is behind a write.
const StaleInterval = 20 * time.Millisecond

// Stale ends a reconcile whose cache is behind our own last write.
func Stale() (ctrl.Result, error) { return ctrl.Result{RequeueAfter: StaleInterval}, nil }

// ConflictIsRetry turns a lost race into a quiet second look: somebody else changed an
// object, and what they wrote is on its way through the watch.
func ConflictIsRetry(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return Stale()
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// EnsureFinalizer makes sure that obj is seen to before it goes.
func EnsureFinalizer(ctx context.Context, c client.Client, obj client.Object, finalizer string) error {
	if controllerutil.ContainsFinalizer(obj, finalizer) {
		return nil
	}
	before := obj.DeepCopyObject().(client.Object)
	controllerutil.AddFinalizer(obj, finalizer)
	if err := c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// AskedForChange lets through what people change. Our own status writes would only wake
// an object up to find nothing to do.
func AskedForChange() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{},
		predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectNew.GetDeletionTimestamp() != nil && e.ObjectOld.GetDeletionTimestamp() == nil
		}, CreateFunc: Never[event.CreateEvent], DeleteFunc: Never[event.DeleteEvent], GenericFunc: Never[event.GenericEvent]},
	)
}

// Never lets no event of a kind through.
func Never[E any](E) bool { return false }
