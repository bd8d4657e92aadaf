package operation

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func patient(t *v1alpha1.SeiNodeTask, d time.Duration) *v1alpha1.SeiNodeTask {
	t.Spec.Target.RequirePhaseTimeout = &metav1.Duration{Duration: d}
	return t
}

// A task may be made before its node. It says what is missing and begins by itself.
func TestTarget_MissingAndThenInitializing_IsWaitedFor(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(restart("r", "n"))
	task := w.await("r", func(t *v1alpha1.SeiNodeTask) bool {
		return is(t, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound)
	})
	requireWords(t, task, v1alpha1.ConditionReady, "there is no SeiNode n")
	release := w.Sidecars.Program(w.Key("n"), api.ConfigureGenesis, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(world.FullNode("n"))
	task = w.await("r", func(t *v1alpha1.SeiNodeTask) bool {
		return is(t, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonPhaseNotMet) && says(t, v1alpha1.ConditionTargetReady, "phase Initializing")
	})
	if task.Status.Phase != v1alpha1.NodeTaskPending || task.Status.StartedAt != nil || len(task.Finalizers) != 0 {
		t.Errorf("phase %s, started at %v, finalizers %v, want %s, not started and no finalizers",
			task.Status.Phase, task.Status.StartedAt, task.Finalizers, v1alpha1.NodeTaskPending)
	}
	w.Eventually("a task that hangs", func() bool { return slices.Contains(w.Sidecars.Submissions(w.Key("n")), api.ConfigureGenesis) })
	release()
	if err := w.Sidecars.LoseStore(w.Key("n")); err != nil { // ends the task that hangs
		t.Fatal(err)
	}
	done := w.await("r", complete)
	if first := done.Status.TargetFirstObservedAt; first == nil || !first.Equal(task.Status.TargetFirstObservedAt) {
		t.Errorf("first observed at %v, before at %v", first, task.Status.TargetFirstObservedAt)
	}
}

func TestTarget_NotInTime_FailsTheTaskForGood(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(patient(restart("missing", "nobody"), 0))
	w.await("missing", failed(v1alpha1.ReasonTargetNotFound))
	w.AwaitEvent("missing", events.TaskFailed)

	w.Sidecars.Program(w.Key("n"), api.ConfigureGenesis, sidecarsim.Outcome{Hang: true})
	w.Create(world.FullNode("n"))
	w.AwaitNode("n", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeInitializing })
	w.Create(patient(restart("early", "n"), time.Second))
	task := w.await("early", failed(v1alpha1.ReasonPhaseTimeout))
	requireWords(t, task, v1alpha1.ConditionFailed, "is in phase Initializing, but the task needs Running; waited for 1s")
	wantCondition(t, task, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonPhaseTimeout)
	if task.Status.Plan != nil {
		t.Errorf("plan %+v, want none", task.Status.Plan)
	}
}

// A node that goes, or is recreated, takes the tasks that run on it along.
func TestTarget_DeletedWhileTheTaskRuns_FailsTheTask(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.Sidecars.Program(w.Key("n"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Create(awaitHeight("a", "n", ""))
	w.await("a", handedOver)
	node := &v1alpha1.SeiNode{}
	w.Get("n", node)
	w.Delete(node)
	task := w.await("a", failed(v1alpha1.ReasonTargetDeleted))
	wantCondition(t, task, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonTargetDeleted)
	envtest.WaitGone[v1alpha1.SeiNode](t, w.Env, w.NS, "n")
	w.await("a", func(t *v1alpha1.SeiNodeTask) bool { return len(t.Finalizers) == 0 })
}

func TestTarget_ThatCannotBe_IsRefusedAtOnceWithAdvice(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.bringUp(validator("v"))
	snd := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
	snd.Spec.Replicas, snd.Spec.Template.Spec = 1, world.FullNode("").Spec
	w.Create(snd)
	w.AwaitNode("fleet-0", func(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeRunning })
	elsewhere := vote("elsewhere", "n")
	elsewhere.Spec.GovVote.ChainID = "atlantic-2"
	for _, c := range []struct {
		task *v1alpha1.SeiNodeTask
		says string
	}{
		{updateImage("child", "fleet-0", "seid:b"), "change spec.template.spec.image there"},
		{elsewhere, "the transaction is for chain atlantic-2, and SeiNode n is on pacific-1"},
		{vote("unsigned", "n"), "only validators have one"},
		{stateSync("signer", "v"), "has a signing key"},
	} {
		w.Create(c.task)
		requireWords(t, w.await(c.task.Name, failed(v1alpha1.ReasonTargetRefused)), v1alpha1.ConditionFailed, c.says)
	}
	if n := len(w.Sidecars.Submissions(w.Key("n"))); n != len(w.Sidecars.Submissions(w.Key("fleet-0"))) {
		t.Errorf("a task that was refused reached a sidecar: %v", w.Sidecars.Submissions(w.Key("n")))
	}
}
