package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// TasksCalled records the outcomes of the tasks that one pass of a plan has called.
func (m *Metrics) TasksCalled(kind string, progress plan.Progress) {
	for _, step := range progress.Steps {
		t := step.Task
		switch {
		case step.Outcome.IsRetry() && t.Status == seiv1.TaskPending:
			m.taskRetried(kind, t.Type)
		case t.CompletedAt != nil && t.StartedAt != nil:
			m.taskEnded(kind, t.Type, t.Status, t.CompletedAt.Sub(t.StartedAt.Time))
		}
	}
}

// taskEnded records how long a task of a plan took.
func (m *Metrics) taskEnded(kind, task string, status seiv1.TaskStatus, took time.Duration) {
	m.histograms[NameTaskDuration].WithLabelValues(kind, among(taskTypes, task), string(status)).Observe(max(took, 0).Seconds())
}

// taskRetried counts an attempt of a task beyond the first.
func (m *Metrics) taskRetried(kind, task string) {
	m.counters[NameTaskRetries].WithLabelValues(kind, among(taskTypes, task)).Inc()
}

// PlanEnded records how long a plan took.
func (m *Metrics) PlanEnded(kind, reason string, outcome seiv1.PlanOutcome, took time.Duration) {
	m.histograms[NamePlanDuration].WithLabelValues(kind, among(planReasons, reason), string(outcome)).Observe(max(took, 0).Seconds())
}

// planActive notes the plan an object works on, and the task it is at; nil notes that
// there is none.
func (m *Metrics) planActive(key objectKey, p *seiv1.TaskPlan) {
	plans, tasks := m.ages[NamePlanActiveAge], m.ages[NameTaskActiveAge]
	if p == nil || p.Phase != seiv1.PlanActive {
		plans.unset(key)
		tasks.unset(key)
		return
	}
	labels := []string{key.kind, key.namespace, key.name, among(planReasons, p.Reason)}
	plans.since(key, p.StartedAt, labels...)
	if task, _ := plan.Current(p); task != nil {
		tasks.since(key, task.StartedAt, append(labels, among(taskTypes, task.Type))...)
	} else {
		tasks.unset(key)
	}
}

// planFailed notes that the last plan of an object failed; an empty reason notes that
// none did.
func (m *Metrics) planFailed(key objectKey, reason string) {
	gauge := m.gauges[NamePlanLastFailed]
	gauge.DeletePartialMatch(prometheus.Labels{labelKind: key.kind, labelNamespace: key.namespace, labelName: key.name})
	if reason != "" {
		gauge.WithLabelValues(key.kind, key.namespace, key.name, among(planReasons, reason)).Set(1)
	}
}

// planOutcome records the plan that ended between two states of an object: it
// was active before, and is the last plan after.
func (m *Metrics) planOutcome(kind string, active *seiv1.TaskPlan, lastBefore, lastAfter *seiv1.PlanSummary) {
	if lastAfter == nil || (lastBefore != nil && lastBefore.ID == lastAfter.ID) {
		return
	}
	if active == nil || active.ID != lastAfter.ID || active.StartedAt == nil {
		return // its start is not known, and a made-up duration would lie
	}
	m.PlanEnded(kind, lastAfter.Reason, lastAfter.Outcome, lastAfter.FinishedAt.Sub(active.StartedAt.Time))
}
