package deployment

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/render"
)

// syncBudget brings the fleet's PodDisruptionBudget to what is asked for. One that the API server
// does not take, or that somebody else has in its place, is told of and holds up nothing.
func (r *Reconciler) syncBudget(ctx context.Context, s *scope) error {
	want := fleet.DisruptionBudget(s.snd)
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, s.snd.Name, &policyv1.PodDisruptionBudget{})
	if err != nil {
		return err
	}
	if live != nil {
		if s.budgetProblem = fleet.MayAdopt(s.snd, "PodDisruptionBudget", live); s.budgetProblem != "" || live.DeletionTimestamp != nil {
			return nil
		}
		if ok, _ := render.Covers(want, live); ok {
			return nil
		}
	}
	err = r.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment), client.ForceOwnership)
	switch {
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		s.budgetProblem = fmt.Sprintf("the API server refuses PodDisruptionBudget %s, so that drains are not held to spec.updateStrategy.inPlace.maxUnavailable: "+
			"let the policy that refuses it pass it: %v", s.snd.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("applying PodDisruptionBudget %s: %w", s.snd.Name, err)
	}
	return nil
}
