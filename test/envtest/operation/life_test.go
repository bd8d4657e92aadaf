package operation

import (
	"errors"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Tasks that wait, run or are over are silent: forced reconciles cause no write.
func TestSilence_WaitingRunningAndFinishedTasks_CauseNoWrite(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.Create(restart("over", "n"))
	w.await("over", func(t *v1alpha1.SeiNodeTask) bool { return complete(t) && len(t.Finalizers) == 0 })
	w.Sidecars.Program(w.Key("n"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Create(awaitHeight("running", "n", "SIGTERM_SEID"))
	w.await("running", handedOver)
	w.Create(restart("queued", "n"))
	w.await("queued", queuedBehind("running"))
	w.Create(restart("targetless", "nobody"))
	w.await("targetless", func(t *v1alpha1.SeiNodeTask) bool {
		return is(t, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound)
	})
	names := []string{"over", "running", "queued", "targetless"}
	for _, name := range names {
		w.forceReconciles(name, 1) // a write is counted a moment after it can be seen
	}
	mark := w.Recorder.Mark()
	for _, name := range names {
		changed := w.Patches(metrics.NameNodeTaskStatusPatches, name, statuspatch.Changed)
		w.forceReconciles(name, 20)
		if got := w.Patches(metrics.NameNodeTaskStatusPatches, name, statuspatch.Changed); got != changed || changed == 0 {
			t.Errorf("%s: changed patches went from %v to %v", name, changed, got)
		}
	}
	w.Recorder.Since(mark).Writes().In(w.NS).RequireNone(t, "writes of tasks at rest")
	w.Recorder.Since(mark).Reads().In(w.NS).RequireNone(t, "reads of tasks at rest")
}

func TestTTL_RemovesATaskThatIsOver(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	task := restart("r", "n")
	task.Spec.TTLSecondsAfterFinished = new(int32)
	w.Create(task)
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "r")
	if ids, times := w.submitted("n", api.RestartSeid); ids != 1 || times != 1 {
		t.Errorf("%d submissions under %d ids", times, ids)
	}
	w.Eventually("the series to go", func() bool { return w.Patches(metrics.NameNodeTaskStatusPatches, "r", statuspatch.Changed) == 0 })
}

// A task that runs out of time says so, and what its node was asked to do is cancelled.
func TestTimeout_FailsTheTaskAndCancelsIt(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	w.Sidecars.Program(w.Key("v"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Hang: true})
	waits, votes := awaitHeight("waits", "v", ""), vote("votes", "v")
	waits.Spec.TimeoutSeconds, votes.Spec.TimeoutSeconds = 1, 1
	w.Create(waits)
	w.Create(votes)
	task := w.await("waits", failed(v1alpha1.ReasonTaskTimeout))
	requireWords(t, task, v1alpha1.ConditionFailed, "await-condition: not completed within 1s: the sidecar is working on it")
	voted := w.await("votes", failed(v1alpha1.ReasonInclusionUndetermined))
	requireWords(t, voted, v1alpha1.ConditionFailed, "taskID="+voted.Status.Plan.Tasks[0].ID)
	for _, task := range []*v1alpha1.SeiNodeTask{task, voted} {
		id, gone := task.Status.Plan.Tasks[0].ID, false
		for _, r := range w.Sidecars.Requests(w.Key("v")) {
			gone = gone || r.Method == http.MethodDelete && r.Path == "/v0/tasks/"+id && r.Status == http.StatusNoContent
		}
		if !gone {
			t.Errorf("%s was not cancelled", task.Name)
		}
	}
}

// What no retry can fix ends the task with the sidecar's words; the rest is tried again under the
// same id until it succeeds.
func TestFailure_OfTheSidecar_IsTerminalOnlyIfItSaysSo(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	rejected := errors.New(`checkTx rejected: code=13 codespace="sdk" log=insufficient fee`)
	for _, c := range []struct {
		name, reason, says string
		outcome            sidecarsim.Outcome
	}{
		{"rejected", v1alpha1.ReasonTxFailed, "code=13", sidecarsim.Outcome{Error: api.Terminal(api.CodeTransactionFailed, rejected)}},
		{"key", v1alpha1.ReasonTaskFailed, `a key named "x"`, sidecarsim.Outcome{
			Error: api.Terminal(api.CodePrecondition, errors.New("not found")).WithHint(`check that the keyring has a key named "x"`),
		}},
		{"unverifiable", v1alpha1.ReasonInclusionUndetermined, "no blocks below", sidecarsim.Outcome{
			Error:  api.Terminal(api.CodeTransactionFailed, errors.New("transaction HASH cannot be verified: the node has no blocks below 9")),
			Result: wire.GovTxResult{TxHash: "HASH", InclusionStatus: wire.InclusionUnverifiable},
		}},
	} {
		remove := w.Sidecars.Program(w.Key("v"), api.GovVote, c.outcome)
		w.Create(vote(c.name, "v"))
		requireWords(t, w.await(c.name, failed(c.reason)), v1alpha1.ConditionFailed, c.says)
		remove()
	}
	if task := w.task("unverifiable"); task.Status.Outputs == nil || task.Status.Outputs.GovVote.TxHash != "HASH" {
		t.Errorf("outputs %+v, want Outputs not nil and TxHash %q", task.Status.Outputs, "HASH")
	}

	on := &chain{}
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Do: on.include})
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Times: 1,
		Error: api.Retryable(api.CodeUnavailable, errors.New("querying the node: connection refused"))})
	idsBefore, before := w.submitted("v", api.GovVote)
	w.Create(vote("patient", "v"))
	w.await("patient", func(t *v1alpha1.SeiNodeTask) bool {
		return says(t, v1alpha1.ConditionReady, "retried: querying the node: connection refused")
	})
	w.await("patient", complete)
	if ids, after := w.submitted("v", api.GovVote); after-before != 2 || ids-idsBefore != 1 || on.transactions() != 1 {
		t.Errorf("%d submissions under %d ids, %d transactions", after-before, ids-idsBefore, on.transactions())
	}
}

