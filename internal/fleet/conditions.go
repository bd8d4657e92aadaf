package fleet

import (
	"fmt"
	"slices"
	"strings"

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
	s.rolloutFailed(set)
	s.resizePending(set)
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
	for i := range s.members {
		switch live := s.members[i].own(); {
		case live != nil && IsReady(live):
		default:
			named = append(named, s.nodes[i].Name+": "+s.nodes[i].Why)
		}
	}
	return "; " + listed(named)
}

// listed joins the first of some phrases, and says how many more there are.
func listed(phrases []string) string {
	more := max(0, len(phrases)-maxNamed)
	text := strings.Join(phrases[:len(phrases)-more], "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
