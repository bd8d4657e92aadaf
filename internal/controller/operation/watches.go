package operation

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/operation"
)

// groupsOfNode maps a node to the tasks for several nodes that it may be one of.
func (r *Reconciler) groupsOfNode(ctx context.Context, o client.Object) []reconcile.Request {
	found := r.unfinished(ctx, o.GetNamespace(), domain.SelectorKey)
	if name, _, ok := fleet.ParseChildName(o.GetName()); ok {
		found = append(found, r.onFleet(ctx, o.GetNamespace(), name)...)
	}
	return found
}

// onFleet are the tasks for a fleet that are not over, and their children: both wait for its budget.
func (r *Reconciler) onFleet(ctx context.Context, namespace, name string) []reconcile.Request {
	var found []reconcile.Request
	for _, task := range r.tasksFor(ctx, namespace, domain.FleetKey(name)) {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(task)})
		if domain.Restarts(&task.Spec) {
			found = append(found, r.childrenOf(ctx, task)...)
		}
	}
	return found
}

// groupsOfFleet maps a fleet to the tasks for it, and to their children.
func (r *Reconciler) groupsOfFleet(ctx context.Context, o client.Object) []reconcile.Request {
	return r.onFleet(ctx, o.GetNamespace(), o.GetName())
}

// groupsOfTask maps a task on one node to its parent, and to the tasks that wait for the fleet's
// budget, of which it may have taken a part.
func (r *Reconciler) groupsOfTask(ctx context.Context, o client.Object) []reconcile.Request {
	task := o.(*v1alpha1.SeiNodeTask)
	var found []reconcile.Request
	if owner := domain.ParentOf(task); owner != nil {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: task.Namespace, Name: owner.Name}})
	}
	if name, _, ok := fleet.ParseChildName(task.Spec.Target.NodeRef.Name); ok && domain.Restarts(&task.Spec) {
		found = append(found, r.onFleet(ctx, task.Namespace, name)...)
	}
	return found
}

// childrenOf maps a task for several nodes to those of its children that are not over.
func (r *Reconciler) childrenOf(_ context.Context, o client.Object) []reconcile.Request {
	var found []reconcile.Request
	nodes := o.(*v1alpha1.SeiNodeTask).Status.Nodes
	if nodes == nil {
		return nil
	}
	for i := range nodes.Members {
		if m := &nodes.Members[i]; m.Task != "" && !isOver(m.Phase) {
			found = append(found, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: m.Task}})
		}
	}
	return found
}

// startedMore lets through that a task has let children begin.
func startedMore() predicate.Predicate {
	started := func(o client.Object) (count int) {
		if nodes := o.(*v1alpha1.SeiNodeTask).Status.Nodes; nodes != nil {
			for i := range nodes.Members {
				if nodes.Members[i].Task != "" {
					count++
				}
			}
		}
		return count
	}
	return predicate.Funcs{
		CreateFunc: loop.Never[event.CreateEvent], DeleteFunc: loop.Never[event.DeleteEvent], GenericFunc: loop.Never[event.GenericEvent],
		UpdateFunc: func(e event.UpdateEvent) bool { return started(e.ObjectNew) > started(e.ObjectOld) },
	}
}

// phaseChanged lets through where a task is: what is summed up of it.
func phaseChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: loop.Never[event.CreateEvent], GenericFunc: loop.Never[event.GenericEvent],
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.SeiNodeTask), e.ObjectNew.(*v1alpha1.SeiNodeTask)
			return was.Status.Phase != is.Status.Phase
		},
	}
}

// budgetChanged lets through what a fleet's budget is judged by, and the labels that nodes are
// selected by.
func budgetChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SeiNode), e.ObjectNew.(*v1alpha1.SeiNode)
		return fleet.FactsOf(was) != fleet.FactsOf(is) || !maps.Equal(was.Labels, is.Labels) || was.UID != is.UID ||
			(was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil)
	}, GenericFunc: loop.Never[event.GenericEvent]}
}

// fleetChanged lets through what a task reads of its fleet.
func fleetChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SeiNodeDeployment), e.ObjectNew.(*v1alpha1.SeiNodeDeployment)
		return was.UID != is.UID || was.Generation != is.Generation || fleet.RollingOut(was) != fleet.RollingOut(is) ||
			!slices.Equal(was.Status.Ordinals, is.Status.Ordinals) || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil)
	}, GenericFunc: loop.Never[event.GenericEvent]}
}
