package fleet

import (
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

func (s *report) rolloutInProgress(set conditions.Setter) {
	rollout := s.snd.Status.Rollout
	switch {
	case rollout != nil:
		set.True(v1alpha1.ConditionRolloutInProgress, rolloutReason(rollout), s.rolloutMessage())
	case s.before.Status.Rollout != nil:
		set.False(v1alpha1.ConditionRolloutInProgress, v1alpha1.ReasonRolloutComplete, s.rolledOut())
	case conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionRolloutInProgress) == nil:
		set.False(v1alpha1.ConditionRolloutInProgress, v1alpha1.ReasonRolloutNotStarted, "")
	default:
		// The last rollout's end stays told.
		c := conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionRolloutInProgress)
		set.False(v1alpha1.ConditionRolloutInProgress, c.Reason, c.Message)
	}
}

// rolloutMessage says how far a rollout is.
func (s *report) rolloutMessage() string {
	rollout := s.snd.Status.Rollout
	message := fmt.Sprintf("%d of %d nodes are done; waiting on %s", rollout.Updated, rollout.Total, rollout.WaitingOn)
	if rollout.Upgrade != nil {
		message = upgradeMessage(rollout)
	}
	if s.snd.Spec.Paused {
		message += " (the fleet is paused)"
	}
	return message
}

// rolloutReason is the reason of conditions that are about a rollout.
func rolloutReason(r *v1alpha1.RolloutStatus) string {
	if r.Upgrade != nil {
		return v1alpha1.ReasonChainUpgrade
	}
	return v1alpha1.ReasonRollingOut
}

func (s *report) rolloutStalled(set conditions.Setter) {
	rollout := s.snd.Status.Rollout
	if rollout == nil {
		set.False(v1alpha1.ConditionRolloutStalled, v1alpha1.ReasonNoRollout, "")
		return
	}
	deadline := ProgressDeadline(s.snd)
	since, left := StalledSince(rollout, deadline, s.now)
	if left > 0 || s.snd.Spec.Paused {
		set.False(v1alpha1.ConditionRolloutStalled, v1alpha1.ReasonRolloutProgressing, "")
		return
	}
	set.True(v1alpha1.ConditionRolloutStalled, v1alpha1.ReasonDeadlineExceeded,
		fmt.Sprintf("no node has completed in %s, since %s; waiting on %s",
			deadline, since.UTC().Format(time.RFC3339), rollout.WaitingOn))
}

// rolloutFailed says whether a node that failed keeps the others from moving.
func (s *report) rolloutFailed(set conditions.Setter) {
	if s.snd.Status.Rollout == nil {
		set.False(v1alpha1.ConditionRolloutFailed, v1alpha1.ReasonNoRollout, "")
		return
	}
	if s.nodes == nil {
		return
	}
	failed, found := FirstFailed(s.nodes)
	if !found {
		set.False(v1alpha1.ConditionRolloutFailed, v1alpha1.ReasonRolloutProgressing, "")
		return
	}
	set.True(v1alpha1.ConditionRolloutFailed, v1alpha1.ReasonNodeFailed, fmt.Sprintf(
		"%s failed with the template: %s. No other node that is in sync is updated: correct the template, or roll it back", failed.Name, failed.Failed))
}

// resizePending names the nodes whose volumes cannot grow. Nothing waits for them.
func (s *report) resizePending(set conditions.Setter) {
	if s.nodes == nil {
		return
	}
	var pending []string
	for _, n := range s.nodes {
		if n.Resize != "" {
			pending = append(pending, n.Name+": "+n.Resize)
		}
	}
	if len(pending) == 0 {
		set.False(v1alpha1.ConditionResizePending, v1alpha1.ReasonVolumesResized, "")
		return
	}
	set.True(v1alpha1.ConditionResizePending, v1alpha1.ReasonVolumeNotResized, listed(pending))
}

// rolledOut gives the result of a rollout that has ended.
func (s *report) rolledOut() string {
	held := 0
	for _, n := range s.nodes {
		if n.Held {
			held++
		}
	}
	if u := s.before.Status.Rollout.Upgrade; u != nil && held == 0 {
		return fmt.Sprintf("every node is past chain upgrade %s", u.Name)
	}
	if held == 0 {
		return "every node runs the template"
	}
	return fmt.Sprintf("every node from ordinal %d on runs the template; updateStrategy.inPlace.partition holds back %d", Partition(s.snd), held)
}
