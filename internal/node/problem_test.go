package node_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// A line of kubectl get is empty exactly for nodes that nobody has to look at.
func TestProblem_EveryState_IsToldUnlessReadyAndNotStalled(t *testing.T) {
	for _, s := range states {
		p := settledPass()
		s.change(p)
		report(p)
		fine := s.want[1] == 'T' && s.want[3] != 'T'
		if got := p.Node.Status.Problem; (got == "") != fine {
			t.Errorf("%s: problem %q, want one: %v", s.name, got, !fine)
		}
	}
}

func TestProblem_CauseBeforeConsequence(t *testing.T) {
	all := func(list ...metav1.Condition) []metav1.Condition { return list }
	condition := func(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
	}
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	ready := condition(v1alpha1.ConditionReady, yes, v1alpha1.ReasonInSync, "")
	for name, c := range map[string]struct {
		list []metav1.Condition
		want string
	}{
		"nothing": {all(ready), ""},
		"a typo": {
			all(condition(v1alpha1.ConditionReady, no, "Invalid", "on an earlier spec"), condition(v1alpha1.ConditionStalled, yes, "Invalid", "no such key")),
			"Invalid: no such key",
		},
		"a key that is missing": {
			all(condition(v1alpha1.ConditionReady, no, "Initializing", ""), condition(v1alpha1.ConditionSigningKeyReady, no, "SigningKeyNotReady", "create Secret s")),
			"SigningKeyNotReady: create Secret s",
		},
		"a key that nobody asks for": {all(ready, condition(v1alpha1.ConditionSigningKeyReady, no, v1alpha1.ReasonNotApplicable, "")), ""},
		"a held gate": {
			all(condition(v1alpha1.ConditionReady, no, "GateClosed", "waits"), condition(v1alpha1.ConditionSidecarReady, no, "Held", "an operation holds it")),
			"Held: an operation holds it",
		},
		"a pod without an image": {
			all(condition(v1alpha1.ConditionReady, no, "ImagePullFailed", "not found"),
				condition(v1alpha1.ConditionSidecarReady, unknown, "Unreachable", "not running")),
			"ImagePullFailed: not found",
		},
		"a sidecar that is silent": {
			all(ready, condition(v1alpha1.ConditionSidecarReady, unknown, "Unreachable", "it does not answer")), "Unreachable: it does not answer",
		},
		"no image for an upgrade":  {all(ready, condition(v1alpha1.ConditionUpgradeImageMissing, yes, "NoEntry", "add v7")), "NoEntry: add v7"},
		"an upgrade with an image": {all(ready, condition(v1alpha1.ConditionUpgradeScheduled, yes, "ImageKnown", "v7")), ""},
		"an image that cannot be pulled ahead": {
			all(ready, condition(v1alpha1.ConditionUpgradeScheduled, yes, v1alpha1.ReasonImagePullFailed, "v7: denied")), "ImagePullFailed: v7: denied",
		},
		"no snapshot yet":      {all(ready, condition(v1alpha1.ConditionSnapshotsPublished, no, "NothingPublished", "")), ""},
		"a bucket that denies": {all(ready, condition(v1alpha1.ConditionSnapshotsPublished, no, v1alpha1.ReasonPublishFailed, "denied")), "PublishFailed: denied"},
		"results that diverge": {all(ready, condition(v1alpha1.ConditionResultsMatch, no, "Diverged", "height 7")), "Diverged: height 7"},
		"a plan that waits": {
			all(condition(v1alpha1.ConditionReady, no, "Initializing", ""), condition(v1alpha1.ConditionPlanInProgress, yes, "PlanWaiting", "NewNode: step 7/9")),
			"Initializing: NewNode: step 7/9",
		},
		"a plan that has ended": {
			all(condition(v1alpha1.ConditionReady, no, "Initializing", ""), condition(v1alpha1.ConditionPlanInProgress, no, "PlanComplete", "NewNode")),
			"Initializing",
		},
		"lines": {all(condition(v1alpha1.ConditionReady, no, "PodCrashLooping", "exit 1:\n\tpanic")), "PodCrashLooping: exit 1: panic"},
		"too much": {
			all(condition(v1alpha1.ConditionReady, no, "Behind", strings.Repeat("a", 500))), "Behind: " + strings.Repeat("a", 189) + "...",
		},
	} {
		if got := node.Problem(c.list); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReport_ModeAndProblem_OfANodeThatGoesAway(t *testing.T) {
	p := settledPass()
	report(p)
	if got := p.Node.Status.Mode; got != "fullNode" {
		t.Errorf("mode %q, want fullNode", got)
	}
	conditions.For(&p.Node.Status.Conditions, 2, passAt).True(v1alpha1.ConditionStalled, v1alpha1.ReasonHeldBack, "failed before")
	got := node.ReportTerminating(p.Node, "", passAt).Problem
	if want := "Terminating: the node is being deleted: waiting for its pod to stop"; got != want {
		t.Errorf("problem %q, want %q", got, want)
	}
}
