package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
)

// historyRetry is after how long a template is written down again that the API server could not take.
const historyRetry = 30 * time.Second

// syncHistory writes the template down before any node gets it, and deletes templates beyond the
// limit. It also does so while the fleet is paused: nodes are not touched by it. What cannot be
// written is reported and holds up nothing.
func (r *Reconciler) syncHistory(ctx context.Context, s *scope) error {
	list := &appsv1.ControllerRevisionList{}
	err := r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelRevisionOf: s.snd.Name})
	if err != nil {
		return fmt.Errorf("listing the fleet's templates: %w", err)
	}
	found := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}
	history, err := fleet.DecideHistory(s.snd, s.Observed.Nodes(), found)
	if err != nil {
		return err
	}
	if behind, err := r.behindHistory(ctx, s, history.Current, found); behind || err != nil {
		s.comeBackIn(loop.StaleInterval) // somebody may have deleted what the cache does not show yet
		return s.historyFailed(history.Current, err)
	}
	s.historyProblem = history.Problem
	for _, write := range history.Writes {
		err = errors.Join(err, r.applyRevision(ctx, s, write))
	}
	for _, surplus := range history.Surplus {
		deleted := r.Client.Delete(ctx, surplus, client.Preconditions{UID: &surplus.UID})
		err = errors.Join(err, s.historyFailed(surplus.Name, client.IgnoreNotFound(deleted)))
	}
	return err
}

// behindHistory reports whether the cache does not show yet that the template was written down.
func (r *Reconciler) behindHistory(ctx context.Context, s *scope, current string, found []*appsv1.ControllerRevision) (bool, error) {
	var seen client.Object
	if at := slices.IndexFunc(found, func(revision *appsv1.ControllerRevision) bool { return revision.Name == current }); at >= 0 {
		seen = found[at]
	}
	return r.Writes.Behind(ctx, &appsv1.ControllerRevision{}, client.ObjectKey{Namespace: s.snd.Namespace, Name: current}, seen)
}

func (r *Reconciler) applyRevision(ctx context.Context, s *scope, write fleet.RevisionWrite) error {
	name := *write.Want.Name
	if write.Live != nil {
		if leaving, err := r.leaving(ctx, s, write.Live); leaving || err != nil {
			return s.historyFailed(name, err)
		}
	}
	err := r.Client.Apply(ctx, write.Want, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment), client.ForceOwnership)
	if err != nil {
		return s.historyFailed(name, err)
	}
	made, err := render.Convert[appsv1.ControllerRevision](write.Want)
	if err != nil {
		return err
	}
	r.Writes.Wrote(made)
	return nil
}

// historyFailed notes why a template is not kept, or not deleted. A rollout does not depend on it, so
// that only the end of the namespace is an error.
func (s *scope) historyFailed(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case loop.NamespaceEnds(err):
		return err
	case apierrors.IsConflict(err):
		// It is no longer as it was when this was decided.
		s.comeBackIn(loop.StaleInterval)
		return nil
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		s.historyProblem = fmt.Sprintf("the API server rejects ControllerRevision %s, so kubectl sei rollout undo cannot go back to this template: "+
			"change the policy that rejects it: %v", name, err)
	default:
		s.historyProblem = fmt.Sprintf("ControllerRevision %s could not be written or deleted; retrying: %v", name, err)
		s.comeBackIn(historyRetry)
	}
	return nil
}

// fleetOfRevision maps a ControllerRevision to the fleet whose template it holds.
func fleetOfRevision(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelRevisionOf]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}
