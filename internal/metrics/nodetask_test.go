package metrics_test

import (
	"testing"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

// A task is timed once, when it ends, and only if it had begun.
func TestTaskObserved_TheEndIsTimedOnce(t *testing.T) {
	m, registry := newMetrics(t)
	begun, ended, refused := nodeTask("a"), nodeTask("a"), nodeTask("b")
	begun.Status.Phase, begun.Status.StartedAt = seiv1.NodeTaskRunning, at(0)
	ended.Status.Phase, ended.Status.StartedAt, ended.Status.CompletedAt = seiv1.NodeTaskFailed, at(0), at(90)
	refused.Status.Phase, refused.Status.CompletedAt = seiv1.NodeTaskFailed, at(5)
	m.TaskObserved(nodeTask("a"), begun)
	m.TaskObserved(begun, ended)
	m.TaskObserved(ended, ended)
	m.TaskObserved(nodeTask("b"), refused)
	several := nodeTask("b") // its children are timed
	several.Status.Phase, several.Status.StartedAt, several.Status.CompletedAt = seiv1.NodeTaskFailed, at(0), at(900)
	several.Status.Nodes = &seiv1.TaskNodes{Total: 3}
	m.TaskObserved(nodeTask("b"), several)
	labels := `namespace="sei",outcome="Failed",task_kind="GovVote"`
	expect(t, registry, metrics.NameNodeTaskDuration,
		metrics.NameNodeTaskDuration+"_sum{"+labels+"} 90", metrics.NameNodeTaskDuration+"_count{"+labels+"} 1")
	m.Forget(seiv1.KindSeiNodeTask, "sei", "b")
	expect(t, registry, metrics.NameNodeTaskPhase,
		metrics.NameNodeTaskPhase+`{name="a",namespace="sei",phase="Complete"} 0`, metrics.NameNodeTaskPhase+`{name="a",namespace="sei",phase="Failed"} 1`,
		metrics.NameNodeTaskPhase+`{name="a",namespace="sei",phase="Pending"} 0`, metrics.NameNodeTaskPhase+`{name="a",namespace="sei",phase="Running"} 0`)
}
