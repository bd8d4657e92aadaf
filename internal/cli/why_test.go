package cli

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

func anEvent(kind, name, eventType, reason, note string, age time.Duration) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: fmt.Sprintf("%s.%s.%d", name, reason, age)},
		EventTime:  metav1.NewMicroTime(now.Add(-age)), Type: eventType, Reason: reason, Note: note,
		Regarding: corev1.ObjectReference{Kind: kind, Name: name, Namespace: testNamespace},
	}
}

// troubled is rpc-1 in the middle of an update whose image cannot be pulled.
func troubled(t *testing.T) *plugin {
	t.Helper()
	fleet, node := aFleet(), member(1)
	fleet.Status.Rollout = &seiv1.RolloutStatus{Reason: seiv1.RolloutTemplateChanged, StartedAt: ago(5 * time.Minute), Updated: 1, Total: 3}
	node.Spec.Image, node.Status.Plan = newImage, anUpdate()
	node.Status.LastPlan = &seiv1.PlanSummary{ID: "1", Reason: "ConfigChanged", Outcome: seiv1.OutcomeSuperseded, FinishedAt: ago(10 * time.Minute)}
	node.Status.Conditions = []metav1.Condition{
		condition(seiv1.ConditionReady, metav1.ConditionFalse, "ImagePullFailed", "the image "+newImage+" cannot be pulled: not found"),
		condition(seiv1.ConditionInSync, metav1.ConditionFalse, "ImagePullFailed", "the image "+newImage+" cannot be pulled: not found"),
		condition(seiv1.ConditionSigningKeyReady, metav1.ConditionTrue, seiv1.ReasonNotApplicable, "the node does not sign"),
		condition(seiv1.ConditionReconciling, metav1.ConditionTrue, "ImageChanged", "the spec asks for image "+newImage),
		condition(seiv1.ConditionStalled, metav1.ConditionFalse, "Progressing", ""),
		condition(seiv1.ConditionSidecarReady, metav1.ConditionFalse, "Unreachable", "the sidecar does not answer"),
	}
	pod := aPod(node)
	pod.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "seid", RestartCount: 2,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image " + newImage}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", Message: "panic:\n  out of disk", FinishedAt: ago(4 * time.Minute),
		}},
	}
	repeated := anEvent("Pod", "rpc-1-0", "Warning", "Failed", "Failed to pull image: not found", 30*time.Second)
	repeated.Series = &eventsv1.EventSeries{Count: 4, LastObservedTime: metav1.NewMicroTime(now.Add(-20 * time.Second))}
	return newPlugin(t, fleet, node, pod, repeated,
		anEvent("SeiNode", "rpc-1", "Normal", "PlanStarted", "plan ImageChanged", 3*time.Minute),
		anEvent("SeiNode", "rpc-1", "Warning", "PlanFailed", "plan ConfigChanged failed", 11*time.Minute),
		anEvent("SeiNodeDeployment", "rpc", "Normal", "RolloutStarted", "1 of 3", 5*time.Minute),
		anEvent("ConfigMap", "rpc-1", "Warning", "Other", "not about the node", time.Minute),
	)
}

func TestWhy_AnUpdateThatHangs_NamesStepsPodAndWarnings(t *testing.T) {
	p := troubled(t)
	golden(t, "why.txt", p.mustRun(t, "why", "rpc-1"))
	golden(t, "why.yaml", p.mustRun(t, "why", "rpc-1", "-o", "yaml"))
}

func TestWhy_NothingIsMissing_SaysSo(t *testing.T) {
	p := newPlugin(t, aNode("val"))
	golden(t, "why-ready.txt", p.mustRun(t, "why", "node/val"))
}

// Warnings that were over when the node became Ready, an hour ago, are no longer its trouble.
func TestWhy_AReadyNode_HasOnlyWarningsSinceThen(t *testing.T) {
	p := newPlugin(t, aNode("val"),
		anEvent("SeiNode", "val", "Warning", "SpecInvalid", "spec.overrides: unknown override key", 61*time.Minute),
		anEvent("SeiNode", "val", "Warning", "SidecarUnreachable", "the sidecar does not answer", time.Minute))
	golden(t, "why-ready-warning.txt", p.mustRun(t, "why", "val"))
}

