package planner

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
)

// Reasons of plans. They are part of what users see.
const (
	ReasonNewNode            = "NewNode"
	ReasonRetryAfterFailure  = "RetryAfterFailure"
	ReasonImageChanged       = "ImageChanged"
	ReasonSidecarChanged     = "SidecarImageChanged"
	ReasonPodTemplateChanged = "PodTemplateChanged"
	ReasonRestartRequested   = "RestartRequested"
	ReasonPodOutdated        = "PodOutdated"
	ReasonConfigChanged      = "ConfigChanged"
	ReasonSidecarNotReady    = "SidecarNotReady"
)

// kind orders plans by size: a larger plan does all a smaller one does.
type kind int

const (
	kindNone kind = iota
	kindMarkReady
	kindReconfigure
	kindUpdate
	kindInit
)

func kindOf(reason string) kind {
	switch reason {
	case ReasonNewNode, ReasonRetryAfterFailure:
		return kindInit
	case ReasonImageChanged, ReasonSidecarChanged, ReasonPodTemplateChanged, ReasonRestartRequested, ReasonPodOutdated:
		return kindUpdate
	case ReasonConfigChanged:
		return kindReconfigure
	case ReasonSidecarNotReady:
		return kindMarkReady
	default:
		return kindNone
	}
}

// IsUpdate reports whether a plan with this reason replaces the pod of a running node.
func IsUpdate(reason string) bool { return kindOf(reason) == kindUpdate }

// choice is a plan that a rule asks for.
type choice struct {
	kind    kind
	reason  string
	message string
	target  v1alpha1.PlanTarget
}

// spec is the plan to be made for a choice.
func (c choice) spec(in Input) plan.Spec {
	s := plan.Spec{Reason: c.reason, Message: c.message, Target: c.target, TargetPhase: v1alpha1.NodeRunning}
	switch c.kind {
	case kindInit:
		s.Tasks, s.FailedPhase = initTasks(in), v1alpha1.NodeFailed
	case kindUpdate:
		s.Tasks = updateTasks(in.Node)
	case kindReconfigure:
		s.Tasks = reconfigureTasks()
	default:
		s.Tasks = markReadyTasks()
	}
	return s
}

// rule is one reason for a plan: it reports whether it applies and in which words.
type rule struct {
	reason  string
	applies func(Input) (message string, matched bool)
}

func rulesFor(phase v1alpha1.SeiNodePhase) []rule {
	switch phase {
	case v1alpha1.NodeRunning:
		return []rule{
			{ReasonImageChanged, imageChanged},
			{ReasonSidecarChanged, sidecarImageChanged},
			{ReasonRestartRequested, restartRequested},
			{ReasonPodTemplateChanged, podTemplateChanged},
			{ReasonPodOutdated, podOutdated},
			{ReasonConfigChanged, configChanged},
			{ReasonSidecarNotReady, sidecarNotReady},
		}
	case v1alpha1.NodeFailed:
		return []rule{{ReasonRetryAfterFailure, retryAfterFailure}}
	default:
		return []rule{{ReasonNewNode, newNode}}
	}
}

func firstMatch(in Input, rules []rule) (choice, bool) {
	for _, r := range rules {
		if message, ok := r.applies(in); ok {
			return choice{kind: kindOf(r.reason), reason: r.reason, message: message, target: in.Wanted.PlanTarget}, true
		}
	}
	return choice{}, false
}

func newNode(in Input) (string, bool) {
	role := in.Node.Spec.Role()
	if role == v1alpha1.RoleNode {
		role = "full node"
	}
	return fmt.Sprintf("bringing up a new %s of %s", role, in.Node.Spec.ChainID), true
}

func retryAfterFailure(in Input) (string, bool) {
	if in.Node.Generation != in.Node.Status.ObservedGeneration {
		return "the spec was changed after the last failure", true
	}
	if retryRequested(in) {
		return "another try was asked for by the annotation " + v1alpha1.AnnotationRetry, true
	}
	return "", false
}

// drifted looks at what runs and at what would run next: both must be as wanted,
// or a change that was taken back half-way would stay in the StatefulSet.
func drifted(in Input, differs func(build) (string, bool)) (string, bool) {
	if b, ok := in.Observed.running(); ok {
		if message, d := differs(b); d {
			return message, true
		}
	}
	if b, ok := in.Observed.next(); ok {
		return differs(b)
	}
	return "", false
}

func imageChanged(in Input) (string, bool) {
	return drifted(in, func(b build) (string, bool) {
		return fmt.Sprintf("image changes from %s to %s", b.image, in.Wanted.Image), b.image != in.Wanted.Image
	})
}

// sidecarImageChanged only sees images that the spec names: a new default comes
// with an operator upgrade, and that must not restart a fleet by itself.
func sidecarImageChanged(in Input) (string, bool) {
	if in.Node.Spec.Sidecar == nil || in.Node.Spec.Sidecar.Image == "" {
		return "", false
	}
	current := in.Node.Status.CurrentSidecarImage
	if current == "" || current == in.Wanted.SidecarImage {
		return "", false
	}
	return fmt.Sprintf("sidecar image changes from %s to %s", current, in.Wanted.SidecarImage), true
}

func restartRequested(in Input) (string, bool) {
	if in.Wanted.Restart == "" {
		return "", false
	}
	return drifted(in, func(b build) (string, bool) {
		return fmt.Sprintf("restart %q was asked for by the annotation %s", in.Wanted.Restart, v1alpha1.AnnotationRestart),
			b.restart != in.Wanted.Restart
	})
}

func podTemplateChanged(in Input) (string, bool) {
	return drifted(in, func(b build) (string, bool) {
		return "the spec asks for another pod template", b.specHash != in.Wanted.SpecHash
	})
}

// podOutdated catches a pod that is older than its StatefulSet's template. The
// pod's own revision decides: the StatefulSet's currentRevision does not advance
// under OnDelete before Kubernetes 1.37.
func podOutdated(in Input) (string, bool) {
	running, pod := in.Observed.running()
	next, sts := in.Observed.next()
	if !pod || !sts || running.templateHash == next.templateHash {
		return "", false
	}
	return "the pod is older than the StatefulSet's template", true
}

func configChanged(in Input) (string, bool) {
	if in.Node.Status.ConfigHash == in.Wanted.ConfigHash {
		return "", false
	}
	return "overrides, peers or the external address changed", true
}

func sidecarNotReady(in Input) (string, bool) {
	return "the sidecar is new and holds the start gate closed", in.Observed.Sidecar == SidecarNotReady
}

// pendingRestart tells of a template that differs only because the operator or its
// configuration changed. It waits for the next update.
func pendingRestart(in Input) string {
	running, ok := in.Observed.running()
	if !ok || running.specHash != in.Wanted.SpecHash || running.templateHash == in.Wanted.PodTemplateHash {
		return ""
	}
	return fmt.Sprintf("this version or configuration of the operator would render another pod template; "+
		"the next update picks it up, or set the annotation %s to any new value", v1alpha1.AnnotationRestart)
}
