package operation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	domain "github.com/sei-operator/sei-operator/internal/operation"
)

// start makes the children for the nodes that are next. They begin when the task's status names
// them, which is written after this. One that is there already was made by an operator that did not
// live to write it down.
func (r *Reconciler) start(ctx context.Context, s *scope) error {
	s.Made, s.again = map[string]string{}, true
	for _, node := range s.Decision.Nodes {
		child := domain.Child(s.task, node)
		if s.Observed.Group.Children[node] == nil {
			err := r.Client.Create(ctx, child)
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("creating SeiNodeTask %s: %w", child.Name, err)
			}
			if err == nil {
				r.Writes.Wrote(child)
			}
		}
		s.Made[node] = child.Name
	}
	return nil
}

// withdraw removes children that have not begun. One that has begun in the meantime stays: the
// precondition sees to that.
func (r *Reconciler) withdraw(ctx context.Context, s *scope) error {
	s.again = true
	for _, node := range s.Decision.Nodes {
		child := s.Observed.Group.Children[node]
		err := r.Client.Delete(ctx, child, client.Preconditions{UID: &child.UID, ResourceVersion: &child.ResourceVersion})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("withdrawing SeiNodeTask %s: %w", child.Name, err)
		}
		r.Writes.Deleted(child)
	}
	return nil
}
