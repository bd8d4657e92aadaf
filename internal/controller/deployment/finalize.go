package deployment

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// finalize lets a fleet go: its nodes go first, or are let go. What else it owns is
// collected after it, or let go with them.
func (r *Reconciler) finalize(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(snd, v1alpha1.FinalizerSeiNodeDeployment) {
		return ctrl.Result{}, nil
	}
	nodes, err := r.children(ctx, snd)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.reportTerminating(ctx, snd, len(nodes)); err != nil {
		return loop.ConflictIsRetry(err)
	}
	if snd.Spec.DeletionPolicy == v1alpha1.VolumeRetain {
		err = r.letGo(ctx, snd, nodes)
	} else {
		err = r.removeNodes(ctx, nodes)
		if err == nil && len(nodes) > 0 {
			return ctrl.Result{}, nil // the last node's end wakes us up
		}
	}
	if err != nil {
		return loop.ConflictIsRetry(err)
	}
	before := snd.DeepCopy()
	controllerutil.RemoveFinalizer(snd, v1alpha1.FinalizerSeiNodeDeployment)
	if err := r.Client.Patch(ctx, snd, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return loop.ConflictIsRetry(fmt.Errorf("removing the finalizer: %w", err))
	}
	r.forget(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(snd)})
	return ctrl.Result{}, nil
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

// letGo takes the fleet's ownership off everything it owns. Labels stay, so that a
// fleet of the same name can take it over.
func (r *Reconciler) letGo(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode) error {
	owned, err := r.belongings(ctx, snd)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		owned = append(owned, node)
	}
	for _, obj := range owned {
		if err := r.disown(ctx, snd, obj); err != nil {
			return err
		}
	}
	r.Events.Emit(ctx, snd, events.New(events.NodesRetained, "%d nodes run on without the fleet; a fleet of the same name takes them over", len(nodes)))
	return nil
}

// belongings are the objects besides its nodes that the fleet controls.
func (r *Reconciler) belongings(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) ([]client.Object, error) {
	var owned []client.Object
	genesis, err := cached(ctx, r.Client, snd.Namespace, fleet.GenesisName(snd.Name), &corev1.ConfigMap{})
	if err != nil {
		return nil, err
	}
	if genesis != nil && metav1.IsControlledBy(genesis, snd) {
		owned = append(owned, genesis)
	}
	services := &corev1.ServiceList{}
	labelled := []client.ListOption{client.InNamespace(snd.Namespace), client.MatchingLabels{v1alpha1.LabelDeployment: snd.Name}}
	if err := r.Client.List(ctx, services, labelled...); err != nil {
		return nil, fmt.Errorf("listing the fleet's Services: %w", err)
	}
	for i := range services.Items {
		if metav1.IsControlledBy(&services.Items[i], snd) {
			owned = append(owned, &services.Items[i])
		}
	}
	served, err := r.routes.served(ctx, false, r.Clock.Now())
	if err != nil || !served {
		return owned, err
	}
	routes := &gatewayv1.HTTPRouteList{}
	if err := r.Client.List(ctx, routes, labelled...); err != nil {
		return nil, fmt.Errorf("listing the fleet's routes: %w", err)
	}
	for i := range routes.Items {
		if metav1.IsControlledBy(&routes.Items[i], snd) {
			owned = append(owned, &routes.Items[i])
		}
	}
	return owned, nil
}

func (r *Reconciler) disown(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, obj client.Object) error {
	before := obj.DeepCopyObject().(client.Object)
	obj.SetOwnerReferences(slices.DeleteFunc(slices.Clone(obj.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == snd.UID }))
	err := r.Client.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("letting go of %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

func (r *Reconciler) reportTerminating(ctx context.Context, snd *v1alpha1.SeiNodeDeployment, left int) error {
	before, snapshot, now := snd.DeepCopy(), r.status.New(snd), r.Clock.Now()
	fleet.EnterPhase(snd, v1alpha1.DeploymentTerminating, now)
	snd.Status.ObservedGeneration = snd.Generation
	set := conditions.For(&snd.Status.Conditions, snd.Generation, now)
	message := "the fleet is being deleted"
	if snd.Spec.DeletionPolicy != v1alpha1.VolumeRetain && left > 0 {
		message += ": waiting for its nodes to stop"
	}
	set.False(v1alpha1.ConditionNodesReady, v1alpha1.ReasonTerminating, message)
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
