package node

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Pass is what one pass over a node saw, decided and did.
type Pass struct {
	// Node carries the stored status, except for the plan, which is as the pass left it.
	Node *v1alpha1.SeiNode
	Now  time.Time
	// Err is why the pass could not end; nil when it did.
	Err error
	// Read: all there is to read was read. If not, what is said of pod and chain stays.
	Read bool

	Facts    Facts
	Target   Target
	Decision Decision
	// Upgrade is the image that was chosen, and why.
	Upgrade UpgradeChoice
	// Progress is what the calls of steps came to.
	Progress plan.Progress
	// Ended is the plan that ended in this pass; nil when none did.
	Ended *v1alpha1.TaskPlan

	// Pod is the node's pod as the pass left it; nil when there is none.
	Pod *Pod
	// PodObstacle says why there is no pod although there should be one.
	PodObstacle string
	// SidecarRuns: there was a sidecar that could answer.
	SidecarRuns bool
	// Unanswered: it was asked and may still answer.
	Unanswered bool
	// NotCalled says why it was not asked or does not let the operator in; empty when it was and
	// does.
	NotCalled string
	// Peers are the peers as far as they could be resolved.
	Peers []string
	// Endpoint is where the node can be reached once it was brought up.
	Endpoint v1alpha1.NodeEndpoint

	// StatefulSet is the StatefulSet that is the node's now.
	StatefulSet *v1alpha1.ObjectIdentity
	// ConsensusAddress is the address that is reserved for the node.
	ConsensusAddress string
	// Bootstrapped: the bootstrap Job has reached its height in this pass.
	Bootstrapped bool
	// Obstacle is why the node's objects cannot be kept in shape; empty when they can.
	Obstacle string
	// Pull is how far pulling the image of the next upgrade ahead has got.
	Pull PullDecision
	// Snapshot is how far the backup before an upgrade has got.
	Snapshot SnapshotDecision
	// VolumeProblem says why the volume could not be resized; empty when it could.
	VolumeProblem string
	// CertificateProblem says why the sidecar has no certificate; empty when it needs none or has one.
	CertificateProblem string
}

// report is a status in the making.
type report struct {
	*Pass
	status *v1alpha1.SeiNodeStatus
	set    conditions.Setter
}

// Report derives a node's status from a pass.
func Report(p *Pass) *v1alpha1.SeiNodeStatus {
	r := newReport(p)
	r.facts()
	r.overtakeFailure()
	r.upgrade()
	r.phase()
	r.conditions()
	r.status.Problem = Problem(r.status.Conditions)
	if p.Err == nil {
		// An edit that could not be looked at yet is not observed.
		r.status.ObservedGeneration = p.Node.Generation
	}
	return r.status
}

// ReportTerminating derives the status of a node that is being deleted. strayPod is a pod that does not
// stop by itself; empty if there is none.
func ReportTerminating(node *v1alpha1.SeiNode, strayPod string, now time.Time) *v1alpha1.SeiNodeStatus {
	r := newReport(&Pass{Node: node, Now: now})
	r.enter(v1alpha1.NodeTerminating)
	r.status.ObservedGeneration = node.Generation
	waits := "the node is being deleted: waiting for its pod to stop"
	if strayPod != "" {
		waits = fmt.Sprintf("the node is being deleted, but pod %s keeps running, because its StatefulSet was deleted without it: delete the pod", strayPod)
	}
	r.set.False(v1alpha1.ConditionReady, v1alpha1.ReasonTerminating, waits)
	r.status.Problem = inOneLine(v1alpha1.ReasonTerminating, waits) // whatever else was wrong ends with it
	return r.status
}

func newReport(p *Pass) *report {
	status := p.Node.Status.DeepCopy()
	return &report{Pass: p, status: status, set: conditions.For(&status.Conditions, p.Node.Generation, p.Now)}
}

