package operation

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func stateSync(name, node string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindStateSync)
	t.Spec.StateSync = &v1alpha1.StateSyncTask{RPCServers: []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"}}
	return t
}

// sinceBringUp are the tasks that a node's sidecar has accepted after it was brought up.
func (w tasks) sinceBringUp(node string) func() []api.TaskType {
	before := len(w.Sidecars.Submissions(w.Key(node)))
	return func() []api.TaskType { return w.Sidecars.Submissions(w.Key(node))[before:] }
}

var stateSyncSteps = []api.TaskType{api.MarkNotReady, api.StopSeid, api.ResetData, api.ConfigureStateSync, api.ConfigValidate, api.MarkReady}

func ready(n *v1alpha1.SeiNode) bool {
	return n.Status.Plan == nil && conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

func TestStateSync_StopsResetsAndStartsTheNode_AndItsOwnPlansStayAway(t *testing.T) {
	w := newOperatedWorld(t)
	node := w.bringUp(world.FullNode("n"))
	asked, starts := w.sinceBringUp("n"), len(w.Sidecars.Starts(w.Key("n")))
	w.Create(stateSync("s", "n"))
	done := w.await("s", complete)
	after := w.AwaitNode("n", ready)
	if out := done.Status.Outputs; out == nil || out.StateSync == nil || out.StateSync.Height != 1000 {
		t.Errorf("outputs %+v, want not nil, StateSync not nil and Height 1000", out)
	}
	if got := asked(); !slices.Equal(got, stateSyncSteps) {
		t.Errorf("the sidecar was asked for %v, want %v", got, stateSyncSteps)
	}
	if n := len(w.Sidecars.Starts(w.Key("n"))) - starts; n != 1 {
		t.Errorf("seid was started %d times", n)
	}
	if was, is := node.Status.LastPlan, after.Status.LastPlan; was.ID != is.ID {
		t.Errorf("the node made a plan of its own: %+v", is)
	}
	if v := w.Sidecars.Violations(); len(v) > 0 {
		t.Error(v)
	}
}

// A step that fails leaves the node stopped, and says how to continue; another task does.
func TestStateSync_Failure_LeavesTheNodeHeldAndSaysHowToGoOn(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	repair := w.Sidecars.Program(w.Key("n"), api.ConfigureStateSync, sidecarsim.Outcome{
		Error: api.Terminal(api.CodePrecondition, errors.New("the witnesses disagree")),
	})
	w.Create(stateSync("first", "n"))
	task := w.await("first", failed(v1alpha1.ReasonTaskFailed))
	requireWords(t, task, v1alpha1.ConditionFailed, "the witnesses disagree; seid is stopped, the start gate is closed and its data may be deleted: create another")
	w.AwaitNode("n", func(n *v1alpha1.SeiNode) bool {
		return conditions.Is(n.Status.Conditions, v1alpha1.ConditionSidecarReady, metav1.ConditionFalse, v1alpha1.ReasonGateHeld)
	})
	w.RestartOperator() // a new operator does not open the gate either
	if w.Sidecars.Ready(w.Key("n")) {
		t.Error("the gate is open")
	}
	repair()
	w.Create(stateSync("second", "n"))
	w.await("second", complete)
	w.AwaitNode("n", ready)
}

// Deleting the task before the data was touched gives the node back as it was.
func TestStateSync_DeletedBeforeTheReset_LetsTheNodeGo(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	asked := w.sinceBringUp("n")
	w.Sidecars.Program(w.Key("n"), api.StopSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(stateSync("s", "n"))
	w.Eventually("seid being stopped", func() bool { return slices.Contains(asked(), api.StopSeid) })
	w.Delete(w.task("s"))
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "s")
	w.Eventually("the node's own plan to open the gate", func() bool { return w.Sidecars.Ready(w.Key("n")) })
	w.AwaitNode("n", ready)
	if slices.Contains(asked(), api.ResetData) {
		t.Errorf("asked for %v", asked())
	}
}

// Once the data was touched, the node is set up before it is released.
func TestStateSync_DeletedAfterTheReset_FinishesFirst(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	asked := w.sinceBringUp("n")
	w.Sidecars.Program(w.Key("n"), api.ConfigureStateSync, sidecarsim.Outcome{
		Times: 1, Error: api.Retryable(api.CodeUnavailable, errors.New("a witness does not answer")),
	})
	w.Create(stateSync("s", "n"))
	w.Eventually("state sync being set up", func() bool { return slices.Contains(asked(), api.ConfigureStateSync) })
	w.Delete(w.task("s"))
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "s")
	w.AwaitNode("n", ready)
	if got := asked(); !slices.Contains(got, api.ConfigValidate) || got[len(got)-1] != api.MarkReady {
		t.Errorf("asked for %v", got)
	}
}

// The task is complete when the node is in sync, and a node that is not says in which state it is.
func TestStateSync_NodeThatDoesNotSync_IsNamedWithItsState(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	w.Sidecars.SetSync(w.Key("n"), api.SyncNoPeers, "seid has no peers")
	task := stateSync("s", "n")
	task.Spec.TimeoutSeconds = 5
	w.Create(task)
	waits := w.await("s", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, "await-sync") })
	requireWords(t, waits, v1alpha1.ConditionReady, "the node is not in sync yet (noPeers): seid has no peers")
	over := w.await("s", failed(v1alpha1.ReasonTaskTimeout))
	requireWords(t, over, v1alpha1.ConditionFailed, "not in sync yet (noPeers): seid has no peers; the node keeps running and syncing")
	w.await("s", func(t *v1alpha1.SeiNodeTask) bool { return len(t.Finalizers) == 0 }) // it holds nothing

	w.Create(stateSync("again", "n"))
	w.await("again", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, "await-sync") })
	w.Sidecars.SetInSync(w.Key("n"), true)
	w.await("again", complete)
}

// Deleting a state sync that has failed gives the node back: its own plan sets it up as its spec
// says, and starts it.
func TestStateSync_FailedAndDeleted_TheNodesOwnPlanTakesOver(t *testing.T) {
	for name, c := range map[string]struct {
		snapshot *v1alpha1.SnapshotSource
		fails    api.TaskType
		want     []api.TaskType
	}{
		"data untouched": {nil, api.StopSeid, []api.TaskType{api.MarkReady}},
		"at the genesis": {nil, api.ConfigureStateSync, []api.TaskType{api.MarkReady}},
		"from its own peers": {
			&v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}, RPCServers: []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"}},
			api.ConfigureStateSync, []api.TaskType{api.ConfigureStateSync, api.ConfigValidate, api.MarkReady},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOperatedWorld(t)
			node := world.FullNode("n")
			node.Spec.FullNode.Snapshot = c.snapshot
			w.bringUp(node)
			repair := w.Sidecars.Program(w.Key("n"), c.fails, sidecarsim.Outcome{Error: api.Terminal(api.CodePrecondition, errors.New("no"))})
			w.Create(stateSync("s", "n"))
			w.await("s", failed(v1alpha1.ReasonTaskFailed))
			repair()
			asked := w.sinceBringUp("n")
			w.Delete(w.task("s"))
			w.AwaitEvent("s", events.NodeReleased)
			envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "s")
			w.Eventually("the node's own plan to open the gate", func() bool { return w.Sidecars.Ready(w.Key("n")) })
			w.AwaitNode("n", ready)
			if got := asked(); !slices.Equal(got, c.want) {
				t.Errorf("the node's own plan asked for %v, want %v", got, c.want)
			}
			if v := w.Sidecars.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}
