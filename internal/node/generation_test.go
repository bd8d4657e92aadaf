package node_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/node"
)

// S4: what an earlier pass has found and this one does not look at again holds for the generation that
// is in force, and says so.
func TestReport_EveryCondition_SpeaksOfTheGenerationThatWasSeen(t *testing.T) {
	p := settledPass()
	p.Node.Spec.FullNode = nil
	p.Node.Spec.Validator = &v1alpha1.ValidatorSpec{
		SigningKey: &v1alpha1.SigningKeySource{}, NodeKey: &v1alpha1.NodeKeySource{Secret: v1alpha1.KeySecret{SecretName: "id"}},
	}
	for _, of := range []string{v1alpha1.ConditionSigningKeyReady, v1alpha1.ConditionNodeKeyReady, v1alpha1.ConditionUpgradeSnapshotTaken} {
		p.Node.Status.Conditions = append(p.Node.Status.Conditions, metav1.Condition{
			Type: of, Status: metav1.ConditionTrue, Reason: "Found", Message: "before", ObservedGeneration: 1,
		})
	}
	report(p)
	for _, c := range p.Node.Status.Conditions {
		if c.ObservedGeneration != p.Node.Generation {
			t.Errorf("%s speaks of generation %d, not of %d", c.Type, c.ObservedGeneration, p.Node.Generation)
		}
		if c.Reason == "Found" && (c.Status != metav1.ConditionTrue || c.Message != "before") {
			t.Errorf("%s has changed: %+v", c.Type, c)
		}
	}
}

// A spec that failed and was put back leaves no failure behind: there is nothing to do, so no plan
// would end it.
func TestReport_FailedPlanWhoseTargetIsWantedNoMore_IsSuperseded(t *testing.T) {
	failed := func(missing ...node.Missing) *node.Pass {
		p := settledPass()
		p.Node.Status.LastPlan = &v1alpha1.PlanSummary{
			Reason: node.ReasonPodTemplateChanged, Outcome: v1alpha1.OutcomeFailed, FailedTask: "x", Error: "no",
			Target: &v1alpha1.PlanTarget{SpecHash: "other", Generation: 1},
		}
		p.Decision.Missing = missing
		return p
	}
	p := failed()
	report(p)
	for _, of := range []string{v1alpha1.ConditionPlanInProgress, v1alpha1.ConditionNodeUpdateInProgress} {
		if c := conditions.Get(p.Node.Status.Conditions, of); strings.HasSuffix(c.Reason, "Failed") {
			t.Errorf("%s is still %s: %s", of, c.Reason, c.Message)
		}
	}
	if outcome := p.Node.Status.LastPlan.Outcome; outcome != v1alpha1.OutcomeSuperseded {
		t.Errorf("the last plan is %s", outcome)
	}

	p = failed(node.Missing{Step: node.StepApplyStatefulSet, Because: "x"})
	report(p)
	if outcome := p.Node.Status.LastPlan.Outcome; outcome != v1alpha1.OutcomeFailed {
		t.Errorf("with something missing the last plan is %s", outcome)
	}

	p = failed()
	p.Node.Status.LastPlan.Target = &p.Target.PlanTarget
	report(p)
	if outcome := p.Node.Status.LastPlan.Outcome; outcome != v1alpha1.OutcomeFailed {
		t.Errorf("on the target that is wanted the last plan is %s", outcome)
	}
}
