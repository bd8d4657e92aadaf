package operation

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Pass is one pass over a task: what was seen, decided and done.
type Pass struct {
	Observed Observation
	Decision Decision
	// Plan is the task's plan as the pass leaves it; nil while it has none.
	Plan *v1alpha1.TaskPlan
	// Progress is what the plan's steps came to in this pass.
	Progress plan.Progress
	// Made are the tasks on single nodes that were made in this pass, by the name of the node.
	Made map[string]string
	// Outputs are what the steps found out; nil when they found out nothing new.
	Outputs *v1alpha1.TaskOutputs
}

// Report is the task's status after a pass.
func Report(p *Pass) *v1alpha1.SeiNodeTaskStatus {
	task := p.Observed.Task
	status := task.Status.DeepCopy()
	if Ended(status) {
		return status
	}
	status.ObservedGeneration = task.Generation
	if status.TargetFirstObservedAt == nil {
		status.TargetFirstObservedAt = seconds(p.Observed.Now)
	}
	status.Plan = p.Plan
	if p.Observed.Group != nil {
		status.Nodes = p.sumUp()
	}
	if Begun(status) && status.StartedAt == nil {
		status.StartedAt, status.TargetUID = seconds(p.Observed.Now), p.Observed.beganOn()
	}
	if p.Outputs != nil {
		status.Outputs = p.Outputs
	}
	end := p.end()
	if end.phase != "" {
		status.CompletedAt = seconds(p.Observed.Now)
	}
	if p.Decision.Action == Fail && status.Plan != nil {
		status.Plan.Phase = v1alpha1.PlanFailed
	}
	status.Phase = phaseOf(status, end)
	p.setConditions(status, end)
	return status
}

// ending is how a task ended; without a phase it has not.
type ending struct {
	phase           v1alpha1.SeiNodeTaskPhase
	reason, message string
}

func (p *Pass) end() ending {
	switch {
	case p.Decision.Action == Fail:
		return ending{v1alpha1.NodeTaskFailed, p.Decision.Reason, p.Decision.Message}
	case p.Decision.Action == Complete:
		return ending{v1alpha1.NodeTaskComplete, p.Decision.Reason, p.Decision.Message}
	case p.Plan == nil || p.Plan.Phase == v1alpha1.PlanActive:
		return ending{}
	case p.Plan.Phase == v1alpha1.PlanComplete:
		return ending{v1alpha1.NodeTaskComplete, v1alpha1.ReasonTaskComplete, completeMessage(p.Plan)}
	default:
		reason, message := p.failure()
		return ending{v1alpha1.NodeTaskFailed, reason, message}
	}
}

// completeMessage are what the last step said when it was done.
func completeMessage(done *v1alpha1.TaskPlan) string {
	if n := len(done.Tasks); n > 0 && done.Tasks[n-1].Message != "" {
		return done.Tasks[n-1].Message
	}
	return "the task is complete"
}

// failure says why the plan failed. A step that was still waiting when it failed ran out of time.
func (p *Pass) failure() (reason, message string) {
	detail, last := p.Plan.FailedTaskDetail, plan.Outcome{}
	if n := len(p.Progress.Steps); n > 0 {
		last = p.Progress.Steps[n-1].Outcome
	}
	message = detail.Type + ": " + detail.Error + p.afterwards()
	switch {
	case last.IsWait() && p.undetermined():
		message += "; the transaction may be on chain, now or later: look for one with taskID=" + detail.ID + " in its memo"
		return v1alpha1.ReasonInclusionUndetermined, message
	case last.IsWait() && last.Reason == v1alpha1.ReasonSidecarRefuses:
		return last.Reason, message
	case last.IsWait():
		return v1alpha1.ReasonTaskTimeout, message
	default:
		return cmp.Or(last.Reason, v1alpha1.ReasonTaskFailed), message
	}
}

// afterwards says in what state a task that failed leaves its node, and how to continue.
func (p *Pass) afterwards() string {
	hold, reset, open := plan.Find(p.Plan, StepHoldGate), plan.Find(p.Plan, StepResetData), plan.Find(p.Plan, StepMarkReady)
	switch {
	case !p.Decision.Kind.Holds || hold == nil:
		return ""
	case hold.SubmittedAt == nil:
		return "; the node was not touched"
	case reset.SubmittedAt == nil:
		return "; seid is stopped, the start gate is closed and its data is unchanged: delete this task to start the node again, " +
			"or create another SeiNodeTask of kind StateSync"
	case open.Status != v1alpha1.TaskComplete:
		return "; seid is stopped, the start gate is closed and its data may be deleted: create another SeiNodeTask of kind StateSync, " +
			"or delete this one to set the node up again from its spec"
	default:
		return "; the node keeps running and syncing"
	}
}

