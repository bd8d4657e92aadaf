package operation

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// report derives the status from what this pass saw and did, writes it once if it changed, and
// reports transitions.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	s.task.Status = *domain.Report(&s.Pass)
	result, err := s.snapshot.Patch(ctx, r.Client, s.task)
	if err != nil {
		return err
	}
	r.Metrics.TaskObserved(s.before, s.task)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, s.task, events.ForTask(s.before, s.task)...)
	}
	var ended *v1alpha1.TaskPlan
	if domain.Ended(&s.task.Status) && !domain.Ended(&s.before.Status) {
		ended = s.task.Status.Plan
	}
	loop.LogPlan(ctx, s.Progress, s.before.Status.Plan, s.task.Status.Plan, ended)
	if !domain.Running(&s.task.Status) {
		r.turns.end(s.key())
	}
	return nil
}

// afterEnd releases a task that has ended, unless it holds its node, and removes it when its time
// has come.
func (r *Reconciler) afterEnd(ctx context.Context, s *scope) error {
	if !domain.Ended(&s.task.Status) {
		return nil
	}
	if !domain.MayHold(s.task) {
		if err := r.release(ctx, s.task); err != nil {
			return err
		}
	}
	ttl := s.task.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return nil
	}
	left := s.task.Status.CompletedAt.Add(time.Duration(*ttl) * time.Second).Sub(r.Clock.Now())
	if left > 0 {
		s.comeBackIn(left)
		return nil
	}
	err := r.Client.Delete(ctx, s.task, client.Preconditions{UID: &s.task.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the task: %w", err)
	}
	return nil
}
