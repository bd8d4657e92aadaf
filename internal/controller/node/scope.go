package node

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// scope is what one pass over a node knows: filled by observe, decide and act, and
// turned into status by report.
type scope struct {
	node *v1alpha1.SeiNode
	// stored is the node as the API server has it.
	stored   *v1alpha1.SeiNode
	snapshot *statuspatch.Snapshot
	// before is the node as the pass before left it: with what that one did not write.
	before *v1alpha1.SeiNode
	now    time.Time
	// putOffSince is when the first status was put off that is not written yet.
	putOffSince time.Time

	// observed are the objects as they were seen. Nothing changes them.
	observed task.Objects
	// peerProblems says in words which peers could not be resolved.
	peerProblems []string
	sidecar      sidecar.Sidecar
	// document is what the sidecar told; nil when it did not answer.
	document *api.Node
	// operation is the SeiNodeTask that has closed the gate of the node.
	operation string
	// lookError is why it told nothing.
	lookError error
	// sidecarStarted: there is a sidecar that could answer.
	sidecarStarted bool

	input render.Input
	// statefulSet renders what the node's StatefulSet should be, once.
	statefulSet func() (*appsv1ac.StatefulSetApplyConfiguration, error)
	target      domain.Target
	// upgrade is the image that was chosen, and why.
	upgrade domain.UpgradeChoice
	// obstacle is why the node's objects cannot be kept in shape.
	obstacle error
	// policyProblem is why the node has no NetworkPolicy although it should.
	policyProblem string

	// facts are what the decision was made on.
	facts    domain.Facts
	decision domain.Decision
	// seen: observe has read all there is to read.
	seen bool
	// pullPod is the pod that pulls the image of the next upgrade; nil when there is none of ours.
	pullPod *corev1.Pod
	// wantsPull is what should be pulled ahead, and pull what to do about it.
	wantsPull domain.Pull
	pull      domain.PullDecision
	// volumeSnapshot is the backup that a halted node waits for, takenSnapshot its object, and
	// snapshotDecision what to do about it.
	volumeSnapshot   domain.VolumeSnapshot
	takenSnapshot    *unstructured.Unstructured
	snapshotDecision domain.SnapshotDecision
	// objects are the objects after the pass has acted.
	objects task.Objects
	// found is what steps and repairs found out.
	found    task.Facts
	progress plan.Progress
	// finished is the plan that ended in this pass.
	finished *v1alpha1.TaskPlan

	err          error
	again        bool
	requeueAfter time.Duration
}

func (r *Reconciler) newScope(node *v1alpha1.SeiNode) *scope {
	now, stored, snapshot := r.Clock.Now(), node.DeepCopy(), r.Status.New(node)
	before, since := stored, now
	if unwritten, ok := r.unwritten.of(node); ok {
		node.Status = *unwritten.status.DeepCopy()
		before, since = node.DeepCopy(), unwritten.since
	}
	s := &scope{
		node:        node,
		stored:      stored,
		snapshot:    snapshot,
		before:      before,
		now:         now,
		putOffSince: since,
		input:       render.Input{Node: node, Platform: r.Platform, SidecarSubjects: r.SidecarSubjects, OperatorNamespace: r.Namespace},
		found:       task.Facts{Identity: node.Status.StatefulSet.DeepCopy(), ConsensusAddress: node.Status.ConsensusAddress},
	}
	// Rendered with the image that will have been chosen by then.
	s.statefulSet = sync.OnceValues(func() (*appsv1ac.StatefulSetApplyConfiguration, error) { return render.StatefulSet(s.input) })
	return s
}

// comeBackIn asks for another look after d, unless an earlier one is due.
func (s *scope) comeBackIn(d time.Duration) {
	if d > 0 && (s.requeueAfter == 0 || d < s.requeueAfter) {
		s.requeueAfter = d
	}
}

// result is when to come back, and before which others: a node with a plan goes first. Said
// again each time, or else the priority of the last event would stay with the node.
func (s *scope) result() ctrl.Result {
	priority := priorityNormal
	if s.activePlan() != nil {
		priority = priorityUnderWay
	}
	return ctrl.Result{RequeueAfter: s.requeueAfter, Priority: &priority}
}

// activePlan is the plan under way; nil when there is none.
func (s *scope) activePlan() *v1alpha1.TaskPlan { return domain.ActivePlan(&s.node.Status) }
