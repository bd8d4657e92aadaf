package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func taskTarget(task *seiv1.SeiNodeTask) string {
	t := &task.Spec.Target
	switch {
	case t.NodeRef.Name != "":
		return "node/" + t.NodeRef.Name
	case t.FleetRef.Name != "":
		return "fleet/" + t.FleetRef.Name
	default:
		return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: t.Selector})
	}
}

// took is how long a task has run.
func took(task *seiv1.SeiNodeTask, now time.Time) string {
	started, ended := task.Status.StartedAt, task.Status.CompletedAt
	if started == nil {
		return blank
	}
	if ended != nil {
		now = ended.Time
	}
	return duration.HumanDuration(now.Sub(started.Time))
}

// taskDetail is what a task waits for, why it failed, or what it has found out.
func taskDetail(task *seiv1.SeiNodeTask) string {
	for _, kind := range []string{seiv1.ConditionFailed, seiv1.ConditionReleased} {
		if c := meta.FindStatusCondition(task.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	if c := meta.FindStatusCondition(task.Status.Conditions, seiv1.ConditionTargetReady); c != nil && c.Status != metav1.ConditionTrue {
		return c.Message
	}
	if plan := task.Status.Plan; plan != nil && task.Status.CompletedAt == nil {
		if at := currentTask(plan); at >= 0 {
			step := plan.Tasks[at]
			words := fmt.Sprintf("step %d/%d %s", at+1, len(plan.Tasks), step.Type)
			if waits := cmp.Or(step.Message, step.Error); waits != "" {
				words += ": " + waits
			}
			return words
		}
	}
	if c := meta.FindStatusCondition(task.Status.Conditions, seiv1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}

// taskProgress is how far a task is, in words, and whether it has ended. One that failed is an error.
func taskProgress(task *seiv1.SeiNodeTask) (string, bool, error) {
	phase := cmp.Or(string(task.Status.Phase), string(seiv1.NodeTaskPending))
	words := task.Name + ": " + phase
	if n := task.Status.Nodes; n != nil {
		words = fmt.Sprintf("%s %s %d/%d nodes", words, bar(n.Complete+n.Failed, n.Total), n.Complete+n.Failed, n.Total)
	}
	if detail := taskDetail(task); detail != "" {
		words += ": " + detail
	}
	switch task.Status.Phase {
	case seiv1.NodeTaskComplete:
		return words, true, nil
	case seiv1.NodeTaskFailed:
		return words, true, errors.New("task " + task.Name + " failed")
	}
	return words, false, nil
}
