package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// failure says why a node cannot get to the spec it has; empty when it did, or is on its way.
func failure(live *v1alpha1.SeiNode) string {
	if live.Status.ObservedGeneration != live.Generation || live.Spec.Paused {
		return "" // nobody has tried yet
	}
	return reportedFailure(live)
}

// failedBefore reports whether a node that was not looked at since its spec was written had failed
// until then.
func failedBefore(live *v1alpha1.SeiNode) bool {
	return live.Status.ObservedGeneration != live.Generation && !live.Spec.Paused && reportedFailure(live) != ""
}

// reportedFailure is the failure that a node's status reports; empty when it reports none.
func reportedFailure(live *v1alpha1.SeiNode) string {
	status := &live.Status
	if c := specProblem(live); c != nil {
		return conditionText(c)
	}
	stalled := conditions.Get(status.Conditions, v1alpha1.ConditionStalled)
	ready := conditions.Get(status.Conditions, v1alpha1.ConditionReady)
	switch {
	case status.Upgrade != nil && status.Upgrade.State == v1alpha1.UpgradeHalted:
		return "" // the chain stopped it, and not what it was given
	case stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason != v1alpha1.ReasonVolumeNotResized:
		return conditionText(stalled)
	case status.Phase == v1alpha1.NodeFailed && ready != nil:
		return conditionText(ready)
	case triesAgain(status):
		last := status.LastPlan
		return fmt.Sprintf("%s failed at step %s and is retried: %s", last.Reason, last.FailedTask, last.Error)
	case ready != nil && ready.Status == metav1.ConditionFalse && node.IsFailure(ready.Reason):
		return conditionText(ready)
	default:
		return ""
	}
}

// triesAgain reports whether a plan is under way to what the plan before did not reach.
func triesAgain(status *v1alpha1.SeiNodeStatus) bool {
	now, last := status.Plan, status.LastPlan
	return now != nil && now.Target != nil && last != nil && last.Outcome == v1alpha1.OutcomeFailed && last.Target != nil &&
		now.Target.SpecHash == last.Target.SpecHash && now.Target.ConfigHash == last.Target.ConfigHash
}

// specProblem is what is wrong with a node's spec. A volume that cannot grow keeps nothing else
// from being in force.
func specProblem(live *v1alpha1.SeiNode) *metav1.Condition {
	c := conditions.Get(live.Status.Conditions, v1alpha1.ConditionSpecValid)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonVolumeNotResized {
		return nil
	}
	return c
}

// resizeProblem is why a node's volume does not grow; empty when it need not.
func resizeProblem(live *v1alpha1.SeiNode) string {
	c := conditions.Get(live.Status.Conditions, v1alpha1.ConditionSpecValid)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonVolumeNotResized {
		return ""
	}
	return c.Message
}
