package operation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// Every kind that can be for a fleet: one child per node, each done once, and the result summed up.
func TestFleetRef_EveryKind_IsDoneOnEachNodeOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUpFleet(fleetOf("rpc", world.FullNode(""), 1))
	w.bringUpFleet(fleetOf("val", validator(""), 1))
	validators := []string{"val-0", "val-1", "val-2"}
	on := &chain{}
	for _, name := range validators {
		w.Sidecars.Program(w.Key(name), api.GovVote, sidecarsim.Outcome{Do: on.include})
	}
	for _, c := range []struct {
		task  *v1alpha1.SeiNodeTask
		nodes []string
		asks  api.TaskType
	}{
		{onFleet(awaitHeight("height", "", ""), "rpc"), threeNodes, api.AwaitCondition},
		{onFleet(vote("vote", ""), "val"), validators, api.GovVote},
		{onFleet(restart("restart", ""), "rpc"), threeNodes, api.RestartSeid},
		{onFleet(stateSync("sync", ""), "rpc"), threeNodes, api.ResetData},
	} {
		w.Create(c.task)
		done := w.await(c.task.Name, complete)
		requireWords(t, done, v1alpha1.ConditionReady, "complete on all 3 nodes")
		if got, want := countsOf(done), (counts{total: 3, complete: 3}); got != want || len(done.Status.Nodes.FailedNames) > 0 {
			t.Errorf("%s: %+v, want %v and no FailedNames", c.task.Name, done.Status.Nodes, want)
		}
		if done.Status.Plan != nil || len(done.Finalizers) != 0 {
			t.Errorf("%s: plan %+v, finalizers %v", c.task.Name, done.Status.Plan, done.Finalizers)
		}
		w.requireEach(t, c.nodes, c.asks)
		for node, child := range w.children(c.task.Name) {
			if !complete(child) || !metav1.IsControlledBy(child, done) || child.Labels[v1alpha1.LabelNode] != node || child.Name != w.childOf(c.task.Name, node) {
				t.Errorf("%s: child %s %+v", c.task.Name, child.Name, child.ObjectMeta)
			}
		}
		w.AwaitEvent(c.task.Name, events.TaskStarted)
		w.AwaitEvent(c.task.Name, events.TaskComplete)
	}
	if got := on.transactions(); got != 3 {
		t.Errorf("%d transactions of 3 validators", got)
	}
}
