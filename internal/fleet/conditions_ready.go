package fleet

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// readiness sets Ready, and the two conditions by which tools tell work in progress from work
// that does not continue by itself (kstatus).
func (s *report) readiness(set conditions.Setter) {
	if s.nodes == nil {
		s.unseen(set)
		return
	}
	ready := s.ready()
	set.Status(v1alpha1.ConditionReady, ready.ok, ready.reason, ready.message)
	stalled := s.stalled()
	set.Status(v1alpha1.ConditionStalled, stalled.ok, stalled.reason, stalled.message)
	working := s.working(stalled.ok)
	set.Status(v1alpha1.ConditionReconciling, working.ok, working.reason, working.message)
}

// unseen leaves what was said of a fleet that could not be looked at, except that it is as a
// spec asks for which nobody has read.
func (s *report) unseen(set conditions.Setter) {
	ready := conditions.Get(s.snd.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil && s.err != nil:
		set.Unknown(v1alpha1.ConditionReady, v1alpha1.ReasonNodesNotReady, s.err.Error())
	case ready != nil && ready.Status == metav1.ConditionTrue && s.snd.Status.ObservedGeneration != s.snd.Generation:
		set.False(v1alpha1.ConditionReady, v1alpha1.ReasonOutOfDate, "the latest spec has not been reconciled yet")
	}
}

// ready says whether all nodes run what the spec asks for and are in sync.
func (s *report) ready() answer {
	nodes := s.allInSync()
	switch {
	case s.err != nil && s.snd.Status.ObservedGeneration != s.snd.Generation:
		return answer{false, v1alpha1.ReasonOutOfDate, "the latest spec is not fully applied: " + s.err.Error()}
	case s.frozen():
		return answer{false, v1alpha1.ReasonPaused, "spec.paused is set: the latest spec is not applied"}
	case !nodes.ok:
		return nodes
	case s.snd.Status.Rollout != nil:
		return answer{false, rolloutReason(s.snd.Status.Rollout), s.rolloutMessage()}
	}
	for _, n := range s.nodes {
		if !n.Held && !n.Stopped && (!n.Current || !n.InForce) {
			return answer{false, v1alpha1.ReasonOutOfDate, n.Name + ": " + n.Why}
		}
	}
	return nodes
}

// frozen reports whether a paused fleet is not what its spec asks for.
func (s *report) frozen() bool {
	return s.snd.Spec.Paused && (s.surplus > 0 || slices.ContainsFunc(s.members, func(m Member) bool { return m.Live == nil }) ||
		slices.ContainsFunc(s.nodes, func(n Node) bool { return n.waits() }))
}

// stalled says whether the fleet does not get on by itself.
func (s *report) stalled() answer {
	_, failed := FirstFailed(s.nodes)
	rolling := s.snd.Status.Rollout != nil
	troubles := s.troubles()
	said := func(conditionType string) answer {
		c := conditions.Get(s.snd.Status.Conditions, conditionType)
		return answer{true, c.Reason, c.Message}
	}
	switch {
	case s.snd.Spec.Paused:
		return answer{false, v1alpha1.ReasonPaused, ""}
	case s.ceremonyFailed():
		return said(v1alpha1.ConditionGenesisCeremonyComplete)
	case rolling && failed:
		return said(v1alpha1.ConditionRolloutFailed)
	case len(troubles) > 0:
		return answer{true, v1alpha1.ReasonNodesFailed, listed(troubles)}
	case rolling && conditions.Is(s.snd.Status.Conditions, v1alpha1.ConditionRolloutStalled, metav1.ConditionTrue, ""):
		return said(v1alpha1.ConditionRolloutStalled)
	default:
		return answer{false, v1alpha1.ReasonProgressing, ""}
	}
}

// working says whether something is under way that leads to what the spec asks for.
func (s *report) working(stalled bool) answer {
	status := &s.snd.Status
	switch {
	case s.snd.Spec.Paused || stalled:
	case status.Plan != nil:
		return answer{true, status.Plan.Reason, status.Plan.Message}
	case status.Rollout != nil:
		return answer{true, rolloutReason(status.Rollout), s.rolloutMessage()}
	case s.surplus > 0:
		return answer{true, v1alpha1.ReasonProgressing, "nodes are being removed"}
	case slices.ContainsFunc(s.members, isComingUp):
		return answer{true, v1alpha1.ReasonNodesInitializing, "nodes are being brought up"}
	}
	return answer{false, v1alpha1.ReasonNoRollout, ""}
}

// specValid names what of the spec has no effect, or not the one that was meant. The fleet continues in any
// case.
func (s *report) specValid(set conditions.Setter) {
	if problems := SpecProblems(s.snd); len(problems) > 0 {
		set.False(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecInvalid, strings.Join(problems, "; "))
		return
	}
	set.True(v1alpha1.ConditionSpecValid, v1alpha1.ReasonSpecValid, "")
}
