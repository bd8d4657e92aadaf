package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// verdict is the status of a condition with its reason and message.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
}

func no(reason, message string) verdict { return verdict{metav1.ConditionFalse, reason, message} }

// readiness sets InSync, how the node stands to its chain, and Ready, which also wants the
// spec's generation to be in force.
func (s *scope) readiness() {
	if ready := conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionReady); ready != nil && !s.seen {
		s.unseen(ready)
		return
	}
	inSync := s.inSync()
	ready := inSync
	if inSync.status == metav1.ConditionTrue {
		if reason, message := s.notInForce(); reason != "" {
			ready = no(reason, message)
		}
	}
	s.setVerdict(v1alpha1.ConditionInSync, inSync)
	s.setVerdict(v1alpha1.ConditionReady, ready)
}

// unseen leaves what was said of a node that could not be looked at, except that it runs a spec
// which nobody has read.
func (s *scope) unseen(ready *metav1.Condition) {
	if ready.Status == metav1.ConditionTrue && s.node.Status.ObservedGeneration != s.node.Generation {
		s.setVerdict(v1alpha1.ConditionReady, no(v1alpha1.ReasonOutOfDate, unseenSpec))
	}
}

const unseenSpec = "the node is in sync, but the newest spec has not been looked at yet"

func (s *scope) setVerdict(conditionType string, v verdict) {
	conditions.Set(&s.node.Status.Conditions, s.node.Generation, s.now, conditionType, v.status, v.reason, v.message)
}

// inSync speaks of the node as it runs. The kubelet's readiness probe asks the sidecar, which
// asks the chain; why a node is not in sync is told by the sidecar's document.
func (s *scope) inSync() verdict {
	pod := s.objects.Pod
	switch {
	case s.node.Spec.Paused:
		return no(v1alpha1.ReasonPaused, "the pod is stopped by spec.paused")
	case s.node.Status.Phase == v1alpha1.NodeFailed:
		return no(v1alpha1.ReasonInitFailed, failedAdvice(s.node))
	}
	if v, stopped := s.chainStopped(); stopped {
		return v
	}
	if reason, message, found := task.PodTrouble(pod); found {
		return no(reason, message)
	}
	if !initialized(s.node) {
		return no(v1alpha1.ReasonInitializing, "")
	}
	v := podReadiness(pod)
	if v.reason == v1alpha1.ReasonPodPending && s.objects.PodObstacle != "" {
		v.message = s.objects.PodObstacle
	}
	if v.reason == v1alpha1.ReasonNotInSync || v.reason == v1alpha1.ReasonPodNotReady && pod.DeletionTimestamp == nil {
		return s.explain(v)
	}
	return v
}

// syncReasons maps what the sidecar says of a node to the reason of a condition.
var syncReasons = map[api.SyncState]string{
	api.SyncStarting:      v1alpha1.ReasonStartingUp,
	api.SyncReplaying:     v1alpha1.ReasonReplaying,
	api.SyncStateSyncing:  v1alpha1.ReasonStateSyncing,
	api.SyncCatchingUp:    v1alpha1.ReasonCatchingUp,
	api.SyncBehind:        v1alpha1.ReasonBehind,
	api.SyncNoPeers:       v1alpha1.ReasonNoPeers,
	api.SyncNoBlocks:      v1alpha1.ReasonNoBlocks,
	api.SyncHalted:        v1alpha1.ReasonHalted,
	api.SyncUpgradeNeeded: v1alpha1.ReasonUpgradeNeeded,
	api.SyncNotAnswering:  v1alpha1.ReasonNotAnswering,
}

// explain replaces what the pod shows by what the sidecar knows.
func (s *scope) explain(v verdict) verdict {
	d := s.document
	if d == nil || d.APILevel < api.LevelNode {
		return v
	}
	if d.Gate.Refusal != "" && d.Seid.State != api.SeidRunning {
		return no(v1alpha1.ReasonStartRefused, "seid is not started: "+d.Gate.Refusal)
	}
	if d.Sync.Draining {
		return no(v1alpha1.ReasonDraining, "seid is draining before a restart")
	}
	if reason, ok := syncReasons[d.Sync.State]; ok {
		return no(reason, "seid is not in sync: "+d.Sync.Message)
	}
	if d.Gate.State != api.GateOpen {
		return no(v1alpha1.ReasonGateClosed, "seid waits behind the start gate")
	}
	return v
}

