package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Why says what a node is missing, and because of what.
type Why struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Ready, Reason and Message are those of condition Ready.
	Ready   string       `json:"ready"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Because is why there is a plan: the fact that differs from the spec.
	Because string `json:"because,omitempty"`
	// Missing are the steps that have not been done.
	Missing []MissingStep `json:"missing,omitempty"`
	// Conditions are the unhealthy ones, without Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Upgrade is the upgrade that its chain has scheduled, or that it has stopped for.
	Upgrade *UpgradeDetail `json:"upgrade,omitempty"`
	// NoEstimate is why its time is not known; empty when it is.
	NoEstimate string `json:"noEstimate,omitempty"`
	// Pods are what is wrong with the node's pods, in words.
	Pods []string `json:"pods,omitempty"`
	// Warnings are events of the node and its pods, newest last.
	Warnings []HistoryEntry `json:"warnings,omitempty"`
}

// MissingStep is a step that has not been done.
type MissingStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
	// Because is what the step waits for, or its last error; empty when it waits for those before it.
	Because string `json:"because,omitempty"`
}

// shownWarnings is how many warnings are shown.
const shownWarnings = 5

func whyOf(node *seiv1.SeiNode, pods []*corev1.Pod, warnings []HistoryEntry, now time.Time) *Why {
	w := &Why{Namespace: node.Namespace, Name: node.Name, Ready: "Unknown", Message: "no operator has looked at the node yet"}
	if ready := meta.FindStatusCondition(node.Status.Conditions, seiv1.ConditionReady); ready != nil {
		w.Ready, w.Reason, w.Message, w.Since = string(ready.Status), ready.Reason, ready.Message, &ready.LastTransitionTime
	}
	w.Because, w.Missing = missingSteps(node, now)
	for _, c := range node.Status.Conditions {
		if c.Type != seiv1.ConditionReady && c.Message != w.Message && isTrouble(c) {
			w.Conditions = append(w.Conditions, c)
		}
	}
	for _, pod := range pods {
		w.Pods = append(w.Pods, podTroubles(pod, now)...)
	}
	telling := slices.DeleteFunc(slices.Clone(warnings), func(e HistoryEntry) bool { return w.repeats(e) || w.isOver(e, pods) })
	w.Warnings = telling[max(0, len(telling)-shownWarnings):]
	return w
}

// repeats reports whether a warning says what a condition says.
func (w *Why) repeats(e HistoryEntry) bool {
	return slices.ContainsFunc(w.Conditions, func(c metav1.Condition) bool { return c.Message != "" && c.Message == e.Detail })
}

// isOver reports whether the node, or the pod that a warning is about, has become ready since. History has such warnings, too.
func (w *Why) isOver(e HistoryEntry, pods []*corev1.Pod) bool {
	if w.Ready == "True" && w.Since != nil && e.Time.Before(w.Since) {
		return true
	}
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return e.Object == "pod/"+pod.Name && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && e.Time.Before(&c.LastTransitionTime)
		})
	})
}

// missingSteps are those of the plan that is under way, or the one at which the last plan failed.
func missingSteps(node *seiv1.SeiNode, now time.Time) (string, []MissingStep) {
	plan, last := node.Status.Plan, node.Status.LastPlan
	switch {
	case plan == nil && last != nil && last.Outcome == seiv1.OutcomeFailed:
		return fmt.Sprintf("%s: the last plan failed %s ago", last.Reason, duration.HumanDuration(now.Sub(last.FinishedAt.Time))),
			[]MissingStep{{Step: last.FailedTask, Status: string(seiv1.TaskFailed), Because: last.Error}}
	case plan == nil:
		return "", nil
	}
	var missing []MissingStep
	for i := range plan.Tasks {
		task := &plan.Tasks[i]
		if task.Status == seiv1.TaskComplete {
			continue
		}
		status := string(task.Status)
		if task.StartedAt != nil {
			status += " for " + duration.HumanDuration(now.Sub(task.StartedAt.Time))
		}
		missing = append(missing, MissingStep{task.Type, status, cmp.Or(task.Message, task.Error)})
	}
	return plan.Reason + ": " + plan.Message, missing
}

// Conditions that are a trouble when they are True. Of the others, those in neither list are a trouble
// when they are not True.
var (
	troubleWhenTrue = []string{seiv1.ConditionStalled, seiv1.ConditionUpgradeImageMissing, seiv1.ConditionUpgradeFailed, seiv1.ConditionPaused}
	neverTrouble    = []string{seiv1.ConditionReconciling, seiv1.ConditionPlanInProgress}
)

// isTrouble reports whether a condition of a node says that something is not as it should be.
func isTrouble(c metav1.Condition) bool {
	switch {
	case c.Reason == seiv1.ReasonNotApplicable, slices.Contains(neverTrouble, c.Type):
		return false
	case c.Type == seiv1.ConditionNodeUpdateInProgress:
		return c.Reason == seiv1.ReasonUpdateFailed || c.Reason == seiv1.ReasonPendingRestart
	case c.Type == seiv1.ConditionUpgradeScheduled:
		return c.Reason == seiv1.ReasonImagePullFailed
	case slices.Contains(troubleWhenTrue, c.Type):
		return c.Status == metav1.ConditionTrue
	default:
		return c.Status != metav1.ConditionTrue
	}
}

// podTroubles says which containers of a pod do not run, or have not run well, and why.
func podTroubles(pod *corev1.Pod, now time.Time) []string {
	var found []string
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			found = append(found, fmt.Sprintf("%s is not scheduled: %s", pod.Name, c.Message))
		}
	}
	for i := range pod.Status.ContainerStatuses {
		found = append(found, containerTroubles(pod.Name, &pod.Status.ContainerStatuses[i], now)...)
	}
	for i := range pod.Status.InitContainerStatuses {
		found = append(found, containerTroubles(pod.Name, &pod.Status.InitContainerStatuses[i], now)...)
	}
	return found
}

func containerTroubles(pod string, c *corev1.ContainerStatus, now time.Time) []string {
	var found []string
	if reason := containerTrouble(c); reason != "" {
		words := fmt.Sprintf("%s: container %s: %s", pod, c.Name, reason)
		if w := c.State.Waiting; w != nil && w.Message != "" {
			words += ": " + w.Message
		}
		found = append(found, words)
	}
	if t := c.LastTerminationState.Terminated; t != nil && t.ExitCode != 0 {
		words := fmt.Sprintf("%s: container %s ended %s ago with exit code %d (%s), %d restarts", pod, c.Name,
			duration.HumanDuration(now.Sub(t.FinishedAt.Time)), t.ExitCode, t.Reason, c.RestartCount)
		if t.Message != "" {
			words += ": " + strings.Join(strings.Fields(t.Message), " ")
		}
		found = append(found, words)
	}
	return found
}
