package operation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// scope is what one pass over a task knows: filled by observe, decide and act, and turned into
// status by report.
type scope struct {
	// task is the task with the status that is being written.
	task     *v1alpha1.SeiNodeTask
	before   *v1alpha1.SeiNodeTask
	snapshot *statuspatch.Snapshot
	domain.Pass

	// objects are the target's StatefulSet and pod.
	objects task.Objects

	again        bool
	requeueAfter time.Duration
}

func (r *Reconciler) newScope(task *v1alpha1.SeiNodeTask) *scope {
	s := &scope{task: task, before: task.DeepCopy(), snapshot: r.Status.New(task)}
	s.Observed = domain.Observation{Task: s.before, Now: r.Clock.Now()}
	s.Plan = task.Status.Plan.DeepCopy()
	return s
}

func (s *scope) key() types.NamespacedName { return client.ObjectKeyFromObject(s.task) }

// target is the name of the node that the task is for, or what stands for several.
func target(task *v1alpha1.SeiNodeTask) types.NamespacedName {
	return types.NamespacedName{Namespace: task.Namespace, Name: domain.TargetKey(&task.Spec)}
}

// comeBackIn asks for another look after d, unless an earlier one is due.
func (s *scope) comeBackIn(d time.Duration) {
	if d > 0 && (s.requeueAfter == 0 || d < s.requeueAfter) {
		s.requeueAfter = d
	}
}