// chainStopped speaks of a node that stopped because of its chain. The kubelet sees a container
// that ends again and again; that is not the trouble.
func (s *scope) chainStopped() (verdict, bool) {
	d := s.document
	if d == nil || !initialized(s.node) {
		return verdict{}, false
	}
	switch d.Sync.State {
	case api.SyncUpgradeNeeded:
		message := "seid stopped: " + d.Sync.Message
		if exit := d.Seid.LastExit; exit != nil && exit.Upgrade != nil {
			message = fmt.Sprintf("seid stopped: the chain needs upgrade %s from height %d on; set spec.image to one that has it",
				exit.Upgrade.Name, exit.Upgrade.Height)
		}
		return no(v1alpha1.ReasonUpgradeNeeded, message), true
	case api.SyncHalted:
		return no(v1alpha1.ReasonHalted, "seid stopped: "+d.Sync.Message), true
	default:
		return verdict{}, false
	}
}

// notInForce says why the node does not run what its spec asks for; empty when it does.
func (s *scope) notInForce() (reason, message string) {
	if s.err != nil && s.node.Status.ObservedGeneration != s.node.Generation {
		return v1alpha1.ReasonOutOfDate, unseenSpec
	}
	if reason, problem := s.specProblem(); problem != "" && s.facts.VolumeProblem == "" {
		return reason, "the node is in sync on an earlier spec: " + problem
	}
	if p := s.activePlan(); p != nil && p.Reason != domain.ReasonPeersChanged {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but not all that the spec asks for is in force yet: " + p.Message
	}
	if s.finished != nil && s.finished.Phase == v1alpha1.PlanFailed {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but not all that the spec asks for is in force: " + failureWords(s.node.Status.LastPlan)
	}
	pod := s.objects.Pod
	if render.SpecHash(pod.Annotations) != s.target.SpecHash && s.err == nil {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but its pod does not run what the spec asks for yet"
	}
	if s.err == nil && !domain.SameSpecConfig(s.node.Status.ConfigHash, s.target.ConfigHash) {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but the configuration that the spec asks for is not on its volume yet"
	}
	if s.document == nil {
		return s.lastOutOfDate()
	}
	if len(s.document.Seid.RestartDue) > 0 {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but seid has to restart for the configuration that the spec asks for"
	}
	return "", ""
}

// lastOutOfDate is what was said before the sidecar fell silent, unless a plan has ended well
// since: only the sidecar knows whether seid still has to restart.
func (s *scope) lastOutOfDate() (reason, message string) {
	ready, last := conditions.Get(s.node.Status.Conditions, v1alpha1.ConditionReady), s.node.Status.LastPlan
	if ready == nil || ready.Reason != v1alpha1.ReasonOutOfDate || last == nil || last.Outcome == v1alpha1.OutcomeComplete {
		return "", ""
	}
	return ready.Reason, ready.Message
}

func failedAdvice(node *v1alpha1.SeiNode) string {
	message := "the node could not be brought up"
	if last := node.Status.LastPlan; last != nil {
		message = failureWords(last)
	}
	return message + ". Change the spec, or set the annotation " + v1alpha1.AnnotationRetry + " to any new value, to try again"
}

// podReadiness is the readiness of a running node whose containers are not in trouble.
func podReadiness(pod *corev1.Pod) verdict {
	switch {
	case pod == nil:
		return no(v1alpha1.ReasonPodPending, "there is no pod; the StatefulSet controller makes one")
	case nodeLost(pod):
		return verdict{metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown,
			fmt.Sprintf("Kubernetes node %s does not answer, so nobody knows whether the pod runs", pod.Spec.NodeName)}
	case task.PodCondition(pod, corev1.PodReady) == corev1.ConditionTrue && pod.DeletionTimestamp == nil:
		return verdict{metav1.ConditionTrue, v1alpha1.ReasonInSync, ""}
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return no(v1alpha1.ReasonPodNotReady, "the pod is being replaced")
	case pod.Status.Phase == corev1.PodPending:
		return no(v1alpha1.ReasonPodPending, pendingWords(pod))
	case seidStarted(pod):
		return no(v1alpha1.ReasonNotInSync, "seid is running but not in sync")
	default:
		return no(v1alpha1.ReasonPodNotReady, "seid is starting")
	}
}

// nodeLost reports whether the pod's kubelet has fallen silent. The node controller then
// takes the pod's readiness away, while what the kubelet said last about its containers
// stays.
func nodeLost(pod *corev1.Pod) bool {
	ready, containers := task.PodCondition(pod, corev1.PodReady), task.PodCondition(pod, corev1.ContainersReady)
	return pod.Status.Phase == corev1.PodUnknown || ready == corev1.ConditionUnknown ||
		ready == corev1.ConditionFalse && containers == corev1.ConditionTrue
}

func pendingWords(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "the pod cannot be scheduled: " + c.Message
		}
	}
	return "the pod is starting"
}

// seidStarted reports whether seid has passed the start gate.
func seidStarted(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.Name == render.ContainerSeid {
			return c.Started != nil && *c.Started
		}
	}
	return false
}
