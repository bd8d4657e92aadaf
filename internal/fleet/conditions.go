package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// deriveConditions sets every condition of the fleet. All of them are always there.
func (s *report) deriveConditions() {
	set := conditions.For(&s.snd.Status.Conditions, s.snd.Generation, s.now)
	s.paused(set)
	s.nodesReady(set)
	s.rolloutInProgress(set)
	s.rolloutStalled(set)
	s.planInProgress(set)
	s.ceremonyComplete(set)
	s.networkingReady(set)
}

func (s *report) paused(set conditions.Setter) {
	if s.snd.Spec.Paused {
		set.True(v1alpha1.ConditionPaused, v1alpha1.ReasonPaused, "spec.paused is set: nodes run on, and nothing is created, changed or removed")
		return
	}
	set.False(v1alpha1.ConditionPaused, v1alpha1.ReasonNotPaused, "")
}

// nodesReady counts the nodes that are in sync and names those that are not.
func (s *report) nodesReady(set conditions.Setter) {
	if s.nodes == nil {
		if conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionNodesReady) == nil && s.err != nil {
			set.Unknown(v1alpha1.ConditionNodesReady, v1alpha1.ReasonNodesNotReady, s.err.Error())
		}
		return
	}
	ready, total := int(s.snd.Status.ReadyReplicas), len(s.members)
	if ready == total {
		set.True(v1alpha1.ConditionNodesReady, v1alpha1.ReasonAllNodesReady, fmt.Sprintf("%d of %d nodes are in sync", ready, total))
		return
	}
	reason := v1alpha1.ReasonNodesNotReady
	switch {
	case slices.ContainsFunc(s.members, isTrouble):
		reason = v1alpha1.ReasonNodesFailed
	case slices.ContainsFunc(s.members, isComingUp):
		reason = v1alpha1.ReasonNodesInitializing
	}
	set.False(v1alpha1.ConditionNodesReady, reason, fmt.Sprintf("%d of %d nodes are in sync%s", ready, total, s.missing()))
}

func isTrouble(m Member) bool {
	return m.Foreign != "" || m.Refused != "" || m.Live != nil && m.Live.Status.Phase == v1alpha1.NodeFailed
}

func isComingUp(m Member) bool {
	return m.Live == nil || m.Live.Status.Phase != v1alpha1.NodeRunning
}

// maxNamed is how many nodes a message names.
const maxNamed = 3

// missing names the nodes that are not in sync, and why.
func (s *report) missing() string {
	var named []string
	more := 0
	for i := range s.members {
		switch live := s.members[i].own(); {
		case live != nil && IsReady(live):
		case len(named) == maxNamed:
			more++
		default:
			named = append(named, s.nodes[i].Name+": "+s.nodes[i].Why)
		}
	}
	text := "; " + strings.Join(named, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func (s *report) rolloutInProgress(set conditions.Setter) {
	rollout := s.snd.Status.Rollout
	switch {
	case rollout != nil:
		message := fmt.Sprintf("%d of %d nodes are done; waiting on %s", rollout.Updated, rollout.Total, rollout.WaitingOn)
		if s.snd.Spec.Paused {
			message += " (the fleet is paused)"
		}
		set.True(v1alpha1.ConditionRolloutInProgress, v1alpha1.ReasonRollingOut, message)
	case s.before.Status.Rollout != nil:
		set.False(v1alpha1.ConditionRolloutInProgress, v1alpha1.ReasonRolloutComplete, "every node runs the template")
	case conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionRolloutInProgress) == nil:
		set.False(v1alpha1.ConditionRolloutInProgress, v1alpha1.ReasonRolloutNotStarted, "")
	default:
		// The last rollout's end stays told.
		c := conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionRolloutInProgress)
		set.False(v1alpha1.ConditionRolloutInProgress, c.Reason, c.Message)
	}
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
		fmt.Sprintf("no node was finished for more than %s, since %s; waiting on %s",
			deadline, since.UTC().Format(time.RFC3339), rollout.WaitingOn))
}
