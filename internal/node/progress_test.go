package node_test

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

// waitingStatus is the status of a node whose plan waits for its new pod.
func waitingStatus() *v1alpha1.SeiNodeStatus {
	return &v1alpha1.SeiNodeStatus{
		StatefulSet: &v1alpha1.ObjectIdentity{UID: "sts"},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "A", Message: "a"},
			{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: "A", Message: "a"},
		},
		Plan: &v1alpha1.TaskPlan{ID: "p", Phase: v1alpha1.PlanActive, Target: &v1alpha1.PlanTarget{}, Tasks: []v1alpha1.PlannedTask{
			{Type: node.StepApplyStatefulSet, Status: v1alpha1.TaskRunning, Attempt: 1},
			{Type: node.StepObserveImage, Status: v1alpha1.TaskRunning, Attempt: 1, Message: "waiting for the new pod"},
			{Type: node.StepConfigApply, Status: v1alpha1.TaskPending, Attempt: 1},
		}},
	}
}

// newStatus is the status of a new node whose plan waits for its first pod.
func newStatus() *v1alpha1.SeiNodeStatus {
	s := waitingStatus()
	s.StatefulSet = nil
	return s
}

// What a plan makes for a new node can wait: there is no pod yet that would be deleted for it.
func TestOnlyProgress_NewNode_WhatWasMadeCanWait(t *testing.T) {
	made := func(s *v1alpha1.SeiNodeStatus) {
		s.StatefulSet, s.Plan.Tasks[0].Status = &v1alpha1.ObjectIdentity{UID: "x"}, v1alpha1.TaskComplete
	}
	plans := func(step string) func(*v1alpha1.SeiNodeStatus) {
		return func(s *v1alpha1.SeiNodeStatus) {
			s.Plan.Tasks = append(s.Plan.Tasks, v1alpha1.PlannedTask{Type: step, Status: v1alpha1.TaskPending})
		}
	}
	for name, tc := range map[string]struct {
		before, change func(*v1alpha1.SeiNodeStatus)
		want           bool
	}{
		"made":                              {func(*v1alpha1.SeiNodeStatus) {}, made, true},
		"another template than was planned": {func(*v1alpha1.SeiNodeStatus) {}, func(s *v1alpha1.SeiNodeStatus) { made(s); s.Plan.Target.PodTemplateHash = "x" }, false},
		"the pod of an adopted StatefulSet": {plans(node.StepReplacePod), made, false},
		"a restore that would be lost":      {plans(node.StepSnapshotRestore), made, false},
		"a StatefulSet that was recorded":   {func(s *v1alpha1.SeiNodeStatus) { s.StatefulSet = &v1alpha1.ObjectIdentity{UID: "y"} }, made, false},
	} {
		stored, derived := newStatus(), newStatus()
		tc.before(stored)
		tc.before(derived)
		tc.change(derived)
		if got := node.OnlyProgress(stored, derived); got != tc.want {
			t.Errorf("%s: only progress: %t, want %t", name, got, tc.want)
		}
	}
}

