package events_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

func fleet(rollout *seiv1.RolloutStatus, conditions ...metav1.Condition) *seiv1.SeiNodeDeployment {
	return &seiv1.SeiNodeDeployment{Status: seiv1.SeiNodeDeploymentStatus{Rollout: rollout, Conditions: conditions}}
}

func TestForDeployment_EachTransition_IsToldOnce(t *testing.T) {
	paused := func(status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: seiv1.ConditionPaused, Status: status, Reason: string(status)}
	}
	stalled := metav1.Condition{Type: seiv1.ConditionRolloutStalled, Status: metav1.ConditionTrue, Reason: "R", Message: "waiting on rpc-1"}
	a, b := &seiv1.RolloutStatus{TargetHash: "a", Total: 5}, &seiv1.RolloutStatus{TargetHash: "b", Total: 5}
	up := &seiv1.RolloutStatus{TargetHash: "a", Total: 5, Upgrade: &seiv1.UpgradeRollout{Name: "v2"}}
	next := &seiv1.RolloutStatus{TargetHash: "a", Total: 5, Upgrade: &seiv1.UpgradeRollout{Name: "v3"}}
	cases := map[string]struct {
		before, after *seiv1.SeiNodeDeployment
		want          []events.Reason
		note          string
	}{
		"nothing":              {fleet(a), fleet(a), nil, ""},
		"rollout":              {fleet(nil), fleet(a), []events.Reason{events.RolloutStarted}, "rolling out image to 5 nodes, target a"},
		"superseded":           {fleet(a), fleet(b), []events.Reason{events.RolloutSuperseded}, "target a is superseded by b"},
		"upgrade":              {fleet(nil), fleet(up), []events.Reason{events.ChainUpgradeStarted}, "chain upgrade v2"},
		"upgrade in a rollout": {fleet(a), fleet(up), []events.Reason{events.ChainUpgradeStarted}, "chain upgrade v2"},
		"upgrade goes on":      {fleet(up), fleet(up), nil, ""},
		"next upgrade":         {fleet(up), fleet(next), []events.Reason{events.ChainUpgradeStarted}, "chain upgrade v3"},
		"upgraded":             {fleet(up), fleet(nil), []events.Reason{events.RolloutComplete}, "every node"},
		"complete":             {fleet(b), fleet(nil), []events.Reason{events.RolloutComplete}, "every node"},
		"stalled":              {fleet(a), fleet(a, stalled), []events.Reason{events.RolloutStalled}, "waiting on rpc-1"},
		"paused":               {fleet(nil, paused("False")), fleet(nil, paused("True")), []events.Reason{events.Paused}, "the fleet is paused"},
		"resumed":              {fleet(nil, paused("True")), fleet(nil, paused("False")), []events.Reason{events.Resumed}, "no longer"},
		"never paused":         {fleet(nil), fleet(nil, paused("False")), nil, ""},
		"still stalled":        {fleet(a, stalled), fleet(a, stalled), nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := events.ForDeployment(tc.before, tc.after, "image")
			if diff := cmp.Diff(tc.want, reasons(got)); diff != "" {
				t.Fatalf("reasons (-want +got):\n%s", diff)
			}
			if len(got) == 1 && !strings.Contains(got[0].Note, tc.note) {
				t.Errorf("note %q, want %q in it", got[0].Note, tc.note)
			}
		})
	}
}

// A ceremony that fails is reported as such; a lost genesis that cannot be fetched again
// is a failed plan of a chain that lives.
func TestForDeployment_FailedPlans_AreToldByWhatTheyMean(t *testing.T) {
	failed := metav1.Condition{Type: seiv1.ConditionPlanInProgress, Status: metav1.ConditionFalse, Reason: seiv1.ReasonPlanFailed, Message: "x"}
	ceremony := metav1.Condition{Type: seiv1.ConditionGenesisCeremonyComplete, Status: metav1.ConditionFalse, Reason: seiv1.ReasonCeremonyFailed}
	if diff := cmp.Diff([]events.Reason{events.CeremonyFailed}, reasons(events.ForDeployment(fleet(nil), fleet(nil, failed, ceremony), ""))); diff != "" {
		t.Errorf("a failed ceremony (-want +got):\n%s", diff)
	}
	ceremony.Status, ceremony.Reason = metav1.ConditionTrue, seiv1.ReasonCeremonyComplete
	before, after := fleet(nil, ceremony), fleet(nil, failed, ceremony)
	after.Status.GenesisHash = "ab"
	if diff := cmp.Diff([]events.Reason{events.PlanFailed}, reasons(events.ForDeployment(before, after, ""))); diff != "" {
		t.Errorf("a genesis that is lost (-want +got):\n%s", diff)
	}
}
