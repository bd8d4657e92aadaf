package fleet_test

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

func TestTakeOver_OfAStatusOfThisOperator_ChangesNothing(t *testing.T) {
	full := v1alpha1.SeiNodeDeploymentStatus{
		TemplateHash: "ab", Plan: &v1alpha1.TaskPlan{}, Rollout: &v1alpha1.RolloutStatus{},
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionGenesisCeremonyComplete, Status: metav1.ConditionTrue}},
	}
	theirs, ours := &v1alpha1.SeiNodeDeployment{Status: *full.DeepCopy()}, &v1alpha1.SeiNodeDeployment{Status: *full.DeepCopy()}
	ours.Status.Selector = "sei.io/nodedeployment=rpc"
	fleet.TakeOver(theirs)
	fleet.TakeOver(ours)
	if left := theirs.Status; left.TemplateHash != "" || left.Plan != nil || left.Rollout != nil || len(left.Conditions) != 1 {
		t.Errorf("left of another operator's: %+v, want the conditions alone", left)
	}
	if left := ours.Status; left.TemplateHash != "ab" || left.Plan == nil || left.Rollout == nil {
		t.Errorf("left of this operator's: %+v, want all of it", left)
	}
	if !fleet.ChainBegun(theirs) || fleet.ChainBegun(ours) {
		t.Errorf("a chain counts as started: %t by another operator's condition, %t by our own", fleet.ChainBegun(theirs), fleet.ChainBegun(ours))
	}
}

func TestTakeOver_ChainThatWasNotStarted_StaysSo(t *testing.T) {
	snd := &v1alpha1.SeiNodeDeployment{}
	snd.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionGenesisCeremonyComplete, Status: metav1.ConditionFalse}}
	if fleet.TakeOver(snd); fleet.ChainBegun(snd) {
		t.Error("a chain counts as started")
	}
}

func TestKeepingLabels_OfOurDomain_AsLongAsTheOthersAreWanted(t *testing.T) {
	type labels = map[string]v1alpha1.LabelValue
	for name, tc := range map[string]struct{ want, have, get labels }{
		"none":                       {nil, nil, nil},
		"ours alone":                 {nil, labels{"sei.io/revision": "3"}, labels{"sei.io/revision": "3"}},
		"ours beside the wanted":     {labels{"a": "b"}, labels{"a": "b", "sei.io/revision": "3"}, labels{"a": "b", "sei.io/revision": "3"}},
		"ours, and another is new":   {labels{"a": "b"}, labels{"sei.io/revision": "3"}, labels{"a": "b"}},
		"ours, and another is gone":  {nil, labels{"a": "b", "sei.io/revision": "3"}, nil},
		"another, which is not ours": {nil, labels{"a": "b"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			target := fleet.Child{Spec: &v1alpha1.SeiNodeSpec{PodLabels: tc.want}}
			got := target.KeepingLabels(&v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{PodLabels: tc.have}})
			if !maps.Equal(got.Spec.PodLabels, tc.get) || !maps.Equal(target.Spec.PodLabels, tc.want) {
				t.Errorf("podLabels %v, want %v; those of the target %v, want %v", got.Spec.PodLabels, tc.get, target.Spec.PodLabels, tc.want)
			}
		})
	}
}
