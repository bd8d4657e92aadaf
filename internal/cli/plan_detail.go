package cli

import (
	"cmp"
	"slices"
	"time"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// planDetail sums up a plan; nil when there is none.
func planDetail(plan *seiv1.TaskPlan, now time.Time) *PlanDetail {
	if plan == nil {
		return nil
	}
	d := &PlanDetail{
		ID: plan.ID, Reason: plan.Reason, Phase: string(plan.Phase), Steps: len(plan.Tasks), Elapsed: elapsed(plan.StartedAt, now),
	}
	at := currentTask(plan)
	if at < 0 {
		d.Step = d.Steps
		return d
	}
	task := plan.Tasks[at]
	d.Step, d.Task, d.WaitsFor = at+1, task.Type, cmp.Or(task.Message, task.Error)
	d.TaskElapsed = elapsed(task.StartedAt, now)
	return d
}

// currentTask is the index of the first task that is not complete; -1 when all are.
func currentTask(plan *seiv1.TaskPlan) int {
	return slices.IndexFunc(plan.Tasks, func(t seiv1.PlannedTask) bool { return t.Status != seiv1.TaskComplete })
}
