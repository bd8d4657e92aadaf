package fleet

import (
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// EndPlan takes a plan that has ended out of a fleet's status and keeps how it ended. It
// returns the plan; nil when none has ended. Older operators left failed plans where they were.
func EndPlan(status *v1alpha1.SeiNodeDeploymentStatus, now time.Time) *v1alpha1.TaskPlan {
	p := status.Plan
	if p == nil || p.Phase == v1alpha1.PlanActive {
		return nil
	}
	outcome := v1alpha1.OutcomeComplete
	if p.Phase == v1alpha1.PlanFailed {
		outcome = v1alpha1.OutcomeFailed
	}
	status.Plan, status.LastPlan = nil, plan.Summarize(p, outcome, now)
	return p
}

// planFailed reports whether the fleet's last plan failed and no other is under way.
func planFailed(status *v1alpha1.SeiNodeDeploymentStatus) bool {
	return status.Plan == nil && status.LastPlan != nil && status.LastPlan.Outcome == v1alpha1.OutcomeFailed
}
