package operation

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Votes begin on all nodes at once, and one that fails leaves the others alone.
func TestFleetVote_OneFails_TheOthersVote(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("val", validator(""), 1))
	on := &chain{}
	for _, name := range []string{"val-0", "val-2"} {
		w.Sidecars.Program(w.Key(name), api.GovVote, sidecarsim.Outcome{Do: on.include})
	}
	w.Sidecars.Program(w.Key("val-1"), api.GovVote, sidecarsim.Outcome{Error: api.Terminal(api.CodeTransactionFailed, errors.New("code=13"))})
	w.Create(onFleet(vote("vote", ""), "val"))
	task := w.await("vote", failed(v1alpha1.ReasonTaskNodeFailed))
	requireWords(t, task, v1alpha1.ConditionFailed, "failed on 1 of 3 nodes; first on val-1: gov-vote: code=13")
	if on.transactions() != 2 || countsOf(task) != (counts{total: 3, complete: 2, failed: 1}) {
		t.Errorf("%d transactions, %+v", on.transactions(), task.Status.Nodes)
	}
}

// A child that somebody deletes is not made again: its node would vote twice.
func TestFleetVote_ChildDeletedByHand_IsNotMadeAgain(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("val", validator(""), 1))
	release := w.Sidecars.Program(w.Key("val-0"), api.GovVote, sidecarsim.Outcome{Hang: true})
	on := &chain{}
	for _, name := range []string{"val-1", "val-2"} {
		w.Sidecars.Program(w.Key(name), api.GovVote, sidecarsim.Outcome{Do: on.include})
	}
	w.Create(onFleet(vote("vote", ""), "val"))
	w.await("vote", counted(counts{total: 3, running: 1, complete: 2}))
	// What is over stays so, and what runs is lost.
	for _, node := range []string{"val-1", "val-0"} {
		w.Delete(w.task(w.childOf("vote", node)))
		envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, w.childOf("vote", node))
	}
	release()
	task := w.await("vote", failed(v1alpha1.ReasonTaskNodeFailed))
	requireWords(t, task, v1alpha1.ConditionFailed, "first on val-0: its SeiNodeTask "+w.childOf("vote", "val-0")+" was deleted")
	if n := len(w.children("vote")); n != 1 || countsOf(task) != (counts{total: 3, complete: 2, failed: 1}) {
		t.Errorf("%d children, %+v", n, task.Status.Nodes)
	}
}

// Deleting the task deletes its children, and they cancel what their nodes are asked to do.
func TestFleetTask_Deleted_CancelsItsChildren(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	for _, name := range threeNodes {
		w.Sidecars.Program(w.Key(name), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	}
	w.Create(onFleet(awaitHeight("a", "", ""), "rpc"))
	ids := map[string]string{}
	for _, node := range threeNodes {
		w.await("a", counted(counts{total: 3, running: 3}))
		ids[node] = w.await(w.childOf("a", node), handedOver).Status.Plan.Tasks[0].ID
	}
	children := w.children("a")
	w.Delete(w.task("a"))
	for _, child := range children {
		envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, child.Name)
	}
	for node, id := range ids {
		if !slices.ContainsFunc(w.Sidecars.Requests(w.Key(node)), func(r sidecarsim.Request) bool {
			return r.Method == http.MethodDelete && r.Path == "/v0/tasks/"+id && r.Status == http.StatusNoContent
		}) {
			t.Errorf("the wait of %s was not cancelled", node)
		}
	}
}

