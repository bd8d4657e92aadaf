package node

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// verdict is the status of a condition with its reason and message.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
}

func no(reason, message string) verdict { return verdict{metav1.ConditionFalse, reason, message} }

func yes(reason, message string) verdict { return verdict{metav1.ConditionTrue, reason, message} }

// readiness sets InSync, the sync state of the node, and Ready, which also wants the
// spec's generation to be in force.
func (r *report) readiness() {
	if ready := conditions.Get(r.status.Conditions, v1alpha1.ConditionReady); ready != nil && !r.Read {
		r.unseen(ready)
		return
	}
	inSync := r.inSync()
	ready := inSync
	if inSync.status == metav1.ConditionTrue {
		if reason, message := r.notReliable(); reason != "" {
			ready = no(reason, message)
		}
	}
	r.setVerdict(v1alpha1.ConditionInSync, inSync)
	r.setVerdict(v1alpha1.ConditionReady, ready)
}

// unseen leaves what was said of a node that could not be looked at, except that it runs a spec
// which nobody has read.
func (r *report) unseen(ready *metav1.Condition) {
	if ready.Status == metav1.ConditionTrue && r.status.ObservedGeneration != r.Node.Generation {
		r.setVerdict(v1alpha1.ConditionReady, no(v1alpha1.ReasonOutOfDate, unseenSpec))
	}
}

const unseenSpec = "the node is in sync, but the latest spec has not been reconciled yet"

func (r *report) setVerdict(conditionType string, v verdict) {
	r.set.Set(conditionType, v.status, v.reason, v.message)
}

// notReliable says why a node that is in sync is not Ready; empty when it is. One that has crashed
// again and again is not before it has stayed up for a while.
func (r *report) notReliable() (reason, message string) {
	if t := r.Pod.Trouble; t.Reason != "" {
		return t.Reason, t.Message
	}
	return r.notInForce()
}

// notInForce says why the node does not run what its spec asks for; empty when it does.
func (r *report) notInForce() (reason, message string) {
	if r.Err != nil && r.status.ObservedGeneration != r.Node.Generation {
		return v1alpha1.ReasonOutOfDate, unseenSpec
	}
	if reason, problem := r.notActedOn(); problem != "" {
		return reason, "the node is in sync on an earlier spec: " + problem
	}
	if p := r.activePlan(); p != nil && p.Reason != ReasonPeersChanged {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but the spec is not fully applied yet: " + p.Message
	}
	if r.Ended != nil && r.Ended.Phase == v1alpha1.PlanFailed {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but the spec is not fully applied: " + failureMessage(r.status.LastPlan)
	}
	if r.Facts.KeepsAdoptedPod(&r.Target) {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but " + adoptedPod
	}
	if r.Pod.Build.SpecHash != r.Target.SpecHash && r.Err == nil {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but its pod does not run the latest spec yet"
	}
	if r.Err == nil && !SameSpecConfig(r.status.ConfigHash, r.Target.ConfigHash) {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but the latest configuration is not on its volume yet"
	}
	if r.Facts.Document == nil {
		return r.lastOutOfDate()
	}
	if len(r.Facts.Document.Seid.RestartDue) > 0 {
		return v1alpha1.ReasonOutOfDate, "the node is in sync, but seid must restart to load the latest configuration"
	}
	return "", ""
}

// lastOutOfDate is what was said before the sidecar fell silent, unless a plan has ended well
// since: only the sidecar knows whether seid still has to restart.
func (r *report) lastOutOfDate() (reason, message string) {
	ready, last := conditions.Get(r.status.Conditions, v1alpha1.ConditionReady), r.status.LastPlan
	if ready == nil || ready.Reason != v1alpha1.ReasonOutOfDate || last == nil || last.Outcome == v1alpha1.OutcomeComplete {
		return "", ""
	}
	return ready.Reason, ready.Message
}
