package node

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// report derives the status from what this pass saw and did, writes it once if it
// changed, and tells of transitions. Words that may be over in a moment wait for the
// next look. It runs after errors too.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	s.deriveFacts()
	s.derivePhase()
	s.deriveConditions()
	if s.err == nil {
		// An edit that could not be looked at yet is not observed.
		s.node.Status.ObservedGeneration = s.node.Generation
	}
	if r.passing.withhold(s.before, s.node, s.now) {
		s.node.Status = *s.before.Status.DeepCopy()
		s.comeBackIn(passingFor)
	}
	result, err := s.snapshot.Patch(ctx, r.Client, s.node)
	if err != nil {
		return err
	}
	r.Metrics.NodeObserved(s.before, s.node)
	r.Metrics.TasksCalled(v1alpha1.KindSeiNode, s.progress)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, s.node, events.ForNode(s.before, s.node)...)
	}
	loop.LogPlan(ctx, s.progress, s.before.Status.Plan, s.node.Status.Plan, s.finished)
	r.emitFacts(ctx, s)
	if initialized(s.node) && s.activePlan() == nil && !s.node.Spec.Paused {
		s.comeBackIn(jittered(steadyInterval, s.node))
	}
	return nil
}

// deriveFacts writes what the node is made of and runs now.
func (s *scope) deriveFacts() {
	status := &s.node.Status
	status.StatefulSet = s.facts.Identity
	status.ConsensusAddress = s.facts.ConsensusAddress
	status.Bootstrapped = status.Bootstrapped || s.facts.Bootstrapped
	if s.err == nil || len(s.observed.Peers) > 0 {
		status.ResolvedPeers = s.observed.Peers
	}
	if s.document != nil && s.document.Home.NodeID != "" {
		status.NodeID = s.document.Home.NodeID
	}
	// A pod whose sidecar runs has both images on its node; before that it only
	// tries to.
	if pod := s.objects.Pod; s.sidecarStarted && !task.IsBootstrapPod(pod) {
		if _, running := task.SidecarStarted(pod); running {
			status.CurrentImage = render.SeidImage(pod.Spec)
			status.CurrentSidecarImage = render.SidecarImage(pod.Spec)
			status.PodTemplateHash = render.TemplateHash(pod.Annotations)
		}
	}
	status.ConfigHash = s.configHash()
	if status.InitializedAt == nil && (initialized(s.node) || s.broughtUp()) {
		t := metav1.NewTime(s.now.Truncate(time.Second))
		status.InitializedAt = &t
	}
	if status.InitializedAt != nil {
		endpoint := render.Endpoint(s.node, s.input.Platform.ClusterDomain)
		status.Endpoint = &endpoint
	}
}

// configHash is the configuration on the node's volume: what this pass has written, what the
// sidecar told, or what was known before.
func (s *scope) configHash() string {
	current := s.activePlan()
	if s.finished != nil {
		current = s.finished
	}
	for _, step := range s.progress.Steps {
		if step.Task.Type == domain.StepConfigApply && step.Outcome.IsDone() {
			return task.WrittenConfig(current)
		}
	}
	if s.document != nil {
		return s.document.Home.ConfigHash
	}
	return s.node.Status.ConfigHash
}

// broughtUp reports whether the plan that ended in this pass has opened the gate of the node's
// own pod.
func (s *scope) broughtUp() bool {
	return s.finished != nil && s.finished.Phase == v1alpha1.PlanComplete && plan.Find(s.finished, domain.StepMarkReady) != nil
}

// derivePhase says how far the node got in its life.
func (s *scope) derivePhase() {
	status := &s.node.Status
	status.Phase = domain.Phase(status)
	if status.Phase != s.before.Status.Phase {
		t := metav1.NewTime(s.now.Truncate(time.Second))
		status.PhaseTransitionTime = &t
	}
}

// emitFacts tells of repairs and troubles that are no part of the status.
func (r *Reconciler) emitFacts(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.node)
	sts := events.StatefulSet(s.node)
	if s.facts.ImpostorDeleted {
		r.Events.Emit(ctx, s.node, events.New(events.ImpostorDeleted, "StatefulSet %s had been replaced by another; that one was deleted", s.node.Name).About(sts))
	}
	if s.facts.Recreated {
		r.Events.Emit(ctx, s.node, events.New(events.StatefulSetRecreated, "StatefulSet %s had been deleted and was made again", s.node.Name).About(sts))
	}
	if len(s.facts.PutBack) > 0 {
		r.Events.Emit(ctx, s.node, events.New(events.EditReverted, "removed what was added by hand: %s", strings.Join(s.facts.PutBack, ", ")).About(sts))
	}
	tell := func(reason events.Reason, text string, about runtime.Object) {
		if r.latch.Changed(key, reason, text) {
			r.Events.Emit(ctx, s.node, events.New(reason, "%s", text).About(about))
		}
	}
	// A peer that is still starting is no failure, and says so itself.
	tell(events.PeerResolutionFailed, strings.Join(slices.DeleteFunc(slices.Clone(s.peerProblems), peers.Waiting), "; "), nil)
	tell(events.VolumeNotResized, s.facts.VolumeProblem, events.Claim(s.node))
	tell(events.StatefulSetNotOurs, s.foreignStatefulSet(), sts)
	failure := ""
	if s.err != nil {
		failure = s.err.Error()
	}
	tell(events.ReconcileFailed, failure, nil)
}

// foreignStatefulSet says whose StatefulSet stands in the node's way; empty means nobody's.
func (s *scope) foreignStatefulSet() string {
	if s.obstacle != nil {
		return s.obstacle.Error()
	}
	if o, ran := s.progress.Outcome(domain.StepApplyStatefulSet); ran && o.IsWait() && o.Reason == task.ReasonForeignObject {
		return o.Message
	}
	return ""
}

// jittered spreads the nodes of a fleet over the interval, each always at its own
// place, so that they are not all looked at in the same moment.
func jittered(d time.Duration, node *v1alpha1.SeiNode) time.Duration {
	var sum uint32
	for _, b := range []byte(node.UID) {
		sum = sum*31 + uint32(b)
	}
	return d - d/4 + time.Duration(sum%1000)*(d/2)/1000
}
