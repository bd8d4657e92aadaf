package node

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// inSync is about the node as it runs. The kubelet's readiness probe asks the sidecar, which
// asks the chain; why a node is not in sync is told by the sidecar's document.
func (r *report) inSync() verdict {
	pod := r.Pod
	switch {
	case r.Node.Spec.Paused:
		return no(v1alpha1.ReasonPaused, "the pod is stopped by spec.paused")
	case r.status.Phase == v1alpha1.NodeFailed:
		return no(v1alpha1.ReasonInitFailed, failedAdvice(r.status.LastPlan))
	}
	if v, stopped := r.chainStopped(); stopped {
		return v
	}
	if pod.troubled() {
		return no(pod.Trouble.Reason, pod.Trouble.Message)
	}
	if !Initialized(r.status) {
		return no(v1alpha1.ReasonInitializing, "")
	}
	v := pod.readiness()
	if v.reason == v1alpha1.ReasonPodPending && r.PodObstacle != "" {
		v.message = r.PodObstacle
	}
	if v.reason == v1alpha1.ReasonNotInSync || v.reason == v1alpha1.ReasonPodNotReady && !pod.Leaving {
		return r.explain(v)
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

// explain replaces what the pod shows by what the sidecar knows. The probe of a pod that is not ready
// has asked the sidecar: while that restarts or is silent, a seid that was started may serve and sign,
// and must not count as down.
func (r *report) explain(v verdict) verdict {
	d := r.Facts.Document
	switch {
	case d == nil && r.Pod.Build.Foreign:
		return v // its readiness probe asks seid itself
	case d == nil && r.Pod.SeidStarted:
		return verdict{metav1.ConditionUnknown, v1alpha1.ReasonSyncUnknown, "the sidecar does not answer: it is unknown whether seid is in sync"}
	case d == nil || d.APILevel < api.LevelNode:
		return v
	}
	if refusal := r.startRefused(); refusal != "" {
		return no(v1alpha1.ReasonStartRefused, refusal)
	}
	if d.Sync.Draining {
		return no(v1alpha1.ReasonDraining, "seid is draining before a restart")
	}
	if reason, ok := syncReasons[d.Sync.State]; ok {
		return no(reason, "seid is not in sync: "+d.Sync.Message+r.syncNext())
	}
	if d.Sync.State == api.SyncInSync {
		return verdict{metav1.ConditionUnknown, v1alpha1.ReasonSyncUnknown, "seid is in sync, but the readiness probe of its pod has not succeeded yet"}
	}
	if d.Gate.State != api.GateOpen {
		return no(v1alpha1.ReasonGateClosed, "seid is waiting for the start gate to open")
	}
	return v
}

// syncNext says what happens next, or what to do, where the sidecar's sentence only says what is.
func (r *report) syncNext() string {
	switch r.Facts.Document.Sync.State {
	case api.SyncStarting:
		return "; waiting for its RPC to answer"
	case api.SyncBehind:
		return "; check CPU, disk and peers"
	case api.SyncNoBlocks:
		return "; waiting for the chain to make blocks"
	case api.SyncNotAnswering:
		return "; check its log, CPU and memory"
	case api.SyncNoPeers:
		if len(r.Node.Spec.Peers) == 0 {
			return "; waiting for peers to connect, as spec.peers names none"
		}
		return "; waiting for peers from " + peerSources(r.Node.Spec.Peers)
	default:
		return ""
	}
}

// peerSources names the sources of spec.peers, such as: label source role=sentry, static addresses.
func peerSources(sources []v1alpha1.PeerSource) string {
	names := make([]string, 0, len(sources))
	for _, s := range sources {
		switch {
		case s.Label != nil:
			names = append(names, "label source "+labels.FormatLabels(s.Label.Selector))
		case s.EC2Tags != nil:
			names = append(names, "EC2 tags in "+s.EC2Tags.Region)
		default:
			names = append(names, "static addresses")
		}
	}
	return strings.Join(names, ", ")
}

// startRefused says why the gate does not start seid although it is open; empty when it does.
func (r *report) startRefused() string {
	d := r.Facts.Document
	if d == nil || d.Gate.Refusal == "" || d.Seid.State == api.SeidRunning {
		return ""
	}
	return "seid is not started: " + d.Gate.Refusal
}

// chainStopped is about a node that stopped because of its chain. The kubelet sees a container
// that ends again and again; that is not the trouble.
func (r *report) chainStopped() (verdict, bool) {
	d := r.Facts.Document
	if d == nil || !Initialized(r.status) {
		return verdict{}, false
	}
	switch d.Sync.State {
	case api.SyncUpgradeNeeded:
		return no(v1alpha1.ReasonUpgradeNeeded, r.upgradeNeeded()), true
	case api.SyncHalted:
		return no(v1alpha1.ReasonHalted, "seid stopped: "+d.Sync.Message), true
	default:
		return verdict{}, false
	}
}

// upgradeNeeded says what a node waits for whose seid has stopped for an upgrade.
func (r *report) upgradeNeeded() string {
	c, exit := &r.Upgrade, r.Facts.Document.Seid.LastExit
	switch {
	case c.Missing != "":
		return r.upgradeImageMissing().message
	case c.Halted:
		return "seid has stopped: " + r.scheduleMessage()
	case exit != nil && exit.Upgrade != nil && exit.Upgrade.Height == 0:
		return fmt.Sprintf("seid has stopped: the state on the volume has upgrade %s, but the running image does not", exit.Upgrade.Name)
	default:
		return "seid has stopped: " + r.Facts.Document.Sync.Message
	}
}

func failedAdvice(last *v1alpha1.PlanSummary) string {
	message := "the node could not be brought up"
	if last != nil {
		message = failureMessage(last)
	}
	return message + ". Change the spec, or set the annotation " + v1alpha1.AnnotationRetry + " to any new value, to try again"
}