// The time of the task is that of all its nodes: what runs then fails, and what has not begun never
// does.
func TestFleetTask_OutOfTime_FailsWithWhatBecameOfItsNodes(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.Sidecars.Program(w.Key("rpc-1"), api.RestartSeid, sidecarsim.Outcome{Hang: true})
	task := onFleet(restart("r", ""), "rpc")
	task.Spec.TimeoutSeconds = 3
	w.Create(task)
	done := w.await("r", failed(v1alpha1.ReasonTaskTimeout))
	requireWords(t, done, v1alpha1.ConditionFailed, "not completed within 3s: failed on 1 of 3 nodes, not started on 1; first on rpc-1: restart-seid: not completed within")
	if late := done.Status.CompletedAt.Sub(done.Status.StartedAt.Time); late > 30*time.Second {
		t.Errorf("ended after %s", late)
	}
	if ids, _ := w.submitted("rpc-2", api.RestartSeid); ids != 0 {
		t.Error("rpc-2 was restarted")
	}
}

// The set of nodes is the one that the task began with.
func TestFleetTask_FleetGrowsAndShrinks_TheNodesStay(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	for _, name := range threeNodes {
		w.Sidecars.Program(w.Key(name), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	}
	w.Create(onFleet(awaitHeight("a", "", ""), "rpc"))
	w.await("a", counted(counts{total: 3, running: 3}))
	world.Edit(w.World, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 4 })
	w.AwaitNode("rpc-3", ready)
	w.forceReconciles("a", 2)
	if children := w.children("a"); children["rpc-3"] != nil || len(children) != 3 {
		t.Errorf("%d children, one for a node that was made later: %t", len(children), children["rpc-3"] != nil)
	}
	world.Edit(w.World, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 2 })
	task := w.await("a", counted(counts{total: 3, running: 2, failed: 1}))
	if !slices.Equal(task.Status.Nodes.FailedNames, []string{"rpc-2"}) {
		t.Errorf("%+v, want rpc-2 alone to have failed", task.Status.Nodes)
	}
	w.await(w.childOf("a", "rpc-2"), failed(v1alpha1.ReasonTargetDeleted))
}

// A node that goes before it was its turn fails its child at once, and stops a restart.
func TestFleetRestart_NodeGoesBeforeItsTurn_FailsItsChild(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	release := w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(onFleet(restart("r", ""), "rpc"))
	w.await("r", counted(counts{total: 3, pending: 2, running: 1}))
	world.Edit(w.World, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Replicas = 2 })
	child := w.await(w.childOf("r", "rpc-2"), failed(v1alpha1.ReasonTargetDeleted))
	requireWords(t, child, v1alpha1.ConditionFailed, "SeiNode rpc-2 was deleted after SeiNodeTask r had started")
	w.await("r", counted(counts{total: 3, pending: 1, running: 1, failed: 1}))
	release()
	if err := w.Sidecars.LoseStore(w.Key("rpc-0")); err != nil {
		t.Fatal(err)
	}
	w.await("r", failed(v1alpha1.ReasonTaskNodeFailed))
	if ids, _ := w.submitted("rpc-1", api.RestartSeid); ids != 0 {
		t.Error("rpc-1 was restarted")
	}
}

// A fleet that is not there is waited for, and says so.
func TestFleetTask_NoFleet_IsWaitedForAndThenFails(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(patient(onFleet(restart("never", ""), "nobody"), 0))
	requireWords(t, w.await("never", failed(v1alpha1.ReasonTargetNotFound)), v1alpha1.ConditionFailed, "there is no SeiNodeDeployment nobody in this namespace")
	w.Create(onFleet(restart("early", ""), "rpc"))
	w.await("early", func(t *v1alpha1.SeiNodeTask) bool {
		return says(t, v1alpha1.ConditionTargetReady, "there is no SeiNodeDeployment rpc")
	})
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.await("early", complete)
	w.requireEach(t, threeNodes, api.RestartSeid)
}

