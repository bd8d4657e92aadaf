package node

import (
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// OnlyProgress reports whether a plan is the one that is stored, and has only got further or says
// so in other words. That a step failed is more than progress, and so is a condition that begins or
// ceases to hold. So is a pod that does not run what it was given, by which a fleet halts its
// rollout, and a template that was applied: once the pod is deleted, an operator of another version
// must know that the template is the plan's and not its own. A new node has no pod that could be
// deleted, and its StatefulSet is found by its owner; unless it restores a snapshot, a pod that such
// an operator makes anew costs it nothing.
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
	for i := range bare.Plan.Tasks {
		t := &bare.Plan.Tasks[i]
		t.Message, t.Params, t.MaxRetries = "", nil, 0
		t.StartedAt, t.SubmittedAt, t.CompletedAt, t.Deadline, t.RetryAt = nil, nil, nil, nil, nil
		if applied := !isNew && t.Type == StepApplyStatefulSet && t.Status == v1alpha1.TaskComplete; !applied && t.Status != v1alpha1.TaskFailed {
			t.Status = v1alpha1.TaskPending
		}
	}
	return bare
}