// undetermined reports whether a transaction may have been sent.
func (p *Pass) undetermined() bool {
	failed := plan.Find(p.Plan, p.Plan.FailedTaskDetail.Type)
	return p.Decision.Kind.Transacts && failed != nil && failed.SubmittedAt != nil
}

// TimedOut reports whether the plan failed while a step was still under way, so that there may be
// something to cancel.
func (p *Pass) TimedOut() bool {
	n := len(p.Progress.Steps)
	return p.Plan != nil && p.Plan.Phase == v1alpha1.PlanFailed && n > 0 && p.Progress.Steps[n-1].Outcome.IsWait()
}

func phaseOf(status *v1alpha1.SeiNodeTaskStatus, end ending) v1alpha1.SeiNodeTaskPhase {
	switch {
	case end.phase != "":
		return end.phase
	case Begun(status):
		return v1alpha1.NodeTaskRunning
	default:
		return v1alpha1.NodeTaskPending
	}
}

func (p *Pass) setConditions(status *v1alpha1.SeiNodeTaskStatus, end ending) {
	set := conditions.For(&status.Conditions, p.Observed.Task.Generation, p.Observed.Now)
	target := p.targetReady(status)
	set.Set(v1alpha1.ConditionTargetReady, target.status, target.reason, target.message)
	switch end.phase {
	case v1alpha1.NodeTaskComplete:
		set.True(v1alpha1.ConditionReady, end.reason, end.message)
		set.False(v1alpha1.ConditionFailed, v1alpha1.ReasonTaskNotFailed, "")
	case v1alpha1.NodeTaskFailed:
		set.False(v1alpha1.ConditionReady, end.reason, end.message)
		set.True(v1alpha1.ConditionFailed, end.reason, end.message)
	default:
		reason, message := p.unfinished(status)
		set.False(v1alpha1.ConditionReady, reason, message)
		set.False(v1alpha1.ConditionFailed, v1alpha1.ReasonTaskNotFailed, "")
	}
}

// unfinished says what a task waits for or does.
func (p *Pass) unfinished(status *v1alpha1.SeiNodeTaskStatus) (reason, message string) {
	if status.Nodes != nil {
		return v1alpha1.ReasonTaskNotComplete, groupProgress(status.Nodes, p.Decision.Message)
	}
	if p.Plan == nil {
		return cmp.Or(p.Decision.Reason, v1alpha1.ReasonTaskNotComplete), cmp.Or(p.Decision.Message, "the task has not started")
	}
	step, index := plan.Current(p.Plan)
	if step == nil {
		return v1alpha1.ReasonTaskNotComplete, ""
	}
	return v1alpha1.ReasonTaskNotComplete, fmt.Sprintf("step %d/%d, %s: %s", index+1, len(p.Plan.Tasks), step.Type, cmp.Or(step.Message, "about to start"))
}

// targetReady is what condition TargetReady says. Once the task has begun the phase does not
// matter any more.
func (p *Pass) targetReady(status *v1alpha1.SeiNodeTaskStatus) verdict {
	refused := p.Decision.Reason == v1alpha1.ReasonTargetRefused || p.Decision.Reason == v1alpha1.ReasonTargetDeleted
	switch {
	case p.Decision.Action == Fail && refused:
		return verdict{metav1.ConditionFalse, p.Decision.Reason, p.Decision.Message}
	case p.Decision.Action == Fail && p.Decision.Reason == v1alpha1.ReasonPhaseTimeout:
		return verdict{metav1.ConditionFalse, p.Decision.Reason, p.Decision.Message}
	case status.Nodes != nil:
		words := fmt.Sprintf("%s had %d nodes when the task started", targetText(&p.Observed.Task.Spec), status.Nodes.Total)
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonPhaseMet, words}
	case p.Observed.Group != nil:
		return p.Observed.groupTarget()
	case Begun(status):
		spec := &p.Observed.Task.Spec
		words := fmt.Sprintf("SeiNode %s was in phase %s when the task started", spec.Target.NodeRef.Name, requiredPhase(spec))
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonPhaseMet, words}
	default:
		return p.Observed.target()
	}
}

func seconds(t time.Time) *metav1.Time {
	s := metav1.NewTime(t.Truncate(time.Second))
	return &s
}