// Tasks for several nodes that wait, run or are over, and their children, cause no writes.
func TestFleetTask_AtRest_IsSilent(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.Create(onFleet(restart("over", ""), "rpc"))
	w.await("over", complete)
	w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Hang: true})
	w.Create(onFleet(restart("running", ""), "rpc"))
	w.await("running", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, "restarts it") })
	w.await(w.childOf("running", "rpc-0"), handedOver)
	w.Create(onFleet(restart("queued", ""), "rpc"))
	w.await("queued", queuedBehind("running"))
	w.Create(heightOf("unselected", map[string]string{"nobody": "has-it"}))
	w.await("unselected", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionTargetReady, "has no SeiNode") })
	names := []string{"over", "running", "queued", "unselected", w.childOf("running", "rpc-0"), w.childOf("over", "rpc-1")}
	for _, name := range names {
		w.forceReconciles(name, 1)
	}
	mark := w.Recorder.Mark()
	for _, name := range names {
		changed := w.Patches(metrics.NameNodeTaskStatusPatches, name, statuspatch.Changed)
		w.forceReconciles(name, 10)
		if got := w.Patches(metrics.NameNodeTaskStatusPatches, name, statuspatch.Changed); got != changed || changed == 0 {
			t.Errorf("%s: changed patches went from %v to %v", name, changed, got)
		}
	}
	w.Recorder.Since(mark).Writes().In(w.NS).Of("seinodetasks").RequireNone(t, "writes of tasks at rest")
	w.Recorder.Since(mark).Reads().In(w.NS).RequireNone(t, "reads of tasks at rest")
}

// heightOf waits until the nodes with some labels have reached a height.
func heightOf(name string, selector map[string]string) *v1alpha1.SeiNodeTask {
	t := newTask(name, "", v1alpha1.TaskKindAwaitNodesAtHeight)
	t.Spec.Target.Selector, t.Spec.AwaitNodesAtHeight = selector, &v1alpha1.AwaitNodesAtHeight{TargetHeight: 9}
	return t
}

// A selector is waited for until it selects something; those that it selects then are waited for.
func TestSelector_WaitsForTheNodesItSelects(t *testing.T) {
	w := newOperatedWorld(t)
	w.Create(patient(heightOf("never", map[string]string{"group": "blue"}), 0))
	requireWords(t, w.await("never", failed(v1alpha1.ReasonNoNodes)), v1alpha1.ConditionFailed, "the selector group=blue has no SeiNode in this namespace")
	w.bringUp(world.FullNode("a"))
	w.bringUp(world.FullNode("b"))
	w.bringUp(world.FullNode("c"))
	w.Create(heightOf("heights", map[string]string{"group": "green"}))
	w.await("heights", func(t *v1alpha1.SeiNodeTask) bool {
		return t.Status.Phase == v1alpha1.NodeTaskPending && says(t, v1alpha1.ConditionTargetReady, "the selector group=green has no SeiNode")
	})
	w.Sidecars.Program(w.Key("b"), api.AwaitCondition, sidecarsim.Outcome{Hang: true, Times: 1})
	paint := func(name string) {
		world.Edit(w.World, name, &v1alpha1.SeiNode{}, func(n *v1alpha1.SeiNode) { n.Labels = map[string]string{"group": "green"} })
	}
	paint("b")
	w.await("heights", counted(counts{total: 1, running: 1}))
	w.await(w.childOf("heights", "b"), handedOver)
	paint("c") // too late
	if err := w.Sidecars.LoseStore(w.Key("b")); err != nil {
		t.Fatal(err)
	}
	done := w.await("heights", complete)
	if got := done.Status.Nodes.Members; len(got) != 1 || got[0].Name != "b" {
		t.Errorf("members %+v, want 1 of them and Name %q", got, "b")
	}
	w.Create(heightOf("both", map[string]string{"group": "green"}))
	w.await("both", counted(counts{total: 2, complete: 2}))
	if outputs := w.task(w.childOf("both", "c")).Status.Outputs; outputs == nil || outputs.AwaitNodesAtHeight.CurrentHeight != 9 {
		t.Errorf("outputs %+v, want not nil and CurrentHeight 9", outputs)
	}
}
