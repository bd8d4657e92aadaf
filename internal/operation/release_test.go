package operation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
)

// A node goes back to its own plan when its data is whole or gone, and never in between.
func TestDecideRelease_DataIsWholeOrGone(t *testing.T) {
	deleted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	running := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: deleted}}}
	running.Status.Phase, running.Status.Plan = v1alpha1.NodeTaskRunning, &v1alpha1.TaskPlan{}
	failed := running.DeepCopy()
	failed.Status.Phase, failed.Status.CompletedAt = v1alpha1.NodeTaskFailed, &metav1.Time{Time: deleted}
	for name, c := range map[string]struct {
		task  *v1alpha1.SeiNodeTask
		seen  operation.Holding
		after time.Duration
		want  operation.Release
	}{
		"not held":                              {running, operation.Holding{}, 0, operation.NotHeld},
		"held, and nothing was deleted":         {running, operation.Holding{Held: true}, 0, operation.ReleaseNow},
		"deleted in part":                       {running, operation.Holding{Held: true, PartlyDeleted: true}, 0, operation.FinishReset},
		"deleted in part, long ago":             {failed, operation.Holding{Held: true, PartlyDeleted: true}, time.Hour, operation.FinishReset},
		"all deleted, and the task runs":        {running, operation.Holding{Held: true, Emptied: true}, 0, operation.FinishSteps},
		"the same, and its steps take too long": {running, operation.Holding{Held: true, Emptied: true}, operation.CancelPatience, operation.ReleaseNow},
		"all deleted, and the task has failed":  {failed, operation.Holding{Held: true, Emptied: true}, 0, operation.ReleaseNow},
	} {
		if got := operation.DecideRelease(c.task, c.seen, deleted.Add(c.after)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A task that has closed the gate holds its node until it is known to have opened it.
func TestMayHold_FromTheHoldToTheOpening(t *testing.T) {
	now := metav1.Now()
	step := func(name string, submitted bool, status v1alpha1.TaskStatus) v1alpha1.PlannedTask {
		s := v1alpha1.PlannedTask{Type: name, Status: status}
		if submitted {
			s.SubmittedAt = &now
		}
		return s
	}
	open := func(status v1alpha1.TaskStatus) v1alpha1.PlannedTask {
		return step(operation.StepMarkReady, true, status)
	}
	held := step(operation.StepHoldGate, true, v1alpha1.TaskComplete)
	for name, c := range map[string]struct {
		kind v1alpha1.SeiNodeTaskKind
		plan *v1alpha1.TaskPlan
		want bool
	}{
		"no plan":                 {v1alpha1.TaskKindStateSync, nil, false},
		"not begun":               {v1alpha1.TaskKindStateSync, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{step(operation.StepHoldGate, false, v1alpha1.TaskPending), open(v1alpha1.TaskPending)}}, false},
		"held":                    {v1alpha1.TaskKindStateSync, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{held, open(v1alpha1.TaskPending)}}, true},
		"failed before it opened": {v1alpha1.TaskKindStateSync, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{held, open(v1alpha1.TaskFailed)}}, true},
		"opened":                  {v1alpha1.TaskKindStateSync, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{held, open(v1alpha1.TaskComplete)}}, false},
		"a kind that holds none":  {v1alpha1.TaskKindRestartSeid, &v1alpha1.TaskPlan{Tasks: []v1alpha1.PlannedTask{held}}, false},
	} {
		of := &v1alpha1.SeiNodeTask{}
		of.Spec.Kind, of.Status.Plan = c.kind, c.plan
		if got := operation.MayHold(of); got != c.want {
			t.Errorf("%s: %t, want %v", name, got, c.want)
		}
	}
}
