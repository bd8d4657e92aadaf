package operation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/operation"
)

// observeGroup gathers what a task for several nodes depends on: its target, the nodes, its
// children, and the tasks of others on the same target.
func (r *Reconciler) observeGroup(ctx context.Context, s *scope) (err error) {
	g := &domain.Group{Nodes: map[string]*v1alpha1.SeiNode{}}
	if err := r.observeTarget(ctx, s.task, g); err != nil {
		return err
	}
	if nodes := s.task.Status.Nodes; nodes != nil {
		for i := range nodes.Members {
			if err := r.observeNode(ctx, s.task, g, nodes.Members[i].Name); err != nil {
				return err
			}
		}
	}
	if g.Children, err = r.children(ctx, s.task); err != nil {
		return err
	}
	s.Observed.Group = g
	if !domain.Queues(&s.task.Spec) {
		return nil
	}
	if g.Restarting, err = r.restarting(ctx, s.task, g.Target); err != nil {
		return err
	}
	s.Observed.Began = r.turns.of(target(s.task), s.task.UID)
	s.Observed.Others, err = r.others(ctx, s.task)
	return err
}

// observeBudget gathers what the budget of a fleet is judged by, for a child of a task for it.
func (r *Reconciler) observeBudget(ctx context.Context, parent *v1alpha1.SeiNodeTask) (g *domain.Group, err error) {
	g = &domain.Group{Nodes: map[string]*v1alpha1.SeiNode{}}
	if err := r.observeTarget(ctx, parent, g); err != nil {
		return nil, err
	}
	if g.Children, err = r.children(ctx, parent); err != nil {
		return nil, err
	}
	g.Restarting, err = r.restarting(ctx, parent, g.Target)
	return g, err
}

// observeTarget finds the nodes that the target has now.
func (r *Reconciler) observeTarget(ctx context.Context, task *v1alpha1.SeiNodeTask, g *domain.Group) (err error) {
	name := task.Spec.Target.FleetRef.Name
	if name == "" {
		return r.selectNodes(ctx, task, g)
	}
	key := client.ObjectKey{Namespace: task.Namespace, Name: name}
	if g.Fleet, err = cached(ctx, r.Client, key, &v1alpha1.SeiNodeDeployment{}); err != nil || g.Fleet == nil {
		return err
	}
	g.Target = fleet.Names(g.Fleet)
	for _, name := range g.Target {
		if err := r.observeNode(ctx, task, g, name); err != nil {
			return err
		}
	}
	return nil
}

// observeNode notes a node. What stands in the place of a fleet's node is none of the fleet's.
func (r *Reconciler) observeNode(ctx context.Context, task *v1alpha1.SeiNodeTask, g *domain.Group, name string) error {
	node, err := cached(ctx, r.Client, client.ObjectKey{Namespace: task.Namespace, Name: name}, &v1alpha1.SeiNode{})
	if err != nil || node == nil || g.Fleet != nil && !fleet.Owns(g.Fleet, node) {
		return err
	}
	g.Nodes[name] = node
	return nil
}

// selectNodes finds the nodes that a selector selects.
func (r *Reconciler) selectNodes(ctx context.Context, task *v1alpha1.SeiNodeTask, g *domain.Group) error {
	list := &v1alpha1.SeiNodeList{}
	err := r.Client.List(ctx, list, client.InNamespace(task.Namespace), client.MatchingLabels(task.Spec.Target.Selector))
	if err != nil {
		return fmt.Errorf("listing the selected nodes: %w", err)
	}
	for i := range list.Items {
		if node := &list.Items[i]; node.DeletionTimestamp == nil {
			g.Target, g.Nodes[node.Name] = append(g.Target, node.Name), node
		}
	}
	slices.Sort(g.Target)
	return nil
}

// children are the tasks on single nodes that a task has made, by the name of their node. One that
// the task has on record is asked for where the cache does not show it: that it is gone would fail
// the task for good.
func (r *Reconciler) children(ctx context.Context, parent *v1alpha1.SeiNodeTask) (map[string]*v1alpha1.SeiNodeTask, error) {
	found := map[string]*v1alpha1.SeiNodeTask{}
	if parent.Status.Nodes == nil {
		return found, nil
	}
	for _, member := range parent.Status.Nodes.Members {
		key := client.ObjectKey{Namespace: parent.Namespace, Name: domain.ChildName(parent, member.Name)}
		child, err := cached(ctx, r.Client, key, &v1alpha1.SeiNodeTask{})
		if err != nil {
			return nil, err
		}
		if behind, err := r.Writes.Behind(ctx, &v1alpha1.SeiNodeTask{}, key, seen(child)); behind || err != nil {
			return nil, cmp.Or(err, errCacheBehind)
		}
		if child == nil && member.Task != "" && !isOver(member.Phase) {
			if child, err = cached(ctx, r.Live, key, &v1alpha1.SeiNodeTask{}); err != nil {
				return nil, err
			}
		}
		if child != nil && isChildOf(child, parent) {
			found[member.Name] = child
		}
	}
	return found, nil
}

func isOver(phase v1alpha1.SeiNodeTaskPhase) bool {
	return phase == v1alpha1.NodeTaskComplete || phase == v1alpha1.NodeTaskFailed
}

// seen is an object that may not be there, as an interface that is nil then.
func seen(task *v1alpha1.SeiNodeTask) client.Object {
	if task == nil {
		return nil
	}
	return task
}

func isChildOf(task, parent *v1alpha1.SeiNodeTask) bool {
	owner := domain.ParentOf(task)
	return owner != nil && owner.UID == parent.UID
}

// restarting finds the tasks of others that restart one of the nodes now.
func (r *Reconciler) restarting(ctx context.Context, parent *v1alpha1.SeiNodeTask, nodes []string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range nodes {
		list := &v1alpha1.SeiNodeTaskList{}
		if err := r.Client.List(ctx, list, client.InNamespace(parent.Namespace), client.MatchingFields{indexTarget: name}); err != nil {
			return nil, fmt.Errorf("listing the node's tasks: %w", err)
		}
		for i := range list.Items {
			if task := &list.Items[i]; domain.Restarts(&task.Spec) && domain.Running(&task.Status) && !isChildOf(task, parent) {
				found[name] = task.Name
			}
		}
	}
	return found, nil
}

// parent reads the task that a task is a child of; nil when it is none, or its parent is gone.
func (r *Reconciler) parent(ctx context.Context, task *v1alpha1.SeiNodeTask) (*v1alpha1.SeiNodeTask, error) {
	owner := domain.ParentOf(task)
	if owner == nil {
		return nil, nil
	}
	return cached(ctx, r.Client, client.ObjectKey{Namespace: task.Namespace, Name: owner.Name}, &v1alpha1.SeiNodeTask{})
}
