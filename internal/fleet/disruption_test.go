package fleet_test

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// Who drains a machine gets what a rollout gets, and a fleet of one can be drained.
func TestDisruptionBudget_IsThatOfARollout(t *testing.T) {
	for _, tc := range []struct {
		replicas    int32
		unavailable intstr.IntOrString
		want        int
	}{
		{1, intstr.FromInt32(1), 0}, {3, intstr.FromInt32(1), 2}, {4, intstr.FromString("50%"), 2},
		{3, intstr.FromString("10%"), 2}, {2, intstr.FromInt32(5), 0},
	} {
		snd := rpcFleet()
		snd.Spec.Replicas = tc.replicas
		snd.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{InPlace: &v1alpha1.InPlaceUpdate{MaxUnavailable: &tc.unavailable}}
		budget := fleet.DisruptionBudget(snd)
		if got := budget.Spec.MinAvailable.IntValue(); got != tc.want {
			t.Errorf("%d nodes, %s unavailable: %d have to be available, want %d", tc.replicas, tc.unavailable.String(), got, tc.want)
		}
		// The label is how the budget of a fleet that goes is found.
		if *budget.Name != snd.Name || budget.Spec.Selector.MatchLabels[v1alpha1.LabelDeployment] != snd.Name || budget.Labels[v1alpha1.LabelDeployment] != snd.Name {
			t.Errorf("budget %s with labels %v for %v", *budget.Name, budget.Labels, budget.Spec.Selector.MatchLabels)
		}
		if policy := *budget.Spec.UnhealthyPodEvictionPolicy; policy != policyv1.AlwaysAllow {
			t.Errorf("pods that are not ready: %s", policy)
		}
	}
}
