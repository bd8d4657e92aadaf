package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/task"
)

// deriveConditions sets every condition of the node. All of them are always there.
func (s *scope) deriveConditions(now time.Time) {
	set := conditions.For(&s.node.Status.Conditions, s.node.Generation, now)
	s.paused(set)
	s.specValid(set)
	s.planInProgress(set)
	s.updateInProgress(set)
	s.sidecarReady(set)
	s.inputConditions(set)
	s.ready()
}

func (s *scope) paused(set conditions.Setter) {
	if s.node.Spec.Paused {
		set.True(v1alpha1.ConditionPaused, v1alpha1.ReasonPaused, "spec.paused is set: the pod is stopped and plans stand still")
		return
	}
	set.False(v1alpha1.ConditionPaused, v1alpha1.ReasonNotPaused, "")
}

func (s *scope) specValid(set conditions.Setter) {
	switch {
	case s.specProblem != nil:
		set.False(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, s.specProblem.Error())
	case s.facts.VolumeProblem != "":
		set.False(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, s.facts.VolumeProblem)
	case s.err == nil:
		set.True(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecValid, "")
	case conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionSpecValid) == nil:
		set.Unknown(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, s.err.Error())
	}
}

func (s *scope) planInProgress(set conditions.Setter) {
	status := &s.node.Status
	p := status.Plan
	switch {
	case p != nil:
		reason, message := planWords(p)
		set.True(v1alpha1.ConditionPlanInProgress, reason, message)
	case status.LastPlan == nil || status.LastPlan.Outcome == v1alpha1.OutcomeSuperseded:
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonNoPlan, "")
	case status.LastPlan.Outcome == v1alpha1.OutcomeFailed:
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanFailed, failureWords(status.LastPlan))
	default:
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanComplete, status.LastPlan.Reason)
	}
}

// planWords says where a plan is, in words that only change when it moves on.
func planWords(p *v1alpha1.TaskPlan) (reason, message string) {
	t, index := plan.Current(p)
	if t == nil {
		return v1alpha1.ReasonPlanRunning, p.Reason
	}
	message = fmt.Sprintf("%s: task %d/%d %s", p.Reason, index+1, len(p.Tasks), t.Type)
	if t.Message == "" && t.Error == "" {
		return v1alpha1.ReasonPlanRunning, message
	}
	switch {
	case t.Message != "":
		message += ": " + t.Message
	default:
		message += fmt.Sprintf(": attempt %d follows: %s", t.Attempt, t.Error)
	}
	if t.StartedAt != nil {
		message += ", since " + t.StartedAt.UTC().Format(time.RFC3339)
	}
	return v1alpha1.ReasonPlanWaiting, message
}

func failureWords(last *v1alpha1.PlanSummary) string {
	return fmt.Sprintf("%s failed at task %s: %s", last.Reason, last.FailedTask, last.Error)
}

func (s *scope) updateInProgress(set conditions.Setter) {
	status := &s.node.Status
	last := status.LastPlan
	switch {
	case status.Plan != nil && planner.IsUpdate(status.Plan.Reason):
		set.True(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateStarted, status.Plan.Message)
	case last != nil && planner.IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeFailed:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateFailed, failureWords(last))
	case s.decision.PendingRestart != "":
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonPendingRestart, s.decision.PendingRestart)
	case last != nil && planner.IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeComplete:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateComplete, "")
	case s.err == nil:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpToDate, "")
	}
}

// sidecarReady speaks of what the last probe of a running node found. While a plan
// runs nobody probes, and what was known stays, until the plan opens the gate.
func (s *scope) sidecarReady(set conditions.Setter) {
	if s.node.Status.Phase != v1alpha1.NodeRunning || s.node.Spec.Paused {
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonNotApplicable, "")
		return
	}
	if o, ran := s.progress.Outcome(planner.TaskMarkReady); ran && o.IsDone() {
		s.observed.Sidecar = planner.SidecarReady
	}
	switch s.observed.Sidecar {
	case planner.SidecarReady:
		set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarReady, "")
	case planner.SidecarNotReady:
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarNotReady,
			"the sidecar holds the start gate closed: its process is new, and the operator opens the gate")
	case planner.SidecarUnreachable:
		set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, "the sidecar does not answer")
	case planner.SidecarNotProbed:
		if _, running := task.SidecarStarted(s.observed.Pod); !running {
			set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, "the sidecar is not running")
		}
	}
}
