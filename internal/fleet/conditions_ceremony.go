package fleet

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
)

func (s *report) planInProgress(set conditions.Setter) {
	status := &s.snd.Status
	switch {
	case status.Plan != nil:
		reason, message := planMessage(status.Plan)
		set.True(v1alpha1.ConditionPlanInProgress, reason, message)
	case planFailed(status):
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanFailed, failureMessage(status.LastPlan))
	case status.LastPlan != nil:
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonPlanComplete, status.LastPlan.Reason)
	default:
		set.False(v1alpha1.ConditionPlanInProgress, v1alpha1.ReasonNoPlan, "")
	}
}

// planMessage says where a plan is, in words that only change when it moves on.
func planMessage(p *v1alpha1.TaskPlan) (reason, message string) {
	t, index := plan.Current(p)
	if t == nil {
		return v1alpha1.ReasonPlanRunning, p.Reason
	}
	message = fmt.Sprintf("%s: step %d/%d %s", p.Reason, index+1, len(p.Tasks), t.Type)
	switch {
	case t.Message != "":
		message += ": " + t.Message
	case t.Error != "":
		message += fmt.Sprintf(": retrying (attempt %d): %s", t.Attempt, t.Error)
	default:
		return v1alpha1.ReasonPlanRunning, message
	}
	if t.StartedAt != nil {
		message += ", since " + t.StartedAt.UTC().Format(time.RFC3339)
	}
	return v1alpha1.ReasonPlanWaiting, message
}

func failureMessage(last *v1alpha1.PlanSummary) string {
	return fmt.Sprintf("%s failed at step %s: %s", last.Reason, last.FailedTask, last.Error)
}

// ceremonyComplete latches: what status has of the genesis says that the chain has begun.
func (s *report) ceremonyComplete(set conditions.Setter) {
	const conditionType = v1alpha1.ConditionGenesisCeremonyComplete
	status := &s.snd.Status
	p := status.Plan
	switch {
	case s.snd.Spec.Genesis == nil:
		set.False(conditionType, v1alpha1.ReasonNotApplicable, "")
	case s.ceremony.State == CeremonyConflict:
		set.True(conditionType, v1alpha1.ReasonGenesisConflict, s.ceremony.Message)
	case status.GenesisHash != "":
		set.True(conditionType, v1alpha1.ReasonCeremonyComplete,
			fmt.Sprintf("the genesis of %s is in ConfigMap %s, SHA-256 %s", s.snd.Spec.Genesis.ChainID, status.GenesisConfigMap, status.GenesisHash))
	case ChainBegun(s.snd):
		set.True(conditionType, v1alpha1.ReasonCeremonyComplete, s.begunElsewhere())
	case s.ceremony.State == CeremonyBlocked:
		set.False(conditionType, v1alpha1.ReasonCeremonyFailed, s.ceremony.Message)
	case planFailed(status):
		set.False(conditionType, v1alpha1.ReasonCeremonyFailed, failureMessage(status.LastPlan)+
			". It is retried in a few minutes; to retry now, change the annotation "+v1alpha1.AnnotationRetry)
	case p != nil:
		_, message := planMessage(p)
		set.False(conditionType, v1alpha1.ReasonCeremonyInProgress, message)
	default:
		set.False(conditionType, v1alpha1.ReasonCeremonyNotStarted, "")
	}
}

// begunElsewhere says what is missing of a chain that another operator has started.
func (s *report) begunElsewhere() string {
	const begun = "another operator has started the chain, and its genesis is in no ConfigMap yet"
	status := &s.snd.Status
	switch {
	case s.ceremony.Message != "":
		return begun + ": " + s.ceremony.Message
	case planFailed(status):
		return begun + ": " + failureMessage(status.LastPlan)
	default:
		return begun
	}
}

// ceremonyFailed reports whether the chain has no genesis and will not get one by what happens now.
func (s *report) ceremonyFailed() bool {
	status := &s.snd.Status
	if s.snd.Spec.Genesis == nil || ChainBegun(s.snd) {
		return false
	}
	return s.ceremony.State == CeremonyBlocked || planFailed(status)
}
