// Package loop is what all reconcilers do the same way: how they take up an object,
// what wakes them, how they take a lost race, and a namespace that goes. What a kind is
// about does not enter.
package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
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

// NamespaceEnds reports whether something could not be made because its namespace is being
// deleted. One such answer will do: whatever else went wrong in the same pass goes with it.
func NamespaceEnds(err error) bool {
	if several, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return slices.ContainsFunc(several.Unwrap(), NamespaceEnds)
	}
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// AwaitDeletion ends a pass over an object whose namespace is being deleted. There is
// nothing to repair and nobody to tell; the object's own deletion, which follows, wakes
// its reconciler up.
func AwaitDeletion(ctx context.Context, err error) (ctrl.Result, error) {
	log.FromContext(ctx).V(1).Info("the namespace is being deleted, waiting for the object's own deletion", "refused", err.Error())
	return ctrl.Result{}, nil
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
