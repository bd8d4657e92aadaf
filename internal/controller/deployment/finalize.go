package deployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// finalize lets a fleet go: its nodes go first, or are released. What else it owns is
// collected after it, or released with them. Nothing of it is decided on the cache: what that does
// not show yet would be lost, or deleted although it was released.
func (r *Reconciler) finalize(ctx context.Context, cachedFleet *v1alpha1.SeiNodeDeployment) (ctrl.Result, error) {
	snd := &v1alpha1.SeiNodeDeployment{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(cachedFleet), snd); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !controllerutil.ContainsFinalizer(snd, v1alpha1.FinalizerSeiNodeDeployment) {
		return ctrl.Result{}, nil
	}
	nodes, err := r.fleetsNodes(ctx, snd)
	if err != nil {
		return ctrl.Result{}, err
	}
	bound := slices.DeleteFunc(slices.Clone(nodes), func(node *v1alpha1.SeiNode) bool { return !fleet.Bound(snd, node) })
	if err := r.reportTerminating(ctx, snd, len(bound)); err != nil {
		return loop.ConflictIsRetry(err)
	}
	switch {
	case fleet.Retains(snd), r.orphans.noted(snd):
		// What is orphaned is released here too: the garbage collector knows of no kind for the
		// first half minute after its CRD was installed.
		err = r.releaseObjects(ctx, snd, bound)
	case len(bound) > 0:
		return loop.ConflictIsRetry(r.removeNodes(ctx, bound)) // the last node's end wakes us up
	}
	if err != nil {
		return loop.ConflictIsRetry(err)
	}
	left := slices.DeleteFunc(nodes, func(node *v1alpha1.SeiNode) bool { return node.DeletionTimestamp != nil })
	if err := r.unmark(ctx, left); err != nil {
		return loop.ConflictIsRetry(err)
	}
	return r.release(ctx, snd, len(left))
}

// unmark takes the note of scaling down off the nodes that run on: a fleet may end after it has marked
// a node and before it has deleted it.
func (r *Reconciler) unmark(ctx context.Context, nodes []*v1alpha1.SeiNode) error {
	for _, live := range nodes {
		node, changed := fleet.Released(live)
		if !changed {
			continue
		}
		err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("taking the note of scaling down off SeiNode %s: %w", node.Name, err)
		}
	}
	return nil
}

// release takes the finalizer off, and tells how many nodes run on.
func (r *Reconciler) release(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, left int) (ctrl.Result, error) {
	before := snd.DeepCopy()
	controllerutil.RemoveFinalizer(snd, v1alpha1.FinalizerSeiNodeDeployment)
	if err := r.Client.Patch(ctx, snd, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return loop.ConflictIsRetry(fmt.Errorf("removing the finalizer: %w", err))
	}
	if left > 0 {
		r.Events.Emit(ctx, snd, events.New(events.NodesRetained, "%d nodes keep running without the fleet; a fleet of the same name adopts them", left))
	}
	r.orphans.forget(snd)
	r.forget(client.ObjectKeyFromObject(snd))
	return ctrl.Result{}, nil
}

// fleetsNodes are the nodes that the fleet has, or has released: those it controls, and those that
// nobody controls and bear its label.
func (r *Reconciler) fleetsNodes(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) ([]*v1alpha1.SeiNode, error) {
	list := &v1alpha1.SeiNodeList{}
	if err := r.Live.List(ctx, list, client.InNamespace(snd.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the fleet's nodes: %w", err)
	}
	var found []*v1alpha1.SeiNode
	for i := range list.Items {
		node := &list.Items[i]
		if fleet.Bound(snd, node) || node.Labels[v1alpha1.LabelDeployment] == snd.Name && metav1.GetControllerOf(node) == nil {
			found = append(found, node)
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.SeiNode) int { return cmp.Compare(fleet.OrdinalOf(a), fleet.OrdinalOf(b)) })
	return found, nil
}

func (r *Reconciler) removeNodes(ctx context.Context, nodes []*v1alpha1.SeiNode) error {
	for _, node := range slices.Backward(nodes) {
		if node.DeletionTimestamp != nil {
			continue
		}
		if err := r.deleteNode(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// releaseObjects takes the fleet out of the owners of everything that still has it there: what was made by
// an older operator, or before the policy was Retain. Labels stay, so that a fleet of the same name
// can take it over.
func (r *Reconciler) releaseObjects(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode) error {
	owned, err := r.ownedObjects(ctx, snd)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		owned = append(owned, node)
	}
	for _, obj := range owned {
		if !fleet.Bound(snd, obj) {
			continue
		}
		if err := r.unbind(ctx, snd, obj); err != nil {
			return err
		}
	}
	return nil
}

// ownedObjects are the objects besides its nodes that bear the fleet's label.
func (r *Reconciler) ownedObjects(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) ([]client.Object, error) {
	lists := []client.ObjectList{&corev1.ConfigMapList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &appsv1.ControllerRevisionList{}}
	served, err := r.routes.served(ctx, false, r.Clock.Now())
	if err != nil {
		return nil, err
	}
	if served {
		lists = append(lists, &gatewayv1.HTTPRouteList{})
	}
	var found []client.Object
	for _, list := range lists {
		err := r.Live.List(ctx, list, client.InNamespace(snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: snd.Name})
		if err != nil {
			return nil, fmt.Errorf("listing what the fleet owns: %w", err)
		}
		err = meta.EachListItem(list, func(obj runtime.Object) error {
			found = append(found, obj.(client.Object))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing what the fleet owns: %w", err)
		}
	}
	return found, nil
}

func (r *Reconciler) unbind(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, obj client.Object) error {
	before := obj.DeepCopyObject().(client.Object)
	fleet.Unbind(snd, obj)
	err := r.Client.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("releasing %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

func (r *Reconciler) reportTerminating(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, bound int) error {
	before, snapshot := snd.DeepCopy(), r.Status.New(snd)
	fleet.ReportTerminating(snd, bound, r.Clock.Now())
	result, err := snapshot.Patch(ctx, r.Client, snd)
	if err != nil {
		return err
	}
	r.Metrics.DeploymentObserved(before, snd)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, snd, events.ForDeployment(before, snd, "")...)
		logPhase(ctx, before, snd)
	}
	return nil
}
