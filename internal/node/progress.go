package node

import (
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// OnlyProgress reports whether a plan is the one that is stored, and has only got further or says
// so in other words. That a step failed is more than progress, and so is a condition that begins or
// ceases to hold, and a pod that does not run what it was given, by which a fleet halts its rollout.
// That a template was applied is found again: the StatefulSet names the plan. So is the StatefulSet of
// a new node, by its owner. One that is adopted is recorded before its pod is deleted, and one that
// restores a snapshot before the restore begins: an operator that finds no record may make another.
func OnlyProgress(stored, derived *v1alpha1.SeiNodeStatus) bool {
	if stored.Plan == nil || derived.Plan == nil || apiequality.Semantic.DeepEqual(stored, derived) {
		return false
	}
	isNew := stored.StatefulSet == nil && !slices.ContainsFunc(stored.Plan.Tasks, func(t v1alpha1.PlannedTask) bool {
		return t.Type == StepReplacePod || t.Type == StepSnapshotRestore
	})
	return apiequality.Semantic.DeepEqual(withoutProgress(stored, isNew), withoutProgress(derived, isNew))
}

// withoutProgress is a status without what moves while a plan runs and what a later look finds
// again: the steps that were begun and done, what pod and sidecar tell, and all words. Of a new
// node, also that its StatefulSet was made.
func withoutProgress(status *v1alpha1.SeiNodeStatus, isNew bool) *v1alpha1.SeiNodeStatus {
	bare := status.DeepCopy()
	if isNew {
		bare.StatefulSet = nil
	}
	for i := range bare.Plan.Tasks {
		t := &bare.Plan.Tasks[i]
		t.Message, t.Params, t.MaxRetries = "", nil, 0
		t.StartedAt, t.SubmittedAt, t.CompletedAt, t.Deadline, t.RetryAt = nil, nil, nil, nil, nil
		if t.Status != v1alpha1.TaskFailed {
			t.Status = v1alpha1.TaskPending
		}
	}
	return withoutTold(bare)
}

// withoutTold takes out of a status what pod and sidecar tell at every look, and all words.
func withoutTold(bare *v1alpha1.SeiNodeStatus) *v1alpha1.SeiNodeStatus {
	bare.Mode, bare.Problem = "", ""
	bare.NodeID, bare.ConfigHash = "", ""
	bare.CurrentImage, bare.CurrentSidecarImage, bare.PodTemplateHash = "", "", ""
	if u := bare.Upgrade; u != nil && u.State == v1alpha1.UpgradeMoved {
		u.State = v1alpha1.UpgradeHalted
	}
	for i := range bare.Conditions {
		c := &bare.Conditions[i]
		c.Message, c.LastTransitionTime = "", metav1.Time{}
		if c.Type != v1alpha1.ConditionReady || !IsFailure(c.Reason) {
			c.Reason = ""
		}
		if c.Status != metav1.ConditionTrue {
			c.Status = metav1.ConditionFalse
		}
	}
	return bare
}

// OnlyEnded reports whether the plan that is stored has completed and nothing else is new but that
// seid is starting. Most nodes are in sync a moment later, and one write reports both. That a node
// which signs was brought up is recorded at once: an empty volume in its place must never be taken for
// the first one.
func OnlyEnded(stored, derived *v1alpha1.SeiNodeStatus, signs bool) bool {
	last, ready := derived.LastPlan, conditions.Get(derived.Conditions, v1alpha1.ConditionReady)
	switch {
	case stored.Plan == nil || derived.Plan != nil || last == nil || last.ID != stored.Plan.ID || last.Outcome != v1alpha1.OutcomeComplete:
		return false
	case ready == nil || ready.Status == metav1.ConditionTrue || IsFailure(ready.Reason):
		return false
	case signs && stored.InitializedAt == nil:
		return false
	default:
		return apiequality.Semantic.DeepEqual(withoutEnd(stored), withoutEnd(derived))
	}
}

// withoutEnd is a status without what the end of a plan changes.
func withoutEnd(status *v1alpha1.SeiNodeStatus) *v1alpha1.SeiNodeStatus {
	bare := status.DeepCopy()
	bare.Plan, bare.LastPlan = nil, nil
	bare.StatefulSet, bare.InitializedAt, bare.Endpoint = nil, nil, nil
	if bare.Phase == v1alpha1.NodeInitializing {
		bare.Phase = v1alpha1.NodeRunning
	}
	bare.PhaseTransitionTime = nil
	bare.Conditions = slices.DeleteFunc(bare.Conditions, func(c metav1.Condition) bool {
		return slices.Contains([]string{
			v1alpha1.ConditionPlanInProgress, v1alpha1.ConditionReconciling, v1alpha1.ConditionNodeUpdateInProgress, v1alpha1.ConditionSidecarReady,
		}, c.Type)
	})
	return withoutTold(bare)
}
