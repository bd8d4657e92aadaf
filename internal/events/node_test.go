package events_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

// state builds a node from its phase and conditions, each "Type Status Reason".
func state(phase seiv1.SeiNodePhase, conditions ...[3]string) *seiv1.SeiNode {
	node := &seiv1.SeiNode{}
	node.Status.Phase = phase
	for _, c := range conditions {
		node.Status.Conditions = append(node.Status.Conditions, metav1.Condition{
			Type: c[0], Status: metav1.ConditionStatus(c[1]), Reason: c[2], Message: "because of " + c[2],
		})
	}
	return node
}

func reasons(list []events.Event) []events.Reason {
	if len(list) == 0 {
		return nil
	}
	names := make([]events.Reason, 0, len(list))
	for _, e := range list {
		names = append(names, e.Reason)
	}
	return names
}

func TestForNode_FromCreationToRunning_OneEvent(t *testing.T) {
	life := []*seiv1.SeiNode{
		state(""),
		state(seiv1.NodePending, [3]string{"Paused", "False", "NotPaused"}, [3]string{"Ready", "False", "Initializing"}, [3]string{"SidecarReady", "False", "NotApplicable"}),
		state(seiv1.NodeInitializing, [3]string{"Paused", "False", "NotPaused"}, [3]string{"Ready", "False", "PodPending"}, [3]string{"SidecarReady", "False", "NotReady"},
			[3]string{"PlanInProgress", "True", "PlanRunning"}, [3]string{"SpecValid", "True", "Valid"}, [3]string{"NodeUpdateInProgress", "False", "UpToDate"}),
		state(seiv1.NodeRunning, [3]string{"Paused", "False", "NotPaused"}, [3]string{"Ready", "False", "NotInSync"}, [3]string{"SidecarReady", "True", "Ready"},
			[3]string{"PlanInProgress", "False", "PlanComplete"}, [3]string{"SpecValid", "True", "Valid"}, [3]string{"NodeUpdateInProgress", "False", "UpToDate"}),
		state(seiv1.NodeRunning, [3]string{"Ready", "True", "InSync"}, [3]string{"SidecarReady", "True", "Ready"}),
	}
	life[3].Status.LastPlan = &seiv1.PlanSummary{ID: "p", Outcome: seiv1.OutcomeComplete}
	life[4].Status.LastPlan = life[3].Status.LastPlan
	all := make([]events.Event, 0, 2)
	for i := range life[1:] {
		all = append(all, events.ForNode(life[i], life[i+1])...)
	}
	want := []events.Event{
		{Reason: events.PhaseChanged, Note: "phase changed from Initializing to Running"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A validator's keys are checked by a task; until then nothing is wrong with them.
func TestForNode_InputThatWasNotCheckedYet_NoEvent(t *testing.T) {
	unchecked := state(seiv1.NodePending, [3]string{"SigningKeyReady", "Unknown", "SigningKeyNotReady"})
	if got := events.ForNode(state(""), unchecked); got != nil {
		t.Errorf("events %v, want nil", got)
	}
	missing := state(seiv1.NodePending, [3]string{"SigningKeyReady", "False", "SigningKeyNotReady"})
	if diff := cmp.Diff([]events.Reason{events.KeyNotReady}, reasons(events.ForNode(unchecked, missing))); diff != "" {
		t.Errorf("a missing key (-want +got):\n%s", diff)
	}
}

func TestForNode_NothingChanged_NoEvent(t *testing.T) {
	node := state(seiv1.NodeFailed, [3]string{"SidecarReady", "False", "NotReady"}, [3]string{"SpecValid", "False", "Invalid"}, [3]string{"Paused", "True", "Paused"})
	node.Status.LastPlan = &seiv1.PlanSummary{ID: "p", Outcome: seiv1.OutcomeFailed}
	if got := events.ForNode(node, node.DeepCopy()); got != nil {
		t.Errorf("events %v, want nil", got)
	}
}

func TestForNode_ConditionTransitions(t *testing.T) {
	cases := []struct {
		condition string
		from, to  [2]string
		want      events.Reason
	}{
		{"Ready", [2]string{"True", "InSync"}, [2]string{"False", "PodCrashLooping"}, events.PodCrashLooping},
		{"Ready", [2]string{"False", "PodPending"}, [2]string{"False", "ImagePullFailed"}, events.ImagePullFailed},
		{"Ready", [2]string{"False", "NotInSync"}, [2]string{"True", "InSync"}, ""},
		{"SpecValid", [2]string{"True", "Valid"}, [2]string{"False", "Invalid"}, events.SpecInvalid},
		{"SpecValid", [2]string{"False", "Invalid"}, [2]string{"True", "Valid"}, ""},
		{"ImportPVCReady", [2]string{"Unknown", "X"}, [2]string{"False", "PVCNotReady"}, events.PVCNotReady},
		{"ImportPVCReady", [2]string{"False", "PVCNotReady"}, [2]string{"False", "PVCInvalid"}, events.PVCInvalid},
		{"SigningKeyReady", [2]string{"False", "SigningKeyNotReady"}, [2]string{"False", "KeyInUse"}, events.KeyInUse},
		{"SigningKeyReady", [2]string{"True", "SigningKeyValidated"}, [2]string{"False", "SigningKeyNotReady"}, events.KeyNotReady},
		{"NodeKeyReady", [2]string{"Unknown", "X"}, [2]string{"False", "NodeKeyInvalid"}, events.KeyInvalid},
		{"OperatorKeyringReady", [2]string{"Unknown", "X"}, [2]string{"False", "OperatorKeyringInvalid"}, events.KeyInvalid},
		{"NodeUpdateInProgress", [2]string{"False", "UpToDate"}, [2]string{"True", "UpdateStarted"}, events.UpdateStarted},
		{"NodeUpdateInProgress", [2]string{"True", "UpdateStarted"}, [2]string{"False", "UpdateComplete"}, events.UpdateComplete},
		{"NodeUpdateInProgress", [2]string{"False", "UpdateComplete"}, [2]string{"False", "UpToDate"}, ""},
		{"Paused", [2]string{"False", "NotPaused"}, [2]string{"True", "Paused"}, events.Paused},
		{"Paused", [2]string{"True", "Paused"}, [2]string{"False", "NotPaused"}, events.Resumed},
	}
	for _, tc := range cases {
		t.Run(tc.condition+" becomes "+tc.to[1], func(t *testing.T) {
			before := state(seiv1.NodeRunning, [3]string{tc.condition, tc.from[0], tc.from[1]})
			after := state(seiv1.NodeRunning, [3]string{tc.condition, tc.to[0], tc.to[1]})
			var want []events.Reason
			if tc.want != "" {
				want = []events.Reason{tc.want}
			}
			if diff := cmp.Diff(want, reasons(events.ForNode(before, after))); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// B1.
func TestForNode_PodReplaced_LostAndRestored(t *testing.T) {
	ready, gone, closed := [3]string{"SidecarReady", "True", "Ready"}, [3]string{"SidecarReady", "Unknown", "Unreachable"}, [3]string{"SidecarReady", "False", "NotReady"}
	updating := [3]string{"NodeUpdateInProgress", "True", "UpdateStarted"}
	cases := []struct {
		name string
		life []*seiv1.SeiNode
		want []events.Reason
	}{
		{
			"straight",
			[]*seiv1.SeiNode{state(seiv1.NodeRunning, ready), state(seiv1.NodeRunning, closed), state(seiv1.NodeRunning, ready)},
			[]events.Reason{events.SidecarReadinessLost, events.SidecarReadinessRestored},
		}, {
			"unreachable on the way",
			[]*seiv1.SeiNode{state(seiv1.NodeRunning, ready), state(seiv1.NodeRunning, gone), state(seiv1.NodeRunning, closed), state(seiv1.NodeRunning, ready)},
			[]events.Reason{events.SidecarReadinessLost, events.SidecarReadinessRestored},
		}, {
			"unreachable for a moment only",
			[]*seiv1.SeiNode{state(seiv1.NodeRunning, ready), state(seiv1.NodeRunning, gone), state(seiv1.NodeRunning, ready)},
			nil,
		}, {
			"the first opening of the gate",
			[]*seiv1.SeiNode{state(seiv1.NodeInitializing, closed), state(seiv1.NodeRunning, ready)},
			[]events.Reason{events.PhaseChanged},
		}, {
			"during an update",
			[]*seiv1.SeiNode{state(seiv1.NodeRunning, updating, ready), state(seiv1.NodeRunning, updating, closed), state(seiv1.NodeRunning, updating, ready)},
			nil,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var got []events.Event
			for i := range tc.life[1:] {
				got = append(got, events.ForNode(tc.life[i], tc.life[i+1])...)
			}
			if diff := cmp.Diff(tc.want, reasons(got)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForNode_PlanFails_NamesTaskAndError(t *testing.T) {
	before, after := state(seiv1.NodeInitializing), state(seiv1.NodeFailed)
	after.Status.LastPlan = &seiv1.PlanSummary{ID: "p", Reason: "NewNode", Outcome: seiv1.OutcomeFailed, FailedTask: "config-apply", Error: "no space left"}
	want := []events.Event{
		{Reason: events.PhaseChanged, Note: "phase changed from Initializing to Failed"},
		{Reason: events.PlanFailed, Note: "plan NewNode failed at step config-apply: no space left"},
	}
	if diff := cmp.Diff(want, events.ForNode(before, after)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestForNode_ABlockThatDiffers_IsToldOnce(t *testing.T) {
	comparing := state(seiv1.NodeRunning, [3]string{"ResultsMatch", "True", "Comparing"})
	diverged := state(seiv1.NodeRunning, [3]string{"ResultsMatch", "False", "Diverged"})
	if diff := cmp.Diff([]events.Reason{events.ResultsDiverged}, reasons(events.ForNode(comparing, diverged))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := events.ForNode(diverged, diverged); got != nil {
		t.Errorf("events %v, want none the second time", got)
	}
	if got := events.ForNode(state(seiv1.NodeRunning), state(seiv1.NodeRunning, [3]string{"ResultsMatch", "False", "NotApplicable"})); got != nil {
		t.Errorf("events %v of a node that compares nothing", got)
	}
}
