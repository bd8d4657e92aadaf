package node

import (
	"time"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/planner"
	"github.com/sei-operator/sei-operator/internal/render"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// scope is what one pass over a node knows: filled by observe, decide and act, and
// turned into status by report.
type scope struct {
	node     *v1alpha1.SeiNode
	before   *v1alpha1.SeiNode
	now      time.Time
	snapshot *statuspatch.Snapshot

	observed *planner.Observation
	sidecar  sidecar.Sidecar
	nodeID   string

	input render.Input
	// statefulSet is what the node's StatefulSet shall be; nil when it cannot be
	// rendered.
	statefulSet *appsv1ac.StatefulSetApplyConfiguration
	config      render.Config
	wanted      planner.Wanted
	// specProblem is why the spec cannot be acted on.
	specProblem error

	decision planner.Decision
	facts    task.Facts
	progress plan.Progress
	// finished is the plan that ended in this pass.
	finished *v1alpha1.TaskPlan

	err          error
	again        bool
	requeueAfter time.Duration
}

func (r *Reconciler) newScope(node *v1alpha1.SeiNode) *scope {
	return &scope{
		node:     node,
		before:   node.DeepCopy(),
		now:      r.Clock.Now(),
		snapshot: r.status.New(node),
		observed: &planner.Observation{},
		input:    render.Input{Node: node, Platform: r.Platform, SidecarSubjects: r.SidecarSubjects},
		facts:    task.Facts{Identity: node.Status.StatefulSet.DeepCopy(), ConsensusAddress: node.Status.ConsensusAddress},
	}
}

// comeBackIn asks for another look after d, unless an earlier one is due.
func (s *scope) comeBackIn(d time.Duration) {
	if d > 0 && (s.requeueAfter == 0 || d < s.requeueAfter) {
		s.requeueAfter = d
	}
}

// result is when to come back, and before whom: a node with a plan goes first. Said
// anew each time, or else the priority of the last event would stay with the node.
func (s *scope) result() ctrl.Result {
	priority := priorityNormal
	if s.activePlan() != nil {
		priority = priorityUnderWay
	}
	return ctrl.Result{RequeueAfter: s.requeueAfter, Priority: &priority}
}

// activePlan is the plan under way; nil when there is none.
func (s *scope) activePlan() *v1alpha1.TaskPlan {
	if p := s.node.Status.Plan; p != nil && p.Phase == v1alpha1.PlanActive {
		return p
	}
	return nil
}
