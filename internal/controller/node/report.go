package node

import (
	"context"
	"errors"
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
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// report derives the status from what this pass saw and did, writes it once if it
// changed and cannot wait, and reports transitions. It runs after errors too.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	pass := s.pass()
	s.node.Status = *domain.Report(pass)
	if pass.Pod != nil && !pass.Pod.Trouble.Until.IsZero() {
		s.comeBackIn(pass.Pod.Trouble.Until.Sub(s.now))
	}
	derived, wait := s.node, r.canWait(ctx, s)
	if wait > 0 {
		derived = r.putOff(s, wait)
	}
	result, err := s.snapshot.Patch(ctx, r.Client, s.node)
	if err != nil {
		return err
	}
	if wait == 0 {
		r.unwritten.forget(client.ObjectKeyFromObject(s.node))
	}
	r.Metrics.NodeObserved(s.before, derived)
	r.Metrics.UpgradeEstimated(derived, s.upgradeEstimated())
	r.Metrics.TasksCalled(v1alpha1.KindSeiNode, s.progress)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, s.node, events.ForNode(s.stored, s.node)...)
	}
	loop.LogPlan(ctx, s.progress, s.before.Status.Plan, derived.Status.Plan, s.finished)
	r.emitFacts(ctx, s)
	return nil
}

// settle decides when a running node is looked at again. One that waits for nothing is left to rest
// and gets a pass when a look finds something new.
func (r *Reconciler) settle(ctx context.Context, s *scope) {
	if !domain.Initialized(&s.node.Status) || s.activePlan() != nil || s.node.Spec.Paused {
		return
	}
	if !s.waitsForNothing() {
		s.comeBackIn(jittered(steadyInterval, s.node))
		return
	}
	name := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.node.Namespace, Name: s.node.Name, UID: s.node.UID}}
	r.rest.begin(ctx, &resting{node: name, pod: string(s.observed.Pod.UID), sidecar: s.sidecar, document: s.document})
	s.comeBackIn(jittered(restInterval, s.node))
}

// waitsForNothing reports whether all that could change is told by a watch or by the sidecar.
// Peers that are looked up elsewhere are not, and an older sidecar tells too little.
func (s *scope) waitsForNothing() bool {
	return s.requeueAfter == 0 && s.document != nil && s.document.APILevel >= api.LevelNode &&
		len(s.peerProblems) == 0 && !slices.ContainsFunc(s.node.Spec.Peers, func(p v1alpha1.PeerSource) bool { return p.EC2Tags != nil })
}

// canWait is for how long the status of a pass needs no write of its own; zero when it is written now.
// A plan that ended is written by the pass that follows at once. One that only got further, or has
// completed while seid is starting, is written when that has lasted, unless others wait for what it
// found out.
func (r *Reconciler) canWait(ctx context.Context, s *scope) time.Duration {
	if s.again {
		if s.activePlan() != nil {
			return 0
		}
		return writtenAfter
	}
	wait, stored, derived := time.Duration(0), &s.stored.Status, &s.node.Status
	switch {
	case domain.OnlyProgress(stored, derived):
		wait = writtenAfter - s.now.Sub(s.putOffSince)
	case domain.OnlyEnded(stored, derived, s.node.Spec.Signs()):
		wait = endWrittenAfter - s.now.Sub(derived.LastPlan.FinishedAt.Time)
	}
	if wait <= 0 || r.awaited(ctx, s) {
		return 0
	}
	return wait
}

// awaited reports whether nodes that have this one for a peer learn how to reach it.
func (r *Reconciler) awaited(ctx context.Context, s *scope) bool {
	return s.node.Status.NodeID != s.stored.Status.NodeID && len(r.nodesPeeringWith(ctx, s.node)) > 0
}

// putOff keeps the status of a pass for the next one and leaves the stored one in its place. It
// returns the node with the status that was put off.
func (r *Reconciler) putOff(s *scope, wait time.Duration) *v1alpha1.SeiNode {
	derived := s.node.DeepCopy()
	r.unwritten.keep(s.node, pending{uid: s.node.UID, stored: s.stored.Status, status: derived.Status, since: s.putOffSince})
	s.node.Status = *s.stored.Status.DeepCopy()
	s.comeBackIn(wait)
	return derived
}

// pass is the pass as the domain reports on it.
func (s *scope) pass() *domain.Pass {
	p := &domain.Pass{
		Node: s.node, Now: s.now, Err: s.err, Read: s.seen,
		Facts: s.facts, Target: s.target, Decision: s.decision, Upgrade: s.upgrade, Progress: s.progress, Ended: s.finished,
		Pod: podState(s.objects.Pod, s.document, s.now), PodObstacle: s.objects.PodObstacle,
		SidecarRuns: s.sidecarStarted, Unanswered: errors.Is(s.lookError, errNoAnswerYet), NotCalled: task.NotCalled(s.lookError),
		Peers: s.observed.Peers, Endpoint: render.Endpoint(s.node, s.input.Platform.ClusterDomain),
		StatefulSet: s.found.Identity, ConsensusAddress: s.found.ConsensusAddress, Bootstrapped: s.found.Bootstrapped,
		VolumeProblem: s.found.VolumeProblem, CertificateProblem: s.found.CertificateProblem, Pull: s.pull, Snapshot: s.snapshotDecision,
	}
	if s.obstacle != nil {
		p.Obstacle = s.obstacle.Error()
	}
	return p
}

// emitFacts reports repairs and troubles that are no part of the status.
func (r *Reconciler) emitFacts(ctx context.Context, s *scope) {
	key := client.ObjectKeyFromObject(s.node)
	sts := events.StatefulSet(s.node)
	if s.found.ImpostorDeleted {
		r.Events.Emit(ctx, s.node, events.New(events.ImpostorDeleted, "StatefulSet %s had been replaced by another one, which was deleted", s.node.Name).About(sts))
	}
	if s.found.Recreated {
		r.Events.Emit(ctx, s.node, events.New(events.StatefulSetRecreated, "StatefulSet %s had been deleted and was recreated", s.node.Name).About(sts))
	}
	if len(s.found.PutBack) > 0 {
		r.Events.Emit(ctx, s.node, events.New(events.EditReverted, "removed manual additions: %s", strings.Join(s.found.PutBack, ", ")).About(sts))
	}
	tell := func(reason events.Reason, text string, about runtime.Object) {
		if r.latch.Changed(key, reason, text) {
			r.Events.Emit(ctx, s.node, events.New(reason, "%s", text).About(about))
		}
	}
	// A peer that is still starting is no failure, and says so itself.
	tell(events.PeerResolutionFailed, strings.Join(slices.DeleteFunc(slices.Clone(s.peerProblems), peers.Waiting), "; "), nil)
	tell(events.VolumeNotResized, s.found.VolumeProblem, events.Claim(s.node))
	tell(events.NetworkPolicyRefused, s.policyProblem, nil)
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
