package operation

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	domain "github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// A restart of a fleet takes one node after the other, and the next only when the last one is in
// sync again.
func TestFleetRestart_OneAfterTheOther_EachInSyncFirst(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	restarted := w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(onFleet(restart("r", ""), "rpc"))
	w.await(w.childOf("r", "rpc-0"), handedOver)
	w.Sidecars.SetInSync(w.Key("rpc-0"), false)
	restarted()
	if err := w.Sidecars.LoseStore(w.Key("rpc-0")); err != nil { // ends the restart that hangs
		t.Fatal(err)
	}
	w.await(w.childOf("r", "rpc-0"), func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, "not in sync yet") })
	task := w.await("r", counted(counts{total: 3, pending: 2, running: 1}))
	requireWords(t, w.await("r", func(t *v1alpha1.SeiNodeTask) bool { return says(t, v1alpha1.ConditionReady, "restarts it") }), v1alpha1.ConditionReady, "waiting for rpc-0")
	if children := w.children("r"); len(children) != 1 || !is(task, v1alpha1.ConditionTargetReady, metav1.ConditionTrue, v1alpha1.ReasonPhaseMet) {
		t.Errorf("%d children; %+v", len(children), task.Status.Conditions)
	}
	w.Sidecars.SetInSync(w.Key("rpc-0"), true)
	w.await("r", complete)
	ends := w.children("r")
	for i := 1; i < 3; i++ {
		before, after := ends[threeNodes[i-1]].Status, ends[threeNodes[i]].Status
		if after.StartedAt.Before(before.CompletedAt) {
			t.Errorf("%s began at %s, before %s ended at %s", threeNodes[i], after.StartedAt, threeNodes[i-1], before.CompletedAt)
		}
	}
	w.requireEach(t, threeNodes[1:], api.RestartSeid)
	if ids, _ := w.submitted("rpc-0", api.RestartSeid); ids != 1 { // the store that was lost takes the same one again
		t.Errorf("rpc-0 was restarted under %d ids", ids)
	}
}

// With a larger budget that many are restarted at once, and never more.
func TestFleetRestart_LargerBudget_IsUsedAndKept(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 2))
	releases := make([]func(), 0, len(threeNodes))
	for _, name := range threeNodes {
		releases = append(releases, w.Sidecars.Program(w.Key(name), api.RestartSeid, sidecarsim.Outcome{Hang: true}))
	}
	w.Create(onFleet(restart("r", ""), "rpc"))
	w.await("r", counted(counts{total: 3, pending: 1, running: 2}))
	w.forceReconciles("r", 5)
	if got := w.begunChildren("r"); !slices.Equal(got, threeNodes[:2]) {
		t.Errorf("begun on %v", got)
	}
	for i, name := range threeNodes {
		releases[i]()
		if i < 2 {
			if err := w.Sidecars.LoseStore(w.Key(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.await("r", complete)
}

// The first node that fails stops a restart: nobody else is restarted, and the task says how many
// failed, which one first, and why.
func TestFleetRestart_FirstFailure_StopsTheRest(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.Sidecars.Program(w.Key("rpc-1"), api.RestartSeid, sidecarsim.Outcome{Error: api.Terminal(api.CodePrecondition, errors.New("seid is not there"))})
	w.Create(onFleet(restart("r", ""), "rpc"))
	task := w.await("r", failed(v1alpha1.ReasonTaskNodeFailed))
	requireWords(t, task, v1alpha1.ConditionFailed, "failed on 1 of 3 nodes, not started on 1; first on rpc-1: restart-seid: seid is not there")
	if countsOf(task) != (counts{total: 3, pending: 1, complete: 1, failed: 1}) || !slices.Equal(task.Status.Nodes.FailedNames, []string{"rpc-1"}) {
		t.Errorf("%+v, want of 3 one pending, one complete, and rpc-1 failed", task.Status.Nodes)
	}
	if ids, _ := w.submitted("rpc-2", api.RestartSeid); ids != 0 || len(w.children("r")) != 2 {
		t.Errorf("rpc-2 was restarted %d times, %d children", ids, len(w.children("r")))
	}
}

// A child that has not begun when the task stops is withdrawn and never begins.
func TestFleetRestart_Failure_WithdrawsWhatHasNotBegun(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 2))
	w.Sidecars.Program(w.Key("rpc-1"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Create(awaitHeight("first", "rpc-1", "SIGTERM_SEID"))
	w.await("first", handedOver)
	fail := w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(onFleet(restart("r", ""), "rpc"))
	w.await("r", counted(counts{total: 3, pending: 2, running: 1}))
	w.await(w.childOf("r", "rpc-1"), queuedBehind("first"))
	w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Error: api.Terminal(api.CodePrecondition, errors.New("no"))})
	fail()
	if err := w.Sidecars.LoseStore(w.Key("rpc-0")); err != nil {
		t.Fatal(err)
	}
	task := w.await("r", failed(v1alpha1.ReasonTaskNodeFailed))
	if countsOf(task) != (counts{total: 3, pending: 2, failed: 1}) {
		t.Errorf("%+v, want of 3 two pending and one failed", task.Status.Nodes)
	}
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, w.childOf("r", "rpc-1"))
	if ids, _ := w.submitted("rpc-1", api.RestartSeid); ids != 0 {
		t.Error("a node was restarted after the task had stopped")
	}
}

