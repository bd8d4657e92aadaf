package task_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// troubleNow is a whole second, as the times in a pod are.
var troubleNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(troubleNow.Add(-d)) }

// ended is the end of a run that has lasted for a while and ended some time ago.
func ended(code int32, lasted, before time.Duration) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: ago(before + lasted), FinishedAt: ago(before)}
}

// runs is a container that runs for a while, after so many restarts.
func runs(name string, restarts int32, since time.Duration, last *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(since)}},
		LastTerminationState: corev1.ContainerState{Terminated: last},
	}
}

func waits(name, reason string, restarts int32, last *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	c := runs(name, restarts, 0, last)
	c.Image, c.State = "seid:a", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	return c
}

func lacks(name, what string) corev1.ContainerStatus {
	c := waits(name, "CreateContainerConfigError", 0, nil)
	c.State.Waiting.Message = what
	return c
}

func hasEnded(name string, restarts int32, end *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	c := runs(name, restarts, 0, nil)
	c.State = corev1.ContainerState{Terminated: end}
	return c
}

func exit(reason api.ExitReason, code int, before time.Duration) *api.Seid {
	return &api.Seid{State: api.SeidRunning, LastExit: &api.Exit{At: troubleNow.Add(-before), Reason: reason, Code: code}}
}

func TestPodTrouble_ContainerThatDoesNotRun(t *testing.T) {
	const second = time.Second
	loops := "container seid is crash-looping (exit code 1, 1 restart): see kubectl logs n-0 -c seid --previous"
	for name, c := range map[string]struct {
		seid            corev1.ContainerStatus
		told            *api.Seid
		reason, message string
	}{
		"starting": {seid: waits("seid", "ContainerCreating", 0, nil)},
		"no image": {waits("seid", "ImagePullBackOff", 0, nil), nil, v1alpha1.ReasonImagePullFailed, "container seid cannot pull image seid:a: check its name and the pull secrets"},
		"a Secret is missing": {
			lacks("seid", `secret "proxy" not found`), nil, v1alpha1.ReasonContainerConfigFailed,
			`container seid cannot be created: secret "proxy" not found: create what is missing, or correct the spec`,
		},
		"waits in the loop": {waits("seid", "CrashLoopBackOff", 1, ended(1, second, 0)), nil, v1alpha1.ReasonPodCrashLooping, loops},
		"waits, and its end is not known": {
			waits("seid", "CrashLoopBackOff", 5, nil), nil, v1alpha1.ReasonPodCrashLooping,
			"container seid is crash-looping (5 restarts): see kubectl logs n-0 -c seid --previous",
		},
		"crashed for the first time":           {seid: hasEnded("seid", 0, ended(1, second, 0))},
		"crashed again":                        {hasEnded("seid", 1, ended(1, second, 0)), nil, v1alpha1.ReasonPodCrashLooping, loops},
		"crashed again after a long time":      {seid: hasEnded("seid", 1, ended(1, 2*time.Minute, 0))},
		"restarted again":                      {seid: hasEnded("seid", 1, ended(0, second, 0))},
		"restarted again, with an error of it": {seid: hasEnded("seid", 1, ended(1, second, 0)), told: exit(api.ExitStopped, 1, 0)},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c.seid}}}
		got := task.PodTrouble(pod, c.told, troubleNow)
		if got.Reason != c.reason || got.Message != c.message || !got.Until.IsZero() {
			t.Errorf("%s: %+v, want Reason %v, Message %v and IsZero true", name, got, c.reason, c.message)
		}
		pod.DeletionTimestamp = new(metav1.Now())
		if got := task.PodTrouble(pod, c.told, troubleNow); got.Reason != "" {
			t.Errorf("%s: a pod that goes is in trouble: %+v", name, got)
		}
	}
}

