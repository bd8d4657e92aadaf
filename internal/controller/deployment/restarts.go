package deployment

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/operation"
)

// observeTask finds the SeiNodeTask that restarts a node now; empty when there is none.
func (r *Reconciler) observeTask(ctx context.Context, node *v1alpha1.SeiNode) (string, error) {
	list := &v1alpha1.SeiNodeTaskList{}
	err := r.Client.List(ctx, list, client.InNamespace(node.Namespace), client.MatchingFields{operation.TargetIndex: node.Name})
	if err != nil {
		return "", fmt.Errorf("listing the tasks of SeiNode %s: %w", node.Name, err)
	}
	for i := range list.Items {
		if restarts(&list.Items[i]) {
			return list.Items[i].Name, nil
		}
	}
	return "", nil
}

func restarts(task *v1alpha1.SeiNodeTask) bool {
	return operation.Restarts(&task.Spec) && operation.Running(&task.Status)
}

// fleetOfTask maps a task to the fleet that its node would belong to.
func fleetOfTask(_ context.Context, o client.Object) []reconcile.Request {
	name, _, ok := fleet.ParseChildName(o.(*v1alpha1.SeiNodeTask).Spec.Target.NodeRef.Name)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// restartBeginsOrEnds lets through that a task begins to restart its node, and that it is done.
func restartBeginsOrEnds() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: loop.Never[event.CreateEvent], GenericFunc: loop.Never[event.GenericEvent],
		UpdateFunc: func(e event.UpdateEvent) bool {
			return restarts(e.ObjectOld.(*v1alpha1.SeiNodeTask)) != restarts(e.ObjectNew.(*v1alpha1.SeiNodeTask))
		},
		DeleteFunc: func(e event.DeleteEvent) bool { return restarts(e.Object.(*v1alpha1.SeiNodeTask)) },
	}
}
