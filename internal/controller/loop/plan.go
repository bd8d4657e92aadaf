package loop

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// LogPlan writes a line when a plan begins and ends, and in detail what its tasks came to. was and
// is are the plan of the object's status before and after the pass, ended is the plan that ended
// in it; each is nil when there is none. What else happens is an event, which is logged too.
func LogPlan(ctx context.Context, progress plan.Progress, was, is, ended *v1alpha1.TaskPlan) {
	logger := log.FromContext(ctx)
	for _, step := range progress.Steps {
		logger.V(1).Info("task called", "task", step.Task.Type, "id", step.Task.ID, "outcome", step.Outcome.String(),
			"reason", step.Outcome.Reason, "message", step.Outcome.Message)
	}
	if is != nil && (was == nil || was.ID != is.ID) {
		logger.Info("plan started", "plan", is.ID, "reason", is.Reason, "message", is.Message, "tasks", len(is.Tasks))
	}
	if ended != nil {
		logger.Info("plan ended", "plan", ended.ID, "reason", ended.Reason, "phase", ended.Phase)
	}
}
