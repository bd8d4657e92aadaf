package events

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// ForNode lists the events of a node that went from one state to the next. Both
// states are as stored, so that each transition is told once, also across
// restarts. From creation to Running there is one: that a new node is being brought
// up goes without saying.
func ForNode(before, after *seiv1.SeiNode) []Event {
	var list []Event
	if e, ok := phaseEvent(before.Status.Phase, after.Status.Phase); ok {
		list = append(list, e)
	}
	if e, ok := planEvent(before.Status.LastPlan, after.Status.LastPlan); ok {
		list = append(list, e)
	}
	list = append(list, upgradeEvents(before, after)...)
	for _, t := range conditions.Transitions(before.Status.Conditions, after.Status.Conditions) {
		if e, ok := conditionEvent(t, before, after); ok {
			list = append(list, e)
		}
	}
	return list
}

func phaseEvent(from, to seiv1.SeiNodePhase) (Event, bool) {
	if from == to || to == seiv1.NodePending || to == "" {
		return Event{}, false
	}
	if from == "" {
		from = seiv1.NodePending
	}
	if from == seiv1.NodePending && to == seiv1.NodeInitializing {
		return Event{}, false
	}
	return New(PhaseChanged, "phase changed from %s to %s", from, to), true
}

func planEvent(before, after *seiv1.PlanSummary) (Event, bool) {
	if after == nil || after.Outcome != seiv1.OutcomeFailed || (before != nil && before.ID == after.ID) {
		return Event{}, false
	}
	return New(PlanFailed, "plan %s failed at step %s: %s", after.Reason, after.FailedTask, after.Error), true
}

// conditionReasons maps a condition's new reason to the event it causes. The
// note is the condition's message. A reason that is no key here causes none.
var conditionReasons = map[string]map[string]Reason{
	seiv1.ConditionReady: {
		seiv1.ReasonPodCrashLooping: PodCrashLooping,
		seiv1.ReasonImagePullFailed: ImagePullFailed,
	},
	seiv1.ConditionSpecValid: {seiv1.ReasonSpecInvalid: SpecInvalid, seiv1.ReasonConfigRefused: SpecInvalid},
	seiv1.ConditionImportPVCReady: {
		seiv1.ReasonPVCNotReady: PVCNotReady,
		seiv1.ReasonPVCInvalid:  PVCInvalid,
	},
	seiv1.ConditionSigningKeyReady: {
		seiv1.ReasonSigningKeyNotReady: KeyNotReady,
		seiv1.ReasonSigningKeyInvalid:  KeyInvalid,
		seiv1.ReasonKeyInUse:           KeyInUse,
		seiv1.ReasonKeyChanged:         KeyChanged,
	},
	seiv1.ConditionNodeKeyReady: {
		seiv1.ReasonNodeKeyNotReady: KeyNotReady,
		seiv1.ReasonNodeKeyInvalid:  KeyInvalid,
	},
	seiv1.ConditionOperatorKeyringReady: {
		seiv1.ReasonOperatorKeyringNotReady: KeyNotReady,
		seiv1.ReasonOperatorKeyringInvalid:  KeyInvalid,
	},
	seiv1.ConditionResultsMatch:        {seiv1.ReasonDiverged: ResultsDiverged},
	seiv1.ConditionUpgradeImageMissing: {seiv1.ReasonNoEntry: UpgradeImageMissing},
	seiv1.ConditionUpgradeScheduled:    {seiv1.ReasonImagePullFailed: ImagePullFailed},
	seiv1.ConditionUpgradeSnapshotTaken: {
		seiv1.ReasonSnapshotAPIMissing: UpgradeSnapshotMissing, seiv1.ReasonSnapshotRefused: UpgradeSnapshotMissing,
		seiv1.ReasonSnapshotTimeout: UpgradeSnapshotMissing,
	},
	seiv1.ConditionUpgradeFailed: {seiv1.ReasonHandlerMissing: UpgradeFailed, seiv1.ReasonTooEarly: UpgradeFailed},
	seiv1.ConditionNodeUpdateInProgress: {
		seiv1.ReasonUpdateStarted:  UpdateStarted,
		seiv1.ReasonUpdateComplete: UpdateComplete,
	},
}

func conditionEvent(t conditions.Transition, before, after *seiv1.SeiNode) (Event, bool) {
	switch t.To.Type {
	case seiv1.ConditionPaused:
		return pausedEvent(t)
	case seiv1.ConditionSidecarReady:
		return sidecarEvent(t, before, after)
	}
	reason, ok := conditionReasons[t.To.Type][t.To.Reason]
	if !ok || t.To.Status == metav1.ConditionUnknown {
		return Event{}, false // an input that nobody has looked at yet is no trouble
	}
	note := t.To.Message
	switch {
	case reason == UpdateComplete:
		note = "the pod runs " + after.Status.CurrentImage
	case note == "":
		note = t.To.Type + " is " + t.To.Reason
	}
	return New(reason, "%s", note).About(about(t.To.Type, after)), true
}

func pausedEvent(t conditions.Transition) (Event, bool) {
	switch {
	case t.To.Status == metav1.ConditionTrue:
		return New(Paused, "the node is paused: its pod is stopped and plans are suspended"), true
	case t.Was(metav1.ConditionTrue):
		return New(Resumed, "the node is no longer paused"), true
	}
	return Event{}, false
}

// sidecarEvent reports a gate that closed unasked. Before a node runs, and while
// an update replaces its pod, the gate is closed on purpose.
func sidecarEvent(t conditions.Transition, before, after *seiv1.SeiNode) (Event, bool) {
	for _, n := range []*seiv1.SeiNode{before, after} {
		if n.Status.Phase != seiv1.NodeRunning ||
			conditions.Is(n.Status.Conditions, seiv1.ConditionNodeUpdateInProgress, metav1.ConditionTrue, "") {
			return Event{}, false
		}
	}
	lost := t.From != nil && t.From.Status == metav1.ConditionFalse && t.From.Reason == seiv1.ReasonSidecarNotReady
	switch {
	case t.Became(seiv1.ConditionSidecarReady, metav1.ConditionFalse, seiv1.ReasonSidecarNotReady):
		return New(SidecarReadinessLost, "%s", t.To.Message).About(Pod(after)), true
	case lost && t.To.Status == metav1.ConditionTrue:
		return New(SidecarReadinessRestored, "the start gate is open").About(Pod(after)), true
	}
	return Event{}, false
}
