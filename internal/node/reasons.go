package node

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Reasons of plans. They are part of what users see.
const (
	ReasonNewNode            = "NewNode"
	ReasonRetryAfterFailure  = "RetryAfterFailure"
	ReasonImageChanged       = "ImageChanged"
	ReasonChainUpgrade       = "ChainUpgrade"
	ReasonSidecarChanged     = "SidecarImageChanged"
	ReasonPodTemplateChanged = "PodTemplateChanged"
	ReasonRestartRequested   = "RestartRequested"
	ReasonPodOutdated        = "PodOutdated"
	ReasonConfigChanged      = "ConfigChanged"
	ReasonPeersChanged       = "PeersChanged"
	ReasonConfigUnvalidated  = "ConfigUnvalidated"
	ReasonRestartDue         = "RestartDue"
	ReasonSidecarNotReady    = "SidecarNotReady"
	ReasonBootstrapObsolete  = "BootstrapObsolete"
	ReasonHomeEmpty          = "HomeEmpty"
	ReasonResultExport       = "ResultExportChanged"
	ReasonPublishingChanged  = "PublishingChanged"
	ReasonStatefulSetAdopted = "StatefulSetAdopted"
)

// Reasons lists every reason of a plan.
func Reasons() []string {
	return []string{
		ReasonNewNode, ReasonRetryAfterFailure, ReasonImageChanged, ReasonChainUpgrade, ReasonSidecarChanged, ReasonPodTemplateChanged, ReasonRestartRequested,
		ReasonPodOutdated, ReasonConfigChanged, ReasonPeersChanged, ReasonConfigUnvalidated, ReasonRestartDue, ReasonSidecarNotReady,
		ReasonBootstrapObsolete, ReasonHomeEmpty, ReasonResultExport, ReasonPublishingChanged,
		ReasonStatefulSetAdopted,
	}
}

// IsBringUp reports whether a plan with this reason brings a node up for the first time.
func IsBringUp(reason string) bool {
	return reason == ReasonNewNode || reason == ReasonRetryAfterFailure
}

// IsUpdate reports whether a plan with this reason replaces the pod of a node that was up.
func IsUpdate(reason string) bool {
	switch reason {
	case ReasonImageChanged, ReasonChainUpgrade, ReasonSidecarChanged, ReasonPodTemplateChanged, ReasonRestartRequested, ReasonPodOutdated:
		return true
	default:
		return false
	}
}

// IsReconfiguration reports whether a plan with this reason brings the configuration of a running
// node, or of its sidecar, into force and leaves its pod alone.
func IsReconfiguration(reason string) bool {
	switch reason {
	case ReasonConfigChanged, ReasonPeersChanged, ReasonConfigUnvalidated, ReasonRestartDue, ReasonPublishingChanged:
		return true
	default:
		return false
	}
}

// reasonFor names a plan after the first result that is missing by itself.
func reasonFor(in *Input, todo []Missing) (reason, message string) {
	if !in.Facts.Initialized {
		if last := in.Last; last != nil && last.Outcome == v1alpha1.OutcomeFailed && IsBringUp(last.Reason) {
			return ReasonRetryAfterFailure, retryMessage(in)
		}
		return ReasonNewNode, "bringing up a new " + in.Target.What
	}
	for _, m := range todo {
		if m.Because != "" {
			return stepReason(in, m), m.Because
		}
	}
	return ReasonSidecarNotReady, ""
}

func retryMessage(in *Input) string {
	if in.Target.Retry {
		return "a retry was requested by the annotation " + v1alpha1.AnnotationRetry
	}
	return "the spec was changed after the last failure"
}

func stepReason(in *Input, m Missing) string {
	switch m.Step {
	case StepGenerateIdentity, StepSnapshotRestore, StepConfigureGenesis:
		return ReasonHomeEmpty
	case StepApplyStatefulSet:
		if in.Facts.KeepsAdoptedPod(&in.Target) {
			return ReasonStatefulSetAdopted
		}
		return templateReason(in.Facts.StatefulSet, &in.Target)
	case StepReplacePod:
		if in.Facts.Pod.SpecHash == in.Target.SpecHash {
			return ReasonPodOutdated
		}
		return templateReason(in.Facts.Pod, &in.Target)
	case StepConfigApply:
		if d := in.Facts.Document; d != nil && SameSpecConfig(d.Home.ConfigHash, in.Target.ConfigHash) {
			return ReasonPeersChanged
		}
		return ReasonConfigChanged
	case StepConfigValidate:
		return ReasonConfigUnvalidated
	case StepRestartSeid:
		return ReasonRestartDue
	case StepTeardownBootstrap:
		return ReasonBootstrapObsolete
	case StepSetResultExport:
		return ReasonResultExport
	case StepPublishSnapshots:
		return ReasonPublishingChanged
	default:
		return ReasonSidecarNotReady
	}
}

// templateReason tells template changes apart, for people. That there is one was decided by
// hashes: images may be rewritten on their way into a pod.
func templateReason(b *Build, t *Target) string {
	switch {
	case (b == nil || b.Image != t.Image) && t.Upgrade != "":
		return ReasonChainUpgrade
	case b == nil || b.Image != t.Image:
		return ReasonImageChanged
	case b.Restart != t.Restart && t.Restart != "":
		return ReasonRestartRequested
	case b.SidecarImage != t.SidecarImage && !b.Foreign:
		return ReasonSidecarChanged
	default:
		return ReasonPodTemplateChanged
	}
}

func templateChange(b *Build, t *Target) string {
	switch templateReason(b, t) {
	case ReasonChainUpgrade:
		return fmt.Sprintf("%s: image changes from %s to %s", t.Upgrade, b.Image, t.Image)
	case ReasonImageChanged:
		return fmt.Sprintf("image changes from %s to %s", b.Image, t.Image)
	case ReasonSidecarChanged:
		return fmt.Sprintf("sidecar image changes from %s to %s", b.SidecarImage, t.SidecarImage)
	case ReasonRestartRequested:
		return fmt.Sprintf("restart %q was requested by the annotation %s", t.Restart, v1alpha1.AnnotationRestart)
	case ReasonPodTemplateChanged:
		if b.Foreign {
			return "another operator created the pod: it is replaced by one of this operator"
		}
		return "the pod template changed"
	default:
		return "the pod template changed"
	}
}

// How long a step that failed is left alone before it is tried again by itself.
const (
	retryAfter     = 5 * time.Minute
	retryGateAfter = 30 * time.Second
)

func backoff(step string) time.Duration {
	if step == StepMarkReady {
		return retryGateAfter
	}
	return retryAfter
}
