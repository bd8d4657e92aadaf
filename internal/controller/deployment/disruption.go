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
// does not take, or that somebody else has in its place, is reported and holds up nothing.
func (r *Reconciler) syncBudget(ctx context.Context, s *scope) error {
	want := fleet.DisruptionBudget(s.snd)
	live, err := loop.Find(ctx, r.Client, s.snd.Namespace, s.snd.Name, &policyv1.PodDisruptionBudget{})
	if err != nil {
		return err
	}
	var seen client.Object
	if live != nil {
		seen = live
	}
	if behind, err := r.Writes.Behind(ctx, &policyv1.PodDisruptionBudget{}, client.ObjectKeyFromObject(s.snd), seen); behind || err != nil {
		s.comeBackIn(loop.StaleInterval) // somebody may have deleted what the cache does not show yet
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
		s.budgetProblem = fmt.Sprintf("the API server rejects PodDisruptionBudget %s, so drains are not limited by spec.updateStrategy.inPlace.maxUnavailable: "+
			"change the policy that rejects it: %v", s.snd.Name, err)
		return nil
	case err != nil:
		return fmt.Errorf("applying PodDisruptionBudget %s: %w", s.snd.Name, err)
	}
	made, err := render.Convert[policyv1.PodDisruptionBudget](want)
	if err != nil {
		return err
	}
	r.Writes.Wrote(made)
	return nil
}
