package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

func (r *report) planInProgress() {
	status := r.status
	p := status.Plan
	switch {
	case p != nil:
		reason, message := planMessage(p)
		r.set.True(v1alpha1.ConditionPlanInProgress, reason, message)
	case status.LastPlan == nil || status.LastPlan.Outcome == v1alpha1.OutcomeSuperseded:
		r.set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonNoPlan, "")
	case status.LastPlan.Outcome == v1alpha1.OutcomeFailed:
		r.set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanFailed, failureMessage(status.LastPlan))
	default:
		r.set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanComplete, status.LastPlan.Reason)
	}
}

// planMessage says where a plan is, in words that only change when it moves on.
func planMessage(p *v1alpha1.TaskPlan) (reason, message string) {
	t, index := plan.Current(p)
	if t == nil {
		return v1alpha1.ReasonPlanRunning, p.Reason
	}
	message = fmt.Sprintf("%s: step %d/%d %s", p.Reason, index+1, len(p.Tasks), t.Type)
	if t.Message == "" && t.Error == "" {
		return v1alpha1.ReasonPlanRunning, message
	}
	switch {
	case t.Message != "":
		message += ": " + t.Message
	default:
		message += fmt.Sprintf(": retrying (attempt %d): %s", t.Attempt, t.Error)
	}
	if t.StartedAt != nil {
		message += ", since " + t.StartedAt.UTC().Format(time.RFC3339)
	}
	return v1alpha1.ReasonPlanWaiting, message
}

func failureMessage(last *v1alpha1.PlanSummary) string {
	return fmt.Sprintf("%s failed at step %s: %s", last.Reason, last.FailedTask, last.Error)
}

func (r *report) updateInProgress() {
	status := r.status
	last := status.LastPlan
	switch {
	case status.Plan != nil && IsUpdate(status.Plan.Reason):
		r.set.True(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateStarted, status.Plan.Message)
	case last != nil && IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeFailed:
		r.set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateFailed, failureMessage(last))
	case r.Decision.PendingRestart != "":
		r.set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonPendingRestart, r.Decision.PendingRestart)
	case last != nil && IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeComplete:
		r.set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateComplete, "")
	case r.Err == nil:
		r.set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpToDate, "")
	}
}

// progressing sets the two conditions by which tools tell work in progress from work that does
// not continue by itself (kstatus).
func (r *report) progressing() {
	if r.Err != nil {
		return
	}
	reason, problem := r.specProblem()
	active := r.activePlan()
	upgrade, why := r.upgradeStalled()
	switch {
	case r.Node.Spec.Paused:
		r.set.False(v1alpha1.ConditionStalled, v1alpha1.ReasonPaused, "")
	case problem != "":
		r.set.True(v1alpha1.ConditionStalled, reason, problem)
	case r.Decision.HeldBack != "" && len(r.Decision.Missing) > 0 && active == nil:
		r.set.True(v1alpha1.ConditionStalled, v1alpha1.ReasonHeldBack, r.Decision.HeldBack)
	case upgrade != "" && active == nil:
		r.set.True(v1alpha1.ConditionStalled, upgrade, why)
	case r.startRefused() != "" && active == nil:
		r.set.True(v1alpha1.ConditionStalled, v1alpha1.ReasonStartRefused, r.startRefused())
	default:
		r.set.False(v1alpha1.ConditionStalled, v1alpha1.ReasonProgressing, "")
	}
	if active != nil && !r.Node.Spec.Paused {
		r.set.True(v1alpha1.ConditionReconciling, active.Reason, active.Message)
		return
	}
	r.set.False(v1alpha1.ConditionReconciling, v1alpha1.ReasonNoPlan, "")
}
