package node

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// conditions sets every condition of the node. All of them are always there. A condition that
// the pass has learnt nothing about keeps what it said: that is all that an earlier one is read
// for.
func (r *report) conditions() {
	r.paused()
	r.specValid()
	r.planInProgress()
	r.updateInProgress()
	r.sidecarReady()
	r.inputs()
	r.resultsMatch()
	r.snapshotsPublished()
	r.upgrades()
	r.upgradeSnapshot()
	r.readiness()
	r.progressing()
}

// applies reports whether a condition said something before that can stay.
func applies(before []metav1.Condition, conditionType string) bool {
	c := conditions.Get(before, conditionType)
	return c != nil && c.Reason != v1alpha1.ReasonNotApplicable
}

func (r *report) paused() {
	if r.Node.Spec.Paused {
		r.set.True(v1alpha1.ConditionPaused, v1alpha1.ReasonPaused, "spec.paused is set: the pod is stopped and plans are suspended")
		return
	}
	r.set.False(v1alpha1.ConditionPaused, v1alpha1.ReasonNotPaused, "")
}

func (r *report) specValid() {
	reason, problem := r.specProblem()
	switch {
	case problem != "":
		r.set.False(v1alpha1.ConditionSpecValid, reason, problem)
	case r.Err == nil:
		r.set.True(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecValid, "")
	case conditions.Get(r.status.Conditions, v1alpha1.ConditionSpecValid) == nil:
		r.set.Unknown(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, r.Err.Error())
	}
}

// specProblem is what is wrong with the spec beyond what admission sees.
func (r *report) specProblem() (reason, problem string) {
	reason, problem = r.notActedOn()
	switch {
	case problem != "":
		return reason, problem
	case r.CertificateProblem != "":
		return v1alpha1.ReasonNoCertificate, r.CertificateProblem
	case r.VolumeProblem != "":
		return v1alpha1.ReasonVolumeNotResized, r.VolumeProblem
	default:
		return "", ""
	}
}

// notActedOn is what keeps the spec from coming into force. A volume that cannot be resized does
// not: the node runs what is asked for on the volume that it has.
func (r *report) notActedOn() (reason, problem string) {
	switch {
	case r.Target.TemplateProblem != "":
		return v1alpha1.ReasonSpecInvalid, r.Target.TemplateProblem
	case r.Target.ConfigProblem != "" && Initialized(r.status):
		return v1alpha1.ReasonSpecInvalid, r.Target.ConfigProblem + "; the node keeps its last good configuration"
	case r.Target.ConfigProblem != "":
		return v1alpha1.ReasonSpecInvalid, r.Target.ConfigProblem
	case r.Obstacle != "":
		return v1alpha1.ReasonSpecInvalid, r.Obstacle
	}
	if refused := r.Facts.Refused(r.Target.ConfigHash); refused != "" {
		return v1alpha1.ReasonConfigRefused, "seid refuses the configuration that spec.overrides asks for: " + refused +
			"; the node keeps its last good configuration. Correct spec.overrides, or set the annotation " + v1alpha1.AnnotationRetry + " to try again"
	}
	return "", ""
}

// sidecarReady is about the start gate as this pass saw or left it.
func (r *report) sidecarReady() {
	if !Initialized(r.status) || r.Node.Spec.Paused {
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonNotApplicable, "")
		return
	}
	opened, ran := r.Progress.Outcome(StepMarkReady)
	document := r.Facts.Document
	switch {
	case r.Err != nil:
		return
	case ran && opened.IsDone():
		r.gateOpen()
	case r.Facts.KeepsAdoptedPod(&r.Target):
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonNotApplicable, "another operator created the pod, and its sidecar is not called")
	case !r.SidecarRuns || r.Pod == nil || !r.Pod.SidecarRuns:
		r.set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, "the sidecar is not running")
	case document == nil && r.Unanswered && applies(r.status.Conditions, v1alpha1.ConditionSidecarReady):
		return // on a busy machine an answer takes longer than a pass; that is no news
	case document == nil:
		r.set.Unknown(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarUnreachable, cmp.Or(r.NotCalled, "the sidecar does not answer"))
	case document.Gate.State == api.GateOpen && document.Gate.Refusal != "":
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonStartRefused, document.Gate.Refusal)
	case document.Gate.State == api.GateOpen:
		r.gateOpen()
	case r.Facts.held():
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonGateHeld, "an operation holds the start gate closed")
	case r.Decision.HeldBack != "":
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarNotReady, r.Decision.HeldBack)
	default:
		r.set.False(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarNotReady,
			"the start gate is closed: the sidecar has just started; the operator opens the gate")
	}
}

// sharedAudience says what is wrong with a sidecar that accepts the token of all nodes.
const sharedAudience = "the sidecar accepts a token that is valid for other nodes too: an older operator created its pod, or its image is older; " +
	"to fix this, replace the pod with a sidecar of this version"

// plaintext says what is wrong with a sidecar without a certificate.
const plaintext = "the sidecar is called over plain HTTP: an older operator created its pod, or sidecar.tls is off in the platform configuration; " +
	"to fix this, turn sidecar.tls on and replace the pod"

// gateOpen is about an open gate, and of who else could have opened it.
func (r *report) gateOpen() {
	pod, document := r.Pod, r.Facts.Document
	if pod != nil && pod.SharedAudience || document != nil && document.APILevel < api.LevelNodeToken {
		r.set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSharedAudience, sharedAudience)
		return
	}
	if pod != nil && pod.Plaintext {
		r.set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonPlaintext, plaintext)
		return
	}
	r.set.True(v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarReady, "")
}
