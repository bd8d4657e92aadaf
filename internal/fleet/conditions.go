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
	s.specValid(set)
	s.nodesReady(set)
	s.rolloutInProgress(set)
	s.rolloutStalled(set)
	s.rolloutFailed(set)
	s.resizePending(set)
	s.upgradeImageMissing(set)
	s.planInProgress(set)
	s.ceremonyComplete(set)
	s.networkingReady(set)
	s.readiness(set)
}

func (s *report) paused(set conditions.Setter) {
	if s.snd.Spec.Paused {
		set.True(v1alpha1.ConditionPaused, v1alpha1.ReasonPaused, "spec.paused is set: nodes keep running, and nothing is created, changed or removed")
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
	v := s.allInSync()
	set.Status(v1alpha1.ConditionNodesReady, v.ok, v.reason, v.message)
}

// answer is what a condition says.
type answer struct {
	ok              bool
	reason, message string
}

func (s *report) allInSync() answer {
	message := fmt.Sprintf("%d of %d nodes are in sync", s.snd.Status.ReadyReplicas, len(s.members))
	if stopped := s.stopped(); stopped > 0 {
		message += fmt.Sprintf(", %d stopped by paused", stopped)
	}
	missing := s.notInSync()
	if len(missing) == 0 && s.stopped() < len(s.nodes) {
		return answer{true, v1alpha1.ReasonAllNodesReady, message}
	}
	named := make([]string, 0, len(missing))
	for _, i := range missing {
		named = append(named, s.nodes[i].Name+": "+s.nodes[i].Why)
	}
	if len(named) > 0 {
		message += "; " + listed(named)
	}
	switch {
	case len(missing) == 0:
		return answer{false, v1alpha1.ReasonPaused, message}
	case slices.ContainsFunc(s.nodes, func(n Node) bool { return n.NotInGenesis != "" }):
		return answer{false, v1alpha1.ReasonNotInGenesis, message}
	case len(s.troubles()) > 0:
		return answer{false, v1alpha1.ReasonNodesFailed, message}
	case slices.ContainsFunc(s.members, isComingUp):
		return answer{false, v1alpha1.ReasonNodesInitializing, message}
	default:
		return answer{false, v1alpha1.ReasonNodesNotReady, message}
	}
}

// stopped counts the nodes that are not meant to run.
func (s *report) stopped() int {
	count := 0
	for _, n := range s.nodes {
		if n.Stopped && !n.Ready {
			count++
		}
	}
	return count
}

// troubles are the nodes that do not get to what is asked of them by themselves.
func (s *report) troubles() []string {
	var found []string
	for i, n := range s.nodes {
		if s.members[i].Foreign != "" || n.Failed != "" || n.NotInGenesis != "" {
			found = append(found, n.Name+": "+n.Why)
		}
	}
	return found
}

func isComingUp(m Member) bool {
	return m.Live == nil || m.Live.Status.Phase != v1alpha1.NodeRunning
}

// maxNamed is how many nodes a message names.
const maxNamed = 3

// listed joins the first of some phrases, and says how many more there are.
func listed(phrases []string) string {
	more := max(0, len(phrases)-maxNamed)
	text := strings.Join(phrases[:len(phrases)-more], "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