func TestWhy_WhatSeveralConditionsAndAWarningSay_IsSaidOnce(t *testing.T) {
	node := aNode("val")
	const message = `spec.overrides: unknown override key "mempool.sise": did you mean "mempool.size"?`
	node.Status.Conditions = []metav1.Condition{
		condition(seiv1.ConditionReady, metav1.ConditionFalse, seiv1.ReasonSpecInvalid, "the node is in sync on an earlier spec: "+message),
		condition(seiv1.ConditionSpecValid, metav1.ConditionFalse, seiv1.ReasonSpecInvalid, message),
		condition(seiv1.ConditionStalled, metav1.ConditionTrue, seiv1.ReasonSpecInvalid, message),
		condition(seiv1.ConditionSidecarReady, metav1.ConditionFalse, "Unreachable", "the sidecar does not answer"),
	}
	pod := aPod(node)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(2 * time.Minute)}}
	p := newPlugin(t, node, pod,
		anEvent("SeiNode", "val", "Warning", "SpecInvalid", message, time.Minute),
		anEvent("Pod", "val-0", "Warning", "Unhealthy", "before the pod was ready", 3*time.Minute),
		anEvent("Pod", "val-0", "Warning", "Unhealthy", "after the pod was ready", time.Minute))
	golden(t, "why-invalid.txt", p.mustRun(t, "why", "val"))
}

func TestWhy_TheLastPlanFailed_NamesItsTask(t *testing.T) {
	node := aNode("val")
	node.Status.LastPlan = &seiv1.PlanSummary{
		ID: "1", Reason: "Initializing", Outcome: seiv1.OutcomeFailed, FinishedAt: ago(time.Minute), FailedTask: "snapshot-restore", Error: "no such bucket",
	}
	node.Status.Conditions = []metav1.Condition{
		condition(seiv1.ConditionReady, metav1.ConditionFalse, "InitFailed", "the node was not brought up"),
		condition(seiv1.ConditionStalled, metav1.ConditionTrue, "InitFailed", "set the annotation sei.io/retry to try again"),
	}
	p := newPlugin(t, node)
	golden(t, "why-failed.txt", p.mustRun(t, "why", "val"))
	golden(t, "plan-failed.txt", p.mustRun(t, "plan", "val"))
}

func TestWhy_AFleet_IsRefused(t *testing.T) {
	p := troubled(t)
	if _, err := p.run(t, "why", "fleet/rpc"); err == nil {
		t.Error("a fleet was accepted")
	}
}

func TestPlan_ShowsStepsWithTheirTimes(t *testing.T) {
	p := troubled(t)
	golden(t, "plan.txt", p.mustRun(t, "plan", "rpc-1"))
	golden(t, "plan-wide.txt", p.mustRun(t, "plan", "rpc-1", "-o", "wide"))
	golden(t, "plan.json", p.mustRun(t, "plan", "rpc-1", "-o", "json"))
}

func TestHistory_OfANodeAndOfAFleet_IsSortedByTime(t *testing.T) {
	p := troubled(t)
	for _, task := range someTasks() {
		task.SetResourceVersion("")
		if err := p.cluster.Client.Create(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "history-node.txt", p.mustRun(t, "history", "rpc-1"))
	golden(t, "history-fleet.txt", p.mustRun(t, "history", "fleet/rpc", "-o", "wide"))
	golden(t, "history-node.json", p.mustRun(t, "history", "rpc-1", "-o", "json"))
}

func TestIsTrouble_OfEachKindOfCondition(t *testing.T) {
	tests := []struct {
		c    metav1.Condition
		want bool
	}{
		{condition(seiv1.ConditionSpecValid, metav1.ConditionFalse, seiv1.ReasonSpecInvalid, ""), true},
		{condition(seiv1.ConditionSpecValid, metav1.ConditionTrue, seiv1.ReasonSpecValid, ""), false},
		{condition(seiv1.ConditionSigningKeyReady, metav1.ConditionFalse, seiv1.ReasonNotApplicable, ""), false},
		{condition(seiv1.ConditionPaused, metav1.ConditionTrue, seiv1.ReasonPaused, ""), true},
		{condition(seiv1.ConditionPaused, metav1.ConditionFalse, seiv1.ReasonNotPaused, ""), false},
		{condition(seiv1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, seiv1.ReasonPendingRestart, ""), true},
		{condition(seiv1.ConditionNodeUpdateInProgress, metav1.ConditionFalse, seiv1.ReasonUpToDate, ""), false},
		{condition(seiv1.ConditionPlanInProgress, metav1.ConditionFalse, seiv1.ReasonNoPlan, ""), false},
		{condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonImageKnown, ""), false},
		{condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionTrue, seiv1.ReasonImagePullFailed, ""), true},
		{condition(seiv1.ConditionUpgradeScheduled, metav1.ConditionFalse, seiv1.ReasonNothingScheduled, ""), false},
	}
	for _, test := range tests {
		if got := isTrouble(test.c); got != test.want {
			t.Errorf("%s %s %s: %v, want %v", test.c.Type, test.c.Status, test.c.Reason, got, test.want)
		}
	}
}