// facts writes what the node is made of and runs now.
func (r *report) facts() {
	status := r.status
	if mode, err := ModeOf(&r.Node.Spec); err == nil {
		status.Mode = mode.Field
	}
	status.StatefulSet = r.StatefulSet
	status.ConsensusAddress = r.ConsensusAddress
	status.Bootstrapped = status.Bootstrapped || r.Bootstrapped
	if r.Err == nil || len(r.Peers) > 0 {
		status.ResolvedPeers = r.Peers
	}
	if d := r.Facts.Document; d != nil && d.Home.NodeID != "" {
		status.NodeID = d.Home.NodeID
	}
	if d := r.Facts.Document; d != nil && d.Published != nil && d.Published.Time != nil {
		status.LastPublished = &v1alpha1.PublishedSnapshot{Height: d.Published.Height, Time: *seconds(*d.Published.Time)}
	}
	// A pod whose sidecar runs has both images on its node; before that it only tries to.
	if pod := r.Pod; pod != nil && pod.SidecarRuns && r.SidecarRuns && !pod.Bootstrap {
		status.CurrentImage = pod.Build.Image
		status.CurrentSidecarImage = pod.Build.SidecarImage
		status.PodTemplateHash = pod.Build.TemplateHash
	}
	if r.Read {
		status.PulledAhead = r.Pull.Done
	}
	status.ConfigHash = r.configHash()
	if status.InitializedAt == nil && (Initialized(status) || r.broughtUp()) {
		status.InitializedAt = seconds(r.Now)
	}
	if status.InitializedAt != nil {
		endpoint := r.Endpoint
		status.Endpoint = &endpoint
	}
}

// overtakeFailure has a plan that failed count as superseded once its target is not the wanted one any
// more and nothing is missing: a spec that was put back needs no plan of its own to end the failure.
func (r *report) overtakeFailure() {
	last := r.status.LastPlan
	if r.Err != nil || r.Ended != nil || r.status.Plan != nil || r.status.InitializedAt == nil || r.Node.Spec.Paused || len(r.Decision.Missing) > 0 {
		return
	}
	if last != nil && last.Outcome == v1alpha1.OutcomeFailed && last.Target != nil && *last.Target != r.Target.PlanTarget {
		last.Outcome = v1alpha1.OutcomeSuperseded
	}
}

// configHash is the configuration on the node's volume: what this pass has written, what the
// sidecar told, or what was known before.
func (r *report) configHash() string {
	current := r.activePlan()
	if r.Ended != nil {
		current = r.Ended
	}
	for _, step := range r.Progress.Steps {
		if step.Task.Type == StepConfigApply && step.Outcome.IsDone() {
			return WrittenConfig(current)
		}
	}
	if d := r.Facts.Document; d != nil {
		return d.Home.ConfigHash
	}
	return r.status.ConfigHash
}

// broughtUp reports whether the plan that ended in this pass has opened the gate of the node's
// own pod; or whether nothing is left to do for a node whose gate is open: the plan that opened
// it may have been superseded before its end.
func (r *report) broughtUp() bool {
	if r.Ended != nil {
		return r.Ended.Phase == v1alpha1.PlanComplete && plan.Find(r.Ended, StepMarkReady) != nil
	}
	own := r.Pod != nil && !r.Pod.Bootstrap && r.Facts.Document != nil
	return own && r.Facts.Document.Gate.State == api.GateOpen && r.activePlan() == nil && len(r.Decision.Missing) == 0 && r.Err == nil
}

// activePlan is the plan under way; nil when there is none.
func (r *report) activePlan() *v1alpha1.TaskPlan { return ActivePlan(r.status) }

// ActivePlan is the plan under way; nil when there is none.
func ActivePlan(status *v1alpha1.SeiNodeStatus) *v1alpha1.TaskPlan {
	if p := status.Plan; p != nil && p.Phase == v1alpha1.PlanActive {
		return p
	}
	return nil
}

// Initialized reports whether a node was brought up before. Older operators knew the phase
// alone.
func Initialized(status *v1alpha1.SeiNodeStatus) bool {
	return status.InitializedAt != nil || status.Phase == v1alpha1.NodeRunning
}

// seconds is a time as a status keeps it.
func seconds(t time.Time) *metav1.Time {
	s := metav1.NewTime(t.Truncate(time.Second))
	return &s
}
