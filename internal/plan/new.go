package plan

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/text"
)

// taskNamespace makes task ids deterministic: a restarted operator finds the
// task it submitted before, and never submits it twice.
var taskNamespace = uuid.MustParse("b7e89c3a-4f12-4d8b-9a6e-1c2d3e4f5a6b")

// Spec describes a plan to be made.
type Spec struct {
	// ID is the plan's id where the same work must never be done under another one; empty for a
	// fresh one.
	ID      string
	Reason  string
	Message string
	Target  v1alpha1.PlanTarget
	Tasks   []string
	// Deadline is when the plan fails; zero leaves each task the time of its own.
	Deadline time.Time
}

// New makes an active plan. Task ids derive from its id, which is a fresh one unless the spec
// names one, so no two plans ever share a task id.
func New(spec Spec, now time.Time) *v1alpha1.TaskPlan {
	target := spec.Target
	started := metav1.NewTime(now.Truncate(time.Second))
	p := &v1alpha1.TaskPlan{
		ID:        cmp.Or(spec.ID, uuid.NewString()),
		Phase:     v1alpha1.PlanActive,
		Reason:    spec.Reason,
		Message:   text.Shorten(spec.Message, maxWords),
		Target:    &target,
		StartedAt: &started,
		Tasks:     make([]v1alpha1.PlannedTask, 0, len(spec.Tasks)),
	}
	var deadline *metav1.Time
	if !spec.Deadline.IsZero() {
		deadline = seconds(spec.Deadline)
	}
	for i, taskType := range spec.Tasks {
		p.Tasks = append(p.Tasks, v1alpha1.PlannedTask{
			Type:     taskType,
			ID:       TaskID(p.ID, taskType, i, 1),
			Status:   v1alpha1.TaskPending,
			Attempt:  1,
			Deadline: deadline.DeepCopy(),
		})
	}
	return p
}

// TaskID is the id of one attempt of one task of a plan.
func TaskID(planID, taskType string, index int, attempt int32) string {
	name := fmt.Sprintf("%s/%s/%d/%d", planID, taskType, index, attempt)
	return uuid.NewSHA1(taskNamespace, []byte(name)).String()
}

// Current is the task the plan is at, and its position; nil when none is left.
func Current(p *v1alpha1.TaskPlan) (*v1alpha1.PlannedTask, int) {
	for i := range p.Tasks {
		if p.Tasks[i].Status != v1alpha1.TaskComplete {
			return &p.Tasks[i], i
		}
	}
	return nil, len(p.Tasks)
}

// Find is the plan's task of the given type; nil when it has none.
func Find(p *v1alpha1.TaskPlan, taskType string) *v1alpha1.PlannedTask {
	if p == nil {
		return nil
	}
	for i := range p.Tasks {
		if p.Tasks[i].Type == taskType {
			return &p.Tasks[i]
		}
	}
	return nil
}

// Summarize is what is kept of a plan that has ended.
func Summarize(p *v1alpha1.TaskPlan, outcome v1alpha1.PlanOutcome, now time.Time) *v1alpha1.PlanSummary {
	s := &v1alpha1.PlanSummary{
		ID:         p.ID,
		Reason:     p.Reason,
		Outcome:    outcome,
		FinishedAt: metav1.NewTime(now.Truncate(time.Second)),
		Target:     p.Target.DeepCopy(),
	}
	if d := p.FailedTaskDetail; d != nil {
		s.FailedTask, s.Error = d.Type, d.Error
	}
	return s
}
