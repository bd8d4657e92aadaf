package node

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// D1: a plan is visible in status before its first side effect. The requests of the
// operator are recorded in order: the first status write comes before anything is made.
func TestD1_Plan_IsStoredBeforeItsFirstSideEffect(t *testing.T) {
	w := newOperatedWorld(t)
	mark := w.Recorder.Mark()
	w.bringUp(fullNode("n"))
	writes := w.Recorder.Since(mark).Writes().In(w.NS).Without("events").Where(notTheAuthority)
	order := make([]string, 0, len(writes))
	for _, r := range writes {
		order = append(order, r.Verb+" "+r.Target())
	}
	want := []string{"patch seinodes", "patch seinodes/status", "patch networkpolicies", "create secrets", "patch persistentvolumeclaims"}
	for i := range want {
		if i >= len(order) || order[i] != want[i] {
			t.Fatalf("writes in order %v, want them to begin with %v", order, want)
		}
	}
}

// D4: a failed sidecar task is seen as failed, retried under a new id, and named.
func TestD4_FailedSidecarTask_IsRetriedUnderANewIDAndNamed(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.Program(w.Key("n"), api.ConfigureGenesis, sidecarsim.Outcome{Error: errors.New("bucket is not reachable"), Times: 1})
	w.Create(fullNode("n"))
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		task := plan.Find(n.Status.Plan, domain.StepConfigureGenesis)
		return task != nil && task.RetryCount == 1
	})
	task := plan.Find(n.Status.Plan, domain.StepConfigureGenesis)
	if !strings.Contains(task.Error, "bucket is not reachable") || task.Attempt != 2 || task.RetryAt == nil {
		t.Errorf("task %+v", task)
	}
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "configure-genesis: retrying (attempt 2): bucket is not reachable")
	w.await("n", settled)
	ids := map[string]bool{}
	for _, r := range w.Sidecars.Requests(w.Key("n")) {
		if r.Type == api.ConfigureGenesis {
			ids[r.Task] = true
		}
	}
	if got := count(w.Sidecars.Submissions(w.Key("n")), api.ConfigureGenesis); got != 2 || len(ids) != 2 {
		t.Errorf("%d submissions under %d ids, want 2 and 2", got, len(ids))
	}
}

// D5, D6: a terminal failure names the task and its error; Failed is no dead end.
func TestD6_FailedNode_RecoversByRetryAndBySpecChange(t *testing.T) {
	w := newOperatedWorld(t)
	repair := w.Sidecars.Program(w.Key("n"), api.ConfigApply, sidecarsim.Outcome{
		Error: api.Terminal(api.CodeInvalidParams, errors.New("config validation failed: no such key")),
	})
	w.Create(fullNode("n"))
	failed := func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeFailed && n.Status.Plan == nil }
	n := w.await("n", failed)
	if n.Status.LastPlan.FailedTask != domain.StepConfigApply || !strings.Contains(n.Status.LastPlan.Error, "no such key") {
		t.Errorf("last plan %+v", n.Status.LastPlan)
	}
	wantMessage(t, n, v1alpha1.ConditionReady, "sei.io/retry")
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "failed at step config-apply")

	// The event is told once, however often the node is looked at.
	w.awaitEvent(events.PlanFailed)
	w.forceReconciles("n", 3)
	if got := w.countEvents(events.PlanFailed); got != 1 {
		t.Errorf("%d events PlanFailed, want 1", got)
	}

	w.edit("n", func(n *v1alpha1.SeiNode) { n.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} })
	w.await("n", func(again *v1alpha1.SeiNode) bool {
		return failed(again) && again.Status.LastPlan.ID != n.Status.LastPlan.ID
	})
	repair()
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.PodLabels = map[string]v1alpha1.LabelValue{"changed": "spec"} })
	w.await("n", settled)
}

// A spec edit while the first plan hangs on a bad image starts over with the new one.
func TestInit_BadImage_IsRepairedByEditingTheSpec(t *testing.T) {
	w := newOperatedWorld(t)
	w.Pods.Rule(imageMatch(w.NS, "seid:typo"), pullError())
	node := fullNode("n")
	node.Spec.Image = "seid:typo"
	w.Create(node)
	n := w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonImagePullFailed)
	})
	wantMessage(t, n, v1alpha1.ConditionPlanInProgress, "cannot pull image seid:typo")
	w.edit("n", func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:b" })
	w.await("n", settled)
}