func TestOnlyProgress_Changes_AreToldApart(t *testing.T) {
	at := metav1.NewTime(time.Unix(1, 0))
	cases := []struct {
		name   string
		change func(*v1alpha1.SeiNodeStatus)
		want   bool
	}{
		{"nothing", func(*v1alpha1.SeiNodeStatus) {}, false},
		{"a task's message", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[1].Message = "waiting for the sidecar" }, true},
		{"a task is done, the next one runs", func(s *v1alpha1.SeiNodeStatus) {
			s.Plan.Tasks[1].Status, s.Plan.Tasks[1].CompletedAt = v1alpha1.TaskComplete, &at
			s.Plan.Tasks[2] = v1alpha1.PlannedTask{
				Type: node.StepConfigApply, Status: v1alpha1.TaskRunning, Attempt: 1, MaxRetries: 3, Params: &apiextensionsv1.JSON{Raw: []byte("{}")},
				StartedAt: &at, SubmittedAt: &at, Deadline: &at,
			}
		}, true},
		{"a condition's reason and message", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Reason, s.Conditions[0].Message = "B", "b" }, true},
		{"a condition that did not hold is unknown", func(s *v1alpha1.SeiNodeStatus) {
			s.Conditions[0].Status, s.Conditions[0].LastTransitionTime = metav1.ConditionUnknown, at
		}, true},
		{"a template was applied", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[0].Status = v1alpha1.TaskComplete }, true},
		{"what the pod and its sidecar tell", func(s *v1alpha1.SeiNodeStatus) { s.CurrentImage, s.ConfigHash, s.NodeID = "x", "x", "x" }, true},

		{"the pod crash-loops", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Reason = v1alpha1.ReasonPodCrashLooping }, false},
		{"the image cannot be pulled", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Reason = v1alpha1.ReasonImagePullFailed }, false},
		{"a condition begins to hold", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Status = metav1.ConditionTrue }, false},
		{"a condition ceases to hold", func(s *v1alpha1.SeiNodeStatus) { s.Conditions[1].Status = metav1.ConditionUnknown }, false},
		{"another template was applied", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Target.PodTemplateHash = "x" }, false},
		{"another StatefulSet was made", func(s *v1alpha1.SeiNodeStatus) { s.StatefulSet = &v1alpha1.ObjectIdentity{UID: "x"} }, false},
		{"a key was reserved", func(s *v1alpha1.SeiNodeStatus) { s.ConsensusAddress = "x" }, false},
		{"an attempt failed", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[1].Attempt++ }, false},
		{"a task failed", func(s *v1alpha1.SeiNodeStatus) { s.Plan.Tasks[1].Status = v1alpha1.TaskFailed }, false},
		{"another plan", func(s *v1alpha1.SeiNodeStatus) { s.Plan.ID = "q" }, false},
		{"the plan ended", func(s *v1alpha1.SeiNodeStatus) { s.Plan = nil }, false},
		{"the generation that was seen", func(s *v1alpha1.SeiNodeStatus) { s.ObservedGeneration++ }, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			stored, derived := waitingStatus(), waitingStatus()
			tc.change(derived)
			if got := node.OnlyProgress(stored, derived); got != tc.want {
				t.Errorf("only progress: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestOnlyProgress_NodeWithoutPlan_HasNone(t *testing.T) {
	stored, derived := waitingStatus(), waitingStatus()
	stored.Plan, derived.Plan = nil, nil
	derived.Conditions[0].Message = "b"
	if node.OnlyProgress(stored, derived) {
		t.Error("the words of a node without a plan are put off")
	}
}

func TestOnlyEnded_Changes_AreToldApart(t *testing.T) {
	at := metav1.NewTime(time.Unix(1, 0))
	stored := func() *v1alpha1.SeiNodeStatus {
		s := waitingStatus()
		s.Phase, s.InitializedAt = v1alpha1.NodeRunning, &at
		s.Conditions = append(s.Conditions,
			metav1.Condition{Type: v1alpha1.ConditionPlanInProgress, Status: metav1.ConditionTrue},
			metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionFalse})
		return s
	}
	ended := func(s *v1alpha1.SeiNodeStatus) {
		s.Plan, s.LastPlan = nil, &v1alpha1.PlanSummary{ID: "p", Outcome: v1alpha1.OutcomeComplete, FinishedAt: at}
		s.CurrentImage, s.Conditions[0].Reason = "x", v1alpha1.ReasonPodNotReady
		s.Conditions[1].Status, s.Conditions[2].Status = metav1.ConditionFalse, metav1.ConditionFalse
	}
	firstPlan := func(s *v1alpha1.SeiNodeStatus) {
		s.Phase, s.InitializedAt, s.StatefulSet = v1alpha1.NodeInitializing, nil, nil
	}
	broughtUp := func(s *v1alpha1.SeiNodeStatus) {
		ended(s)
		s.Phase, s.PhaseTransitionTime, s.InitializedAt = v1alpha1.NodeRunning, &at, &at
		s.StatefulSet, s.Endpoint = &v1alpha1.ObjectIdentity{UID: "sts"}, &v1alpha1.NodeEndpoint{P2P: "n:26656"}
	}
	with := func(change func(*v1alpha1.SeiNodeStatus)) func(*v1alpha1.SeiNodeStatus) {
		return func(s *v1alpha1.SeiNodeStatus) { ended(s); change(s) }
	}
	nothing := func(*v1alpha1.SeiNodeStatus) {}
	for name, c := range map[string]struct {
		before, change func(*v1alpha1.SeiNodeStatus)
		signs, want    bool
	}{
		"the plan completed":             {nothing, ended, false, true},
		"that of a validator":            {nothing, ended, true, true},
		"the first plan completed":       {firstPlan, broughtUp, false, true},
		"that of a validator, its first": {firstPlan, broughtUp, true, false},
		"nothing":                        {nothing, nothing, false, false},
		"the plan failed":                {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.LastPlan.Outcome = v1alpha1.OutcomeFailed }), false, false},
		"the plan was superseded":        {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.LastPlan.Outcome = v1alpha1.OutcomeSuperseded }), false, false},
		"another plan completed":         {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.LastPlan.ID = "q" }), false, false},
		"there was no plan":              {func(s *v1alpha1.SeiNodeStatus) { s.Plan = nil }, ended, false, false},
		"another plan began":             {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.Plan = &v1alpha1.TaskPlan{ID: "q"} }), false, false},
		"the node is in sync":            {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Status = metav1.ConditionTrue }), false, false},
		"the pod crash-loops":            {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.Conditions[0].Reason = v1alpha1.ReasonPodCrashLooping }), false, false},
		"the operator cannot go on":      {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.Conditions[3].Status = metav1.ConditionTrue }), false, false},
		"a key was reserved":             {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.ConsensusAddress = "x" }), false, false},
		"the generation that was seen":   {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.ObservedGeneration++ }), false, false},
		"the node failed":                {nothing, with(func(s *v1alpha1.SeiNodeStatus) { s.Phase = v1alpha1.NodeFailed }), false, false},
	} {
		before, after := stored(), stored()
		c.before(before)
		c.before(after)
		c.change(after)
		if got := node.OnlyEnded(before, after, c.signs); got != c.want {
			t.Errorf("%s: only ended: %t, want %t", name, got, c.want)
		}
	}
}
