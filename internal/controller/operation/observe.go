package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/task"
)

// errCacheBehind ends a pass whose cache does not show our own last write yet.
var errCacheBehind = errors.New("the cache does not show the operator's last write yet")

// observe gathers from the cache all that the rest of the pass depends on. A task that has ended
// needs nothing.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	if domain.Ended(&s.task.Status) {
		return nil
	}
	if domain.ForSeveral(&s.task.Spec) {
		return r.observeGroup(ctx, s)
	}
	parent, err := r.parent(ctx, s.task)
	if err != nil {
		return err
	}
	s.Observed.Parent = parent
	node, err := cached(ctx, r.Client, target(s.task), &v1alpha1.SeiNode{})
	if err != nil {
		return err
	}
	if node == nil {
		return nil
	}
	if behind, err := r.Writes.Behind(ctx, node, target(s.task), node); behind || err != nil {
		return cmp.Or(err, errCacheBehind)
	}
	s.Observed.Node = node
	if s.objects, err = r.observeObjects(ctx, node); err != nil {
		return err
	}
	s.Observed.Began = r.turns.of(target(s.task), s.task.UID)
	if s.Observed.Others, err = r.others(ctx, s.task); err != nil {
		return err
	}
	if domain.NeedsBudget(s.task, parent) {
		s.Observed.Budget, err = r.observeBudget(ctx, parent)
	}
	return err
}

// observeObjects reads what shows which pod is the node's own.
func (r *Reconciler) observeObjects(ctx context.Context, node *v1alpha1.SeiNode) (o task.Objects, err error) {
	if o.StatefulSet, err = cached(ctx, r.Client, client.ObjectKeyFromObject(node), &appsv1.StatefulSet{}); err != nil {
		return o, err
	}
	o.Pod, err = cached(ctx, r.Client, client.ObjectKey{Namespace: node.Namespace, Name: render.PodName(node)}, &corev1.Pod{})
	return o, err
}

// others are the other tasks with the same target.
func (r *Reconciler) others(ctx context.Context, task *v1alpha1.SeiNodeTask) ([]*v1alpha1.SeiNodeTask, error) {
	list := &v1alpha1.SeiNodeTaskList{}
	err := r.Client.List(ctx, list, client.InNamespace(task.Namespace), client.MatchingFields{indexTarget: target(task).Name})
	if err != nil {
		return nil, fmt.Errorf("listing the target's tasks: %w", err)
	}
	return besides(list, task), nil
}

// othersLive are the same as the API server has them, which knows no index.
func (r *Reconciler) othersLive(ctx context.Context, task *v1alpha1.SeiNodeTask) ([]*v1alpha1.SeiNodeTask, error) {
	list := &v1alpha1.SeiNodeTaskList{}
	if err := r.Live.List(ctx, list, client.InNamespace(task.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the node's tasks: %w", err)
	}
	return besides(list, task), nil
}

// besides are the other tasks of a task's node.
func besides(list *v1alpha1.SeiNodeTaskList, task *v1alpha1.SeiNodeTask) []*v1alpha1.SeiNodeTask {
	var found []*v1alpha1.SeiNodeTask
	for i := range list.Items {
		if list.Items[i].UID != task.UID && target(&list.Items[i]) == target(task) {
			found = append(found, &list.Items[i])
		}
	}
	return found
}

// cached reads an object from the cache; nil when it is not there.
func cached[T client.Object](ctx context.Context, c client.Reader, key client.ObjectKey, into T) (T, error) {
	return loop.Find(ctx, c, key.Namespace, key.Name, into)
}
