package operation

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/operation"
)

// indexTarget finds SeiNodeTasks by what they are for.
const indexTarget = domain.TargetIndex

// SetupWithManager registers the reconciler with its watches. The node a task is for wakes it up,
// and so does the end of another task of the node. A task for several nodes is woken up by all of
// them, by their fleet and by its children; and it wakes up the children that it lets begin. What a
// sidecar works on is asked for.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	r.init()
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.SeiNodeTask{}, indexTarget, targetName)
	if err != nil {
		return fmt.Errorf("indexing SeiNodeTasks by %s: %w", indexTarget, err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("seinodetask").
		For(&v1alpha1.SeiNodeTask{}, builder.WithPredicates(loop.AskedForChange())).
		Watches(&v1alpha1.SeiNode{}, handler.EnqueueRequestsFromMapFunc(r.tasksOfNode), builder.WithPredicates(nodeFactsChanged())).
		Watches(&v1alpha1.SeiNodeTask{}, handler.EnqueueRequestsFromMapFunc(r.tasksBehind), builder.WithPredicates(endedOrGone())).
		Watches(&v1alpha1.SeiNodeTask{}, handler.EnqueueRequestsFromMapFunc(r.groupsOfTask), builder.WithPredicates(phaseChanged())).
		Watches(&v1alpha1.SeiNodeTask{}, handler.EnqueueRequestsFromMapFunc(r.childrenOf), builder.WithPredicates(startedMore())).
		Watches(&v1alpha1.SeiNode{}, handler.EnqueueRequestsFromMapFunc(r.groupsOfNode), builder.WithPredicates(budgetChanged())).
		Watches(&v1alpha1.SeiNodeDeployment{}, handler.EnqueueRequestsFromMapFunc(r.groupsOfFleet), builder.WithPredicates(fleetChanged())).
		WithOptions(loop.Options(concurrency)).
		Complete(r.Tracer.Reconciler(v1alpha1.KindSeiNodeTask, r))
	if err != nil {
		return fmt.Errorf("setting up the SeiNodeTask controller: %w", err)
	}
	return nil
}

func targetName(o client.Object) []string {
	return []string{domain.TargetKey(&o.(*v1alpha1.SeiNodeTask).Spec)}
}

// tasksOfNode maps a node to the tasks for it that are not over.
func (r *Reconciler) tasksOfNode(ctx context.Context, o client.Object) []reconcile.Request {
	return r.unfinished(ctx, o.GetNamespace(), o.GetName())
}

// unfinished requests the tasks for a target that are not over.
func (r *Reconciler) unfinished(ctx context.Context, namespace, target string) []reconcile.Request {
	tasks := r.tasksFor(ctx, namespace, target)
	found := make([]reconcile.Request, 0, len(tasks))
	for _, task := range tasks {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(task)})
	}
	return found
}

// tasksFor are the tasks for a target that are not over.
func (r *Reconciler) tasksFor(ctx context.Context, namespace, target string) []*v1alpha1.SeiNodeTask {
	list := &v1alpha1.SeiNodeTaskList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{indexTarget: target}); err != nil {
		return nil // the cache answers; it fails only while shutting down
	}
	var found []*v1alpha1.SeiNodeTask
	for i := range list.Items {
		if !domain.Ended(&list.Items[i].Status) {
			found = append(found, &list.Items[i])
		}
	}
	return found
}

// tasksBehind maps a task that is out of the way to those that may have waited for it.
func (r *Reconciler) tasksBehind(ctx context.Context, o client.Object) []reconcile.Request {
	task := o.(*v1alpha1.SeiNodeTask)
	if !domain.Queues(&task.Spec) {
		return nil
	}
	return r.unfinished(ctx, task.Namespace, target(task).Name)
}

// endedOrGone lets through that a task is out of the way of others.
func endedOrGone() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: loop.Never[event.CreateEvent],
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.SeiNodeTask), e.ObjectNew.(*v1alpha1.SeiNodeTask)
			return !domain.Ended(&was.Status) && domain.Ended(&is.Status) || was.DeletionTimestamp == nil && is.DeletionTimestamp != nil
		},
		GenericFunc: loop.Never[event.GenericEvent],
	}
}

// nodeFactsChanged lets through what a task reads of its node, and nothing else: a node's plan
// writes its status many times.
func nodeFactsChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SeiNode), e.ObjectNew.(*v1alpha1.SeiNode)
		return was.UID != is.UID || was.Generation != is.Generation || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
			domain.FactsOf(was) != domain.FactsOf(is)
	}, GenericFunc: loop.Never[event.GenericEvent]}
}
