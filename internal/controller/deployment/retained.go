package deployment

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// syncSelected sees to it that the fleet's Services select the pods of its own nodes, and not those
// of nodes that an earlier fleet has left behind. Only the label of the running pod is touched: one in
// the node's template would restart it.
func (r *Reconciler) syncSelected(ctx context.Context, s *scope) error {
	list := &v1alpha1.SeiNodeList{}
	err := r.Client.List(ctx, list, client.InNamespace(s.snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: s.snd.Name})
	if err != nil {
		return fmt.Errorf("listing nodes with the fleet's label: %w", err)
	}
	var errs []error
	for i := range list.Items {
		if fleet.IsRetained(s.snd, &list.Items[i]) {
			errs = append(errs, r.selectPod(ctx, &list.Items[i], ""))
		}
	}
	for i := range s.Result.Members {
		if m := &s.Result.Members[i]; m.Live != nil && m.Foreign == "" {
			errs = append(errs, r.selectPod(ctx, m.Live, s.snd.Name))
		}
	}
	return errors.Join(errs...)
}

// selectPod puts the label of a fleet on the pod of a node, or takes it off when the fleet is empty.
// Only the pod of the node's own StatefulSet is touched: a bootstrap Job's answers nobody.
func (r *Reconciler) selectPod(ctx context.Context, node *v1alpha1.SeiNode, name string) error {
	pod, err := r.ownPod(ctx, node)
	if err != nil || pod == nil || pod.DeletionTimestamp != nil || pod.Labels[v1alpha1.LabelDeployment] == name {
		return err
	}
	patched := pod.DeepCopy()
	patched.Labels[v1alpha1.LabelDeployment] = name
	if name == "" {
		delete(patched.Labels, v1alpha1.LabelDeployment)
	}
	err = r.Client.Patch(ctx, patched, client.MergeFromWithOptions(pod, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("labelling pod %s: %w", pod.Name, err)
	}
	return nil
}