// A sidecar that is silent, refuses or spoils its answers is waited for, and says so.
func TestSidecarTrouble_IsWaitedOut(t *testing.T) {
	for name, c := range map[string]struct {
		fault sidecarsim.Fault
		says  string
	}{
		"answers 500":                   {sidecarsim.Fault{Status: 500, PathPrefix: "/v0/tasks"}, "does not answer"},
		"answers 403":                   {sidecarsim.Fault{Status: 403, PathPrefix: "/v0/tasks"}, "refuses the operator's token"},
		"hangs":                         {sidecarsim.Fault{Hang: true, PathPrefix: "/v0/tasks"}, "does not answer"},
		"does it and spoils the answer": {sidecarsim.Fault{Status: 500, AfterEffect: true, Method: "POST"}, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOperatedWorld(t)
			w.bringUp(validator("v"))
			on := &chain{}
			w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Do: on.include, Delay: 50 * time.Millisecond})
			repair := w.Sidecars.Break(w.Key("v"), c.fault)
			w.Create(vote("vote", "v"))
			if !c.fault.AfterEffect { // then the next look finds it done
				w.await("vote", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, c.says) })
			}
			if !c.fault.AfterEffect {
				repair()
			}
			w.await("vote", complete)
			if got := on.transactions(); got != 1 {
				t.Errorf("%d transactions", got)
			}
		})
	}
}

// A token that is never accepted is the reason in the end.
func TestSidecarRefusal_UntilTheTimeIsUp_IsTheReason(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	w.Sidecars.Break(w.Key("v"), sidecarsim.Fault{Status: 401, PathPrefix: "/v0/tasks"})
	task := vote("vote", "v")
	task.Spec.TimeoutSeconds = 1
	w.Create(task)
	requireWords(t, w.await("vote", failed(v1alpha1.ReasonSidecarRefuses)), v1alpha1.ConditionFailed, "refuses the operator's token")
}

