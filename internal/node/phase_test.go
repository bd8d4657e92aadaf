package node_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

func TestPhase_HowFarANodeGot(t *testing.T) {
	now, plan := metav1.Now(), &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive}
	ended := func(outcome v1alpha1.PlanOutcome) *v1alpha1.PlanSummary {
		return &v1alpha1.PlanSummary{Outcome: outcome}
	}
	for name, c := range map[string]struct {
		status v1alpha1.SeiNodeStatus
		want   v1alpha1.SeiNodePhase
	}{
		"nothing happened yet":                  {v1alpha1.SeiNodeStatus{}, v1alpha1.NodePending},
		"a plan brings it up":                   {v1alpha1.SeiNodeStatus{Plan: plan}, v1alpha1.NodeInitializing},
		"one failed":                            {v1alpha1.SeiNodeStatus{LastPlan: ended(v1alpha1.OutcomeFailed)}, v1alpha1.NodeFailed},
		"another try is under way":              {v1alpha1.SeiNodeStatus{Plan: plan, LastPlan: ended(v1alpha1.OutcomeFailed)}, v1alpha1.NodeInitializing},
		"between two plans":                     {v1alpha1.SeiNodeStatus{LastPlan: ended(v1alpha1.OutcomeComplete)}, v1alpha1.NodeInitializing},
		"superseded":                            {v1alpha1.SeiNodeStatus{LastPlan: ended(v1alpha1.OutcomeSuperseded)}, v1alpha1.NodeInitializing},
		"it was up":                             {v1alpha1.SeiNodeStatus{InitializedAt: &now}, v1alpha1.NodeRunning},
		"it was up, and its last update failed": {v1alpha1.SeiNodeStatus{InitializedAt: &now, LastPlan: ended(v1alpha1.OutcomeFailed)}, v1alpha1.NodeRunning},
	} {
		if got := node.Phase(&c.status); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// The phase that was written before decides nothing.
		c.status.Phase = v1alpha1.NodeFailed
		if got := node.Phase(&c.status); got != c.want {
			t.Errorf("%s, read after Failed: %s, want %s", name, got, c.want)
		}
	}
}