// A rollout goes first: no node is restarted while one is in progress.
func TestFleetRestart_DuringARollout_Waits(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	release := w.Sidecars.Program(w.Key("rpc-0"), api.ConfigApply, sidecarsim.Outcome{Hang: true, Times: 1})
	world.Edit(w.World, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	w.awaitFleet("rpc", func(s *v1alpha1.SeiNodeDeployment) bool { return s.Status.Rollout != nil })
	w.Create(onFleet(restart("r", ""), "rpc"))
	w.await("r", func(t *v1alpha1.SeiNodeTask) bool {
		return says(t, v1alpha1.ConditionReady, "waiting for the rollout of SeiNodeDeployment rpc to end")
	})
	if n := len(w.children("r")); n != 0 {
		t.Errorf("%d children during a rollout", n)
	}
	release()
	w.Eventually("the step that hangs", func() bool { return slices.Contains(w.Sidecars.Submissions(w.Key("rpc-0")), api.ConfigApply) })
	w.Eventually("a sidecar that can lose its store", func() bool { return w.Sidecars.LoseStore(w.Key("rpc-0")) == nil })
	w.await("r", complete)
	snd := &v1alpha1.SeiNodeDeployment{}
	w.Get("rpc", snd)
	for _, name := range threeNodes {
		node := &v1alpha1.SeiNode{}
		w.Get(name, node)
		if node.Status.CurrentImage != "seid:b" {
			t.Errorf("%s runs %s", name, node.Status.CurrentImage)
		}
	}
}

// A rollout that begins while a task restarts a node keeps its hands off the others until the node
// is back.
func TestFleetRestart_RolloutThatBeginsMeanwhile_CountsTheNodeThatIsRestarted(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	release := w.Sidecars.Program(w.Key("rpc-1"), api.RestartSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(restart("one", "rpc-1"))
	w.await("one", handedOver)
	world.Edit(w.World, "rpc", &v1alpha1.SeiNodeDeployment{}, func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Template.Spec.Image = "seid:b" })
	w.awaitFleet("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.Rollout != nil
	})
	for _, name := range []string{"rpc-0", "rpc-2"} {
		node := &v1alpha1.SeiNode{}
		w.Get(name, node)
		if node.Spec.Image != "seid:a" {
			t.Errorf("%s was moved while a task restarts rpc-1", name)
		}
	}
	release()
	if err := w.Sidecars.LoseStore(w.Key("rpc-1")); err != nil {
		t.Fatal(err)
	}
	w.await("one", complete)
	w.awaitFleet("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return s.Status.Rollout == nil && s.Status.UpdatedReplicas == 3 && conditions.Is(s.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// Two restarts of one fleet are done one after the other.
func TestFleetRestart_TwoTasks_Queue(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	release := w.Sidecars.Program(w.Key("rpc-0"), api.RestartSeid, sidecarsim.Outcome{Hang: true, Times: 1})
	w.Create(onFleet(restart("first", ""), "rpc"))
	w.await("first", counted(counts{total: 3, pending: 2, running: 1}))
	w.Create(onFleet(restart("second", ""), "rpc"))
	w.await("second", queuedBehind("first"))
	release()
	if err := w.Sidecars.LoseStore(w.Key("rpc-0")); err != nil {
		t.Fatal(err)
	}
	first, second := w.await("first", complete), w.await("second", complete)
	if second.Status.StartedAt.Before(first.Status.CompletedAt) {
		t.Errorf("the second began at %s, before the first ended at %s", second.Status.StartedAt, first.Status.CompletedAt)
	}
}

// A task for validators that would throw their data away is refused before a child is made.
func TestFleetStateSync_OfValidators_IsRefused(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("val", validator(""), 1))
	w.Create(onFleet(stateSync("s", ""), "val"))
	requireWords(t, w.await("s", failed(v1alpha1.ReasonTargetRefused)), v1alpha1.ConditionFailed, "SeiNode val-0 has a signing key")
	if n := len(w.children("s")); n != 0 {
		t.Errorf("%d children", n)
	}
}

// Operators that come and go while a fleet is restarted restart each node once.
func TestFleetRestart_OperatorsComeAndGo_EachNodeOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.Create(onFleet(restart("r", ""), "rpc"))
	for i := range 3 {
		w.await("r", func(t *v1alpha1.SeiNodeTask) bool { return t.Status.Nodes != nil && int(t.Status.Nodes.Complete) >= i })
		w.RestartOperator()
	}
	w.await("r", complete)
	w.requireEach(t, threeNodes, api.RestartSeid)
	list := &v1alpha1.SeiNodeTaskList{}
	if err := w.Client.List(t.Context(), list, client.InNamespace(w.NS)); err != nil || len(list.Items) != 4 {
		t.Errorf("%d tasks, %v", len(list.Items), err)
	}
	for i := range list.Items {
		if domain.ForSeveral(&list.Items[i].Spec) != (list.Items[i].Name == "r") {
			t.Errorf("%s: %+v, want ForSeveral %v", list.Items[i].Name, list.Items[i].Spec.Target, (list.Items[i].Name == "r"))
		}
	}
}