// A container that runs between two crashes is still in its crash loop, until it has run for long
// enough.
func TestPodTrouble_ContainerThatRunsAfterACrash(t *testing.T) {
	const second, minute = time.Second, time.Minute
	sidecar, seid := render.ContainerSidecar, render.ContainerSeid
	behindGate := exit(api.ExitCrash, 1, minute)
	behindGate.Since = new(troubleNow.Add(-second))
	for name, c := range map[string]struct {
		container corev1.ContainerStatus
		told      *api.Seid
		// until is how much longer it counts as crash-looping; 0: it does not.
		until time.Duration
	}{
		"the first time":                      {runs(seid, 0, second, nil), nil, 0},
		"after its first crash":               {runs(seid, 1, second, ended(1, second, second)), nil, 0},
		"for a second, after its second":      {runs(seid, 2, second, ended(1, second, second)), nil, 9 * second},
		"its clock is ahead":                  {runs(seid, 2, -second, ended(1, second, 0)), nil, 11 * second},
		"for ten seconds":                     {runs(seid, 2, 10*second, ended(1, second, 10*second)), nil, 0},
		"not for twice as long as before":     {runs(seid, 7, 30*second, ended(1, 20*second, 5*minute)), nil, 10 * second},
		"for twice as long as before":         {runs(seid, 7, 40*second, ended(1, 20*second, 5*minute)), nil, 0},
		"after one that took long":            {runs(seid, 7, minute, ended(1, 90*second, minute)), nil, minute},
		"after one that took two minutes":     {runs(seid, 7, second, ended(1, 2*minute, second)), nil, 0},
		"it was killed":                       {runs(seid, 2, second, ended(137, second, second)), nil, 9 * second},
		"it was restarted":                    {runs(seid, 2, second, ended(0, second, second)), nil, 0},
		"it was restarted by SIGTERM":         {runs(seid, 2, second, ended(143, second, second)), nil, 0},
		"it was restarted by SIGINT":          {runs(seid, 2, second, ended(130, second, second)), nil, 0},
		"restarted, and ended with an error":  {runs(seid, 2, second, ended(1, second, second)), exit(api.ExitStopped, 1, second), 0},
		"an earlier one was a restart":        {runs(seid, 2, second, ended(1, second, second)), exit(api.ExitStopped, 1, minute), 9 * second},
		"a restart in the second it began in": {runs(seid, 2, second, ended(1, 0, second)), exit(api.ExitStopped, 0, second), 9 * second},
		"it stopped for an upgrade":           {runs(seid, 2, second, ended(1, second, second)), exit(api.ExitUpgradeNeeded, 1, second), 0},
		"it crashed and ended with 0":         {runs(seid, 2, second, ended(0, second, second)), exit(api.ExitCrash, 0, second), 9 * second},
		"its disk is full":                    {runs(seid, 2, second, ended(1, second, second)), exit(api.ExitOutOfDisk, 1, second), 9 * second},
		"seid waited for a minute":            {runs(seid, 2, minute, ended(1, second, minute)), behindGate, 9 * second},
		"the sidecar, for a second":           {runs(sidecar, 3, second, ended(2, second, second)), nil, 9 * second},
		"the sidecar, whatever seid ended by": {runs(sidecar, 3, second, ended(2, second, second)), exit(api.ExitStopped, 2, second), 9 * second},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}, Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{c.container},
		}}
		got := task.PodTrouble(pod, c.told, troubleNow)
		if c.until == 0 {
			if got.Reason != "" {
				t.Errorf("%s: %+v, want Reason empty", name, got)
			}
			continue
		}
		if got.Reason != v1alpha1.ReasonPodCrashLooping || got.Message == "" || got.Until.Sub(troubleNow) != c.until {
			t.Errorf("%s: %+v, want it for another %s", name, got, c.until)
		}
		if over := task.PodTrouble(pod, c.told, got.Until); over.Reason != "" {
			t.Errorf("%s: at its end there is %+v", name, over)
		}
	}
}

// The words of a crash loop are the same whether its container waits, has just ended or runs; only
// a restart changes them.
func TestPodTrouble_WordsChangeOnlyWithARestart(t *testing.T) {
	end := ended(1, time.Second, 0)
	words := func(c corev1.ContainerStatus) string {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c}}}
		return task.PodTrouble(pod, nil, troubleNow).Message
	}
	const want = "container seid is crash-looping (exit code 1, 5 restarts): see kubectl logs n-0 -c seid --previous"
	for name, c := range map[string]corev1.ContainerStatus{
		"runs": runs("seid", 5, 0, end), "has ended": hasEnded("seid", 5, end), "waits": waits("seid", "CrashLoopBackOff", 5, end),
	} {
		if got := words(c); got != want {
			t.Errorf("%s: %q, want %v", name, got, want)
		}
	}
}