// A deleted task of a node that does not answer goes all the same, and says that it may still be
// under way there.
func TestDeletion_NodeThatDoesNotAnswer_DelaysItAtMost(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.Sidecars.Program(w.Key("n"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Create(awaitHeight("a", "n", ""))
	w.await("a", handedOver)
	w.Sidecars.Break(w.Key("n"), sidecarsim.Fault{Status: 500, PathPrefix: "/v0/tasks"})
	w.Delete(w.task("a"))
	w.AwaitEvent("a", events.TaskNotCancelled)
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "a")
}

// UpdateNodeImage is the node's own update, and ends when the node is ready with the image.
func TestUpdateNodeImage_EndsWithTheNodesUpdate(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.Create(updateImage("u", "n", "seid:b"))
	done := w.await("u", complete)
	if got := done.Status.Outputs; got == nil || got.UpdateNodeImage.AppliedImage != "seid:b" {
		t.Errorf("outputs %+v, want not nil and AppliedImage %q", got, "seid:b")
	}
	node := &v1alpha1.SeiNode{}
	w.Get("n", node)
	if node.Status.CurrentImage != "seid:b" || node.Status.Plan != nil {
		t.Errorf("the task ended while the node runs %s with plan %+v", node.Status.CurrentImage, node.Status.Plan)
	}
	// The same image again changes nothing.
	mark := w.Recorder.Mark()
	w.Create(updateImage("same", "n", "seid:b"))
	w.await("same", complete)
	w.Recorder.Since(mark).Writes().In(w.NS).Of("seinodes").RequireNone(t, "writes to a node that has the image")

	// Another image ends the task.
	w.Sidecars.Program(w.Key("n"), api.ConfigApply, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(updateImage("late", "n", "seid:c"))
	w.await("late", func(t *v1alpha1.SeiNodeTask) bool {
		return t.Status.Plan != nil && t.Status.Plan.Tasks[0].Status == v1alpha1.TaskComplete
	})
	world.Edit(w.World, "n", &v1alpha1.SeiNode{}, func(n *v1alpha1.SeiNode) { n.Spec.Image = "seid:d" })
	w.await("late", failed(v1alpha1.ReasonSuperseded))
}

// On a node that is past an upgrade, UpdateNodeImage changes the image of the entry in force.
func TestUpdateNodeImage_PastAnUpgrade_ChangesTheEntryInForce(t *testing.T) {
	w := newOperatedWorld(t)
	n := world.FullNode("n")
	n.Spec.Upgrades = []v1alpha1.ChainUpgrade{{Name: "v7", Image: "seid:v7"}}
	w.Sidecars.SetHandlers("seid:v7", "v7")
	w.Sidecars.SetHandlers("seid:v7.1", "v7")
	w.bringUp(n)
	w.Sidecars.Plan(w.Key("n"), &api.Upgrade{Name: "v7", Height: 100})
	if err := w.Sidecars.ReachUpgrade(w.Key("n")); err != nil {
		t.Fatal(err)
	}
	w.AwaitNode("n", func(n *v1alpha1.SeiNode) bool {
		return n.Status.CurrentImage == "seid:v7" && conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
	w.Create(updateImage("u", "n", "seid:v7.1"))
	w.await("u", complete)
	got := &v1alpha1.SeiNode{}
	w.Get("n", got)
	if got.Spec.Image != "seid:a" || got.Spec.Upgrades[0].Image != "seid:v7.1" || got.Status.CurrentImage != "seid:v7.1" {
		t.Errorf("spec %+v, the node runs %s", got.Spec, got.Status.CurrentImage)
	}
}

// MarkReady opens a gate that somebody holds, for what is on disk, and the node's own plans stay
// away until then.
func TestMarkReady_OpensAGateThatIsHeld(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	w.submit("v", api.MarkNotReady)
	w.submit("v", api.StopSeid)
	w.Create(restart("restart", "v"))
	w.await("restart", func(t *v1alpha1.SeiNodeTask) bool {
		return says(t, v1alpha1.ConditionReady, "holds the node's start gate closed")
	})
	w.Delete(w.task("restart"))
	task := newTask("open", "v", v1alpha1.TaskKindMarkReady)
	task.Spec.MarkReady = &v1alpha1.MarkReady{}
	w.Create(task)
	w.await("open", complete)
	if !w.Sidecars.Ready(w.Key("v")) || len(w.Sidecars.Violations()) > 0 {
		t.Errorf("open %t, violations %v", w.Sidecars.Ready(w.Key("v")), w.Sidecars.Violations())
	}
}

// Operators that come and go, and a sidecar that loses its store while it works, make one
// transaction under one id.
func TestGovernance_OperatorAndStoreLost_OneTransaction(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	on := &chain{}
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Do: on.include, Delay: 200 * time.Millisecond})
	w.Create(vote("vote", "v"))
	w.await("vote", func(t *v1alpha1.SeiNodeTask) bool { return t.Status.Plan != nil })
	w.RestartOperator()
	w.await("vote", handedOver)
	w.RestartOperator()
	if err := w.Sidecars.LoseStore(w.Key("v")); err != nil {
		t.Fatal(err)
	}
	w.RestartOperator()
	w.await("vote", complete)
	if ids, _ := w.submitted("v", api.GovVote); ids != 1 || on.transactions() != 1 {
		t.Errorf("%d ids, %d transactions", ids, on.transactions())
	}
}