// Bad input: a sidecar that hangs, refuses, answers nonsense or loses its store.
func TestSidecarTrouble_IsWaitedOutAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault sidecarsim.Fault
		says  string
	}{
		{"hangs", sidecarsim.Fault{Hang: true}, "does not answer"},
		{"answers 500", sidecarsim.Fault{Status: 500}, "does not answer"},
		{"answers 401", sidecarsim.Fault{Status: 401}, "refuses the operator's token"},
		{"answers garbage", sidecarsim.Fault{Garbage: true}, "does not answer"},
		{"is somebody else's", sidecarsim.Fault{Status: 421}, "belongs to another pod"},
		// Over with the next look, which finds the task done: nothing that is worth a word.
		{"does it and spoils the answer", sidecarsim.Fault{Status: 500, AfterEffect: true, Method: "POST"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newOperatedWorld(t)
			repair := w.Sidecars.Break(w.Key("n"), c.fault)
			w.Create(fullNode("n"))
			if c.says != "" {
				n := w.await("n", func(n *v1alpha1.SeiNode) bool {
					return is(n, v1alpha1.ConditionPlanInProgress, metav1.ConditionTrue, v1alpha1.ReasonPlanWaiting) &&
						plan.Find(n.Status.Plan, domain.StepConfigureGenesis).Message != ""
				})
				wantMessage(t, n, v1alpha1.ConditionPlanInProgress, c.says)
				repair()
			}
			w.await("n", settled)
			for _, task := range []api.TaskType{api.ConfigureGenesis, api.ConfigApply, api.MarkReady} {
				if got := count(w.Sidecars.Submissions(w.Key("n")), task); got != 1 && c.fault.AfterEffect == false {
					t.Errorf("%s was accepted %d times", task, got)
				}
			}
		})
	}
}

func TestSidecarThatLosesItsStore_GetsTheTaskAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.Sidecars.Program(w.Key("n"), api.ConfigureGenesis, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(fullNode("n"))
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		task := plan.Find(n.Status.Plan, domain.StepConfigureGenesis)
		return task != nil && task.SubmittedAt != nil
	})
	if err := w.Sidecars.LoseStore(w.Key("n")); err != nil {
		t.Fatal(err)
	}
	w.await("n", settled)
}

// The operator can be restarted at any time and continues where it was.
func TestOperatorRestart_InTheMiddleOfAPlan_GoesOnWithIt(t *testing.T) {
	w := newOperatedWorld(t)
	release := w.Pods.Rule(podMatch(w.NS, "n-0", "sidecar"), holdContainer())
	w.Create(fullNode("n"))
	before := w.await("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Plan != nil && n.Status.StatefulSet != nil })
	w.RestartOperator()
	release()
	n := w.await("n", settled)
	if n.Status.LastPlan.ID != before.Status.Plan.ID {
		t.Errorf("plan %s was given up for %s", before.Status.Plan.ID, n.Status.LastPlan.ID)
	}
	for _, task := range []api.TaskType{api.ConfigureGenesis, api.ConfigApply, api.MarkReady} {
		if got := count(w.Sidecars.Submissions(w.Key("n")), task); got != 1 {
			t.Errorf("%s was submitted %d times", task, got)
		}
	}
}

// A pod whose node is lost is Unknown, and nothing is forced.
func TestNodeLoss_IsUnknownAndNothingIsForced(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(fullNode("n"))
	pod := &corev1.Pod{}
	w.Get("n-0", pod)
	mark := w.Recorder.Mark()
	if err := w.Pods.LoseNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	w.await("n", func(n *v1alpha1.SeiNode) bool {
		return is(n, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonPodUnknown)
	})
	w.Recorder.Since(mark).In(w.NS).Verb("delete").RequireNone(t, "deletes after a node was lost")
	if err := w.Pods.RestoreNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	w.await("n", settled)
}

// Cold start with settled nodes writes nothing.
func TestColdStart_SettledNodes_WritesNothing(t *testing.T) {
	w := newOperatedWorld(t)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		w.bringUp(fullNode(name))
	}
	w.Stop()
	mark := w.Recorder.Mark()
	w.StartOperator()
	for _, name := range names {
		w.Eventually("a look at "+name, func() bool { return lastProbe(w, name).After(time.Now().Add(-time.Minute)) })
		w.forceReconciles(name, 2)
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes after a cold start")
}

func lastProbe(w nodes, name string) time.Time {
	var last time.Time
	for _, r := range w.Sidecars.Requests(w.Key(name)) {
		if r.Path == api.PathNode {
			last = r.Time
		}
	}
	return last
}
