package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// deriveConditions sets every condition of the node. All of them are always there.
func (s *scope) deriveConditions() {
	set := conditions.For(&s.node.Status.Conditions, s.node.Generation, s.now)
	s.paused(set)
	s.specValid(set)
	s.planInProgress(set)
	s.updateInProgress(set)
	s.sidecarReady(set)
	s.inputConditions(set)
	s.readiness()
	s.progressing(set)
}

func (s *scope) paused(set conditions.Setter) {
	if s.node.Spec.Paused {
		set.True(v1alpha1.ConditionPaused, v1alpha1.ReasonPaused, "spec.paused is set: the pod is stopped and plans stand still")
		return
	}
	set.False(v1alpha1.ConditionPaused, v1alpha1.ReasonNotPaused, "")
}

func (s *scope) specValid(set conditions.Setter) {
	reason, problem := s.specProblem()
	switch {
	case problem != "":
		set.False(v1alpha1.ConditionSpecValid, reason, problem)
	case s.err == nil:
		set.True(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecValid, "")
	case conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionSpecValid) == nil:
		set.Unknown(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, s.err.Error())
	}
}

// specProblem is what is wrong with the spec beyond what admission sees.
func (s *scope) specProblem() (reason, problem string) {
	switch {
	case s.target.TemplateProblem != "":
		return v1alpha1.ReasonSpecInvalid, s.target.TemplateProblem
	case s.target.ConfigProblem != "" && initialized(s.node):
		return v1alpha1.ReasonSpecInvalid, s.target.ConfigProblem + "; the node keeps its last good configuration"
	case s.target.ConfigProblem != "":
		return v1alpha1.ReasonSpecInvalid, s.target.ConfigProblem
	case s.obstacle != nil:
		return v1alpha1.ReasonSpecInvalid, s.obstacle.Error()
	case s.facts.VolumeProblem != "":
		return v1alpha1.ReasonSpecInvalid, s.facts.VolumeProblem
	}
	if refused := s.refused(); refused != "" {
		return v1alpha1.ReasonConfigRefused, "seid refuses the configuration that spec.overrides asks for: " + refused +
			"; the node keeps its last good configuration. Correct spec.overrides, or set the annotation " + v1alpha1.AnnotationRetry + " to try again"
	}
	return "", ""
}

// refused is why the sidecar refused the wanted configuration; empty when it did not.
func (s *scope) refused() string {
	facts := domain.Facts{Document: s.document}
	return facts.Refused(s.target.ConfigHash)
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
	case status.Plan != nil && domain.IsUpdate(status.Plan.Reason):
		set.True(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateStarted, status.Plan.Message)
	case last != nil && domain.IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeFailed:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateFailed, failureWords(last))
	case s.decision.PendingRestart != "":
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonPendingRestart, s.decision.PendingRestart)
	case last != nil && domain.IsUpdate(last.Reason) && last.Outcome == v1alpha1.OutcomeComplete:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpdateComplete, "")
	case s.err == nil:
		set.False(v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ReasonUpToDate, "")
	}
}

// sidecarReady speaks of the start gate as this pass saw or left it.
func (s *scope) sidecarReady(set conditions.Setter) {
	if !initialized(s.node) || s.node.Spec.Paused {
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonNotApplicable, "")
		return
	}
	opened, ran := s.progress.Outcome(domain.StepMarkReady)
	switch {
	case s.err != nil:
		return
	case ran && opened.IsDone():
		set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarReady, "")
	case !s.sidecarStarted:
		set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, "the sidecar is not running")
	case s.document == nil:
		set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, "the sidecar does not answer")
	case s.document.Gate.State == api.GateOpen && s.document.Gate.Refusal != "":
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonStartRefused, s.document.Gate.Refusal)
	case s.document.Gate.State == api.GateOpen:
		set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarReady, "")
	case s.document.Gate.State == api.GateHeld:
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonGateHeld, "an operation holds the start gate closed")
	case s.decision.HeldBack != "":
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarNotReady, s.decision.HeldBack)
	default:
		set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarNotReady,
			"the sidecar holds the start gate closed: its process is new, and the operator opens the gate")
	}
}

// progressing sets the two conditions by which tools tell work in progress from work that does
// not go on by itself (kstatus).
func (s *scope) progressing(set conditions.Setter) {
	if s.err != nil {
		return
	}
	reason, problem := s.specProblem()
	active := s.activePlan()
	switch {
	case s.node.Spec.Paused:
		set.False(v1alpha1.ConditionStalled, v1alpha1.ReasonPaused, "")
	case problem != "":
		set.True(v1alpha1.ConditionStalled, reason, problem)
	case s.decision.HeldBack != "" && len(s.decision.Missing) > 0 && active == nil:
		set.True(v1alpha1.ConditionStalled, v1alpha1.ReasonHeldBack, s.decision.HeldBack)
	default:
		set.False(v1alpha1.ConditionStalled, v1alpha1.ReasonProgressing, "")
	}
	switch {
	case active != nil && !s.node.Spec.Paused:
		set.True(v1alpha1.ConditionReconciling, active.Reason, active.Message)
	case s.again:
		set.True(v1alpha1.ConditionReconciling, v1alpha1.ReasonProgressing, "")
	default:
		set.False(v1alpha1.ConditionReconciling, v1alpha1.ReasonNoPlan, "")
	}
}
