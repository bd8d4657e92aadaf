package node

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func waitingNode() *v1alpha1.SeiNode {
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n"}}
	node.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "A", Message: "a"}}
	node.Status.Plan = &v1alpha1.TaskPlan{ID: "p", Phase: v1alpha1.PlanActive, Tasks: []v1alpha1.PlannedTask{
		{Type: "observe-image", Status: v1alpha1.TaskRunning, Message: "waiting for the new pod"},
	}}
	return node
}

func TestOnlyWordsDiffer_Changes_AreToldApart(t *testing.T) {
	cases := []struct {
		name   string
		change func(*v1alpha1.SeiNodeStatus)
		want   bool
	}{
		{"nothing", func(*v1alpha1.SeiNodeStatus) {}, false},
		{"the task's message", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[0].Message = "waiting for the sidecar" }, true},
		{"a condition's message", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Message = "b" }, true},
		{"a condition's reason", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Reason = "B" }, true},
		{"a condition's status", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Status = metav1.ConditionTrue }, false},
		{"a task is done", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[0].Status = v1alpha1.TaskComplete }, false},
		{"a task failed once", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[0].Attempt++ }, false},
		{"the plan ended", func(s *v1alpha1.SeiNodeStatus) { s.Plan = nil }, false},
		{"the image", func(s *v1alpha1.SeiNodeStatus) { s.CurrentImage = "x" }, false},
		{"the generation that was seen", func(s *v1alpha1.SeiNodeStatus) { s.ObservedGeneration++ }, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			before, after := waitingNode(), waitingNode()
			tc.change(&after.Status)
			if got := onlyWordsDiffer(&before.Status, &after.Status); got != tc.want {
				t.Errorf("only words differ: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestOnlyWordsDiffer_NodeWithoutPlan_IsAlwaysWritten(t *testing.T) {
	before, after := waitingNode(), waitingNode()
	before.Status.Plan, after.Status.Plan = nil, nil
	after.Status.Conditions[0].Message = "b"
	if onlyWordsDiffer(&before.Status, &after.Status) {
		t.Error("the words of a node without a plan are held back")
	}
}

func TestWithhold_WordsThatLast_AreWrittenAfterASecond(t *testing.T) {
	var p passing
	before, after, now := waitingNode(), waitingNode(), time.Unix(1000, 0)
	after.Status.Conditions[0].Message = "b"
	if !p.withhold(before, after, now) || !p.withhold(before, after, now.Add(passingFor/2)) {
		t.Error("new words are written at once")
	}
	after.Status.Conditions[0].Message = "c" // other words do not begin the second anew
	if p.withhold(before, after, now.Add(passingFor)) {
		t.Error("words that last are held back")
	}
	if !p.withhold(before, after, now.Add(passingFor)) {
		t.Error("after a write, new words are written at once")
	}
}

func TestWithhold_RealChange_BeginsAnew(t *testing.T) {
	var p passing
	before, worded, moved, now := waitingNode(), waitingNode(), waitingNode(), time.Unix(1000, 0)
	worded.Status.Conditions[0].Message = "b"
	moved.Status.CurrentImage = "x"
	p.withhold(before, worded, now)
	if p.withhold(before, moved, now) {
		t.Error("a change is held back")
	}
	if !p.withhold(before, worded, now.Add(passingFor)) {
		t.Error("words are written at once because others had been held back before a change")
	}
	p.Forget(client.ObjectKeyFromObject(before))
	if !p.withhold(before, worded, now.Add(2*passingFor)) {
		t.Error("a node that is gone is remembered")
	}
}
