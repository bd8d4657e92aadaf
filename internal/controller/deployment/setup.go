package deployment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// indexFleet finds SeiNodes by the SeiNodeDeployment that controls them, or else by the one whose
// label they bear.
const indexFleet = "node.fleet"

// SetupWithManager registers the reconciler with its watches. Whatever a fleet depends
// on wakes it up; nothing is polled for.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	r.init()
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.SeiNode{}, indexFleet, fleetNameOf)
	if err != nil {
		return fmt.Errorf("indexing SeiNodes by fleet: %w", err)
	}
	built, err := ctrl.NewControllerManagedBy(mgr).
		Named("seinodedeployment").
		For(&v1alpha1.SeiNodeDeployment{}, builder.WithPredicates(predicate.Or(r.orphans.watched(), loop.AskedForChange()))).
		Watches(&v1alpha1.SeiNode{}, handler.EnqueueRequestsFromMapFunc(fleetOfNode), builder.WithPredicates(nodeFactsChanged())).
		Watches(&v1alpha1.SeiNodeTask{}, handler.EnqueueRequestsFromMapFunc(fleetOfTask), builder.WithPredicates(restartBeginsOrEnds())).
		Watches(&v1alpha1.SeiNodeDeployment{}, handler.EnqueueRequestsFromMapFunc(r.otherFounders), builder.WithPredicates(comesOrGoes())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.fleetsOfGenesis)).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(
			func(_ context.Context, o client.Object) []reconcile.Request { return fleetOfObject(o) })).
		Watches(&policyv1.PodDisruptionBudget{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(specOrMetadataChanged())).
		Watches(&appsv1.ControllerRevision{}, handler.EnqueueRequestsFromMapFunc(fleetOfRevision)).
		WithOptions(loop.Options(concurrency)).
		Build(r.Tracer.Reconciler(v1alpha1.KindSeiNodeDeployment, r))
	if err != nil {
		return fmt.Errorf("setting up the SeiNodeDeployment controller: %w", err)
	}
	r.routes = &routeWatch{mapper: mgr.GetRESTMapper(), cache: mgr.GetCache(), controller: built}
	return nil
}

func fleetNameOf(o client.Object) []string {
	owner := metav1.GetControllerOf(o)
	switch label := o.GetLabels()[v1alpha1.LabelDeployment]; {
	case owner != nil && owner.Kind == v1alpha1.KindSeiNodeDeployment:
		return []string{owner.Name}
	case owner == nil && label != "":
		return []string{label}
	default:
		return nil
	}
}

// fleetOfNode maps a node to the fleet of its name: also one that stands where a
// fleet's node should be.
func fleetOfNode(_ context.Context, o client.Object) []reconcile.Request {
	name, _, ok := fleet.ParseChildName(o.GetName())
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// fleetOfObject maps a Service or route to the fleet of its name: also one that stands
// where the fleet's should be.
func fleetOfObject(o client.Object) []reconcile.Request {
	name, ok := fleet.Of(o.GetName())
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// otherFounders maps a fleet that starts a chain to the others that ask to start the same one: one
// of them may continue when it leaves.
func (r *Reconciler) otherFounders(ctx context.Context, o client.Object) []reconcile.Request {
	genesis := o.(*v1alpha1.SeiNodeDeployment).Spec.Genesis
	if genesis == nil {
		return nil
	}
	return slices.DeleteFunc(r.foundersOf(ctx, o.GetNamespace(), genesis.ChainID), func(request reconcile.Request) bool { return request.Name == o.GetName() })
}

// specOrMetadataChanged lets through what people change. The disruption controller writes the status
// of a budget with every pod that comes and goes.
func specOrMetadataChanged() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			return len(e.ObjectOld.GetOwnerReferences()) != len(e.ObjectNew.GetOwnerReferences())
		}})
}

// comesOrGoes lets through that an object is made and that its deletion begins or ends.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
		},
		GenericFunc: loop.Never[event.GenericEvent],
	}
}

// fleetsOfGenesis maps a genesis to the fleets whose chain it is of: the one that made
// it, and one that it stands in the way of.
func (r *Reconciler) fleetsOfGenesis(ctx context.Context, o client.Object) []reconcile.Request {
	return r.foundersOf(ctx, o.GetNamespace(), o.GetLabels()[v1alpha1.LabelGenesis])
}

func (r *Reconciler) foundersOf(ctx context.Context, namespace, chain string) []reconcile.Request {
	list := &v1alpha1.SeiNodeDeploymentList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil // the cache answers; it fails only while shutting down
	}
	var found []reconcile.Request
	for i := range list.Items {
		if g := list.Items[i].Spec.Genesis; g != nil && g.ChainID == chain {
			found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return found
}

// nodeFactsChanged lets through what a fleet reads of a node, and nothing else: a
// node's plan writes its status many times.
func nodeFactsChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SeiNode), e.ObjectNew.(*v1alpha1.SeiNode)
		return was.UID != is.UID || was.Generation != is.Generation ||
			(was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
			!maps.Equal(was.Labels, is.Labels) || !maps.Equal(was.Annotations, is.Annotations) ||
			len(was.OwnerReferences) != len(is.OwnerReferences) ||
			fleet.FactsOf(was) != fleet.FactsOf(is)
	}, GenericFunc: loop.Never[event.GenericEvent]}
}
