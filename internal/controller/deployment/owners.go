package deployment

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// syncOwners gives the fleet's nodes the owner that its deletion policy asks for. It does so at
// once and also while the fleet is paused: the garbage collector waits for nobody.
func (r *Reconciler) syncOwners(ctx context.Context, s *scope) error {
	var errs []error
	for i := range s.Result.Members {
		m := &s.Result.Members[i]
		if m.Live == nil {
			continue
		}
		node, changed := fleet.WithOwner(s.snd, m.Live)
		node, unmarked := fleet.Staying(s.snd, node)
		var err error
		m.Live, err = r.patchNode(ctx, s, m.Live, node, changed || unmarked)
		errs = append(errs, err)
	}
	for _, node := range s.Observed.Surplus {
		owned, changed := fleet.WithOwner(s.snd, node)
		_, err := r.patchNode(ctx, s, node, owned, changed)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// patchNode writes a node's metadata and returns the node as it is then.
func (r *Reconciler) patchNode(ctx context.Context, s *scope, live, node *v1alpha1.SeiNode, changed bool) (*v1alpha1.SeiNode, error) {
	if !changed {
		return live, nil
	}
	patch := client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})
	err := r.Client.Patch(ctx, node, patch, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment))
	switch {
	case apierrors.IsConflict(err):
		s.comeBackIn(loop.StaleInterval)
		return live, nil
	case err != nil:
		return live, fmt.Errorf("setting the owner of SeiNode %s: %w", live.Name, err)
	}
	r.Writes.Wrote(node)
	return node, nil
}

// leaving reports whether the fleet is being deleted although the cache does not show it yet. It is
// asked before something is adopted: what the garbage collector has just released, for
// --cascade=orphan, would be adopted again and go with the fleet.
func (r *Reconciler) leaving(ctx context.Context, s *scope, obj client.Object) (bool, error) {
	if fleet.Owns(s.snd, obj) {
		return false, nil
	}
	now := &v1alpha1.SeiNodeDeployment{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.snd), now); err != nil {
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
	return now.DeletionTimestamp != nil || now.UID != s.snd.UID, nil
}
