package operation

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
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
	w.await("s", complete)
	after := w.AwaitNode("n", ready)
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

// A step that fails leaves the node stopped, and says how to go on; another task does.
func TestStateSync_Failure_LeavesTheNodeHeldAndSaysHowToGoOn(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	repair := w.Sidecars.Program(w.Key("n"), api.ConfigureStateSync, sidecarsim.Outcome{
		Error: api.Terminal(api.CodePrecondition, errors.New("the witnesses disagree")),
	})
	w.Create(stateSync("first", "n"))
	task := w.await("first", failed(v1alpha1.ReasonTaskFailed))
	requireWords(t, task, v1alpha1.ConditionFailed, "the witnesses disagree; the node is stopped behind its gate and its data may be gone: make another")
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
	w.AwaitNode("n", ready)
	if slices.Contains(asked(), api.ResetData) || !w.Sidecars.Ready(w.Key("n")) {
		t.Errorf("asked for %v, open %t", asked(), w.Sidecars.Ready(w.Key("n")))
	}
}

// Once the data was touched, the node is set up before it is let go.
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
