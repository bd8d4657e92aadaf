package fleet_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

func TestEndPlan_OnlyHowAPlanEndedIsKept(t *testing.T) {
	for phase, want := range map[v1alpha1.PlanPhase]v1alpha1.PlanOutcome{
		v1alpha1.PlanActive: "", v1alpha1.PlanComplete: v1alpha1.OutcomeComplete, v1alpha1.PlanFailed: v1alpha1.OutcomeFailed,
	} {
		p := &v1alpha1.TaskPlan{ID: "p", Phase: phase, Reason: fleet.ReasonGenesisCeremony, FailedTaskDetail: &v1alpha1.FailedTaskDetail{Type: "x", Error: "no"}}
		status := v1alpha1.SeiNodeDeploymentStatus{Plan: p}
		ended := fleet.EndPlan(&status, passAt)
		if want == "" {
			if ended != nil || status.Plan != p || status.LastPlan != nil {
				t.Errorf("%s: ended %v, status %+v", phase, ended, status)
			}
			continue
		}
		last := status.LastPlan
		if ended != p || status.Plan != nil || last == nil || last.Outcome != want || last.ID != "p" || last.Error != "no" || !last.FinishedAt.Equal(new(metav1.NewTime(passAt))) {
			t.Errorf("%s: last plan %+v, want %s", phase, last, want)
		}
	}
	if got := fleet.EndPlan(&v1alpha1.SeiNodeDeploymentStatus{}, passAt); got != nil {
		t.Errorf("no plan ended as %+v", got)
	}
}
