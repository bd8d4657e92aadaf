package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// taskPromises are those of the samples of SeiNodeTasks.
var taskPromises = map[string]samplePromise{
	"seinodetask-await-caught-up.yaml": {make: withRPC, kept: func(w fleets) {
		if got := w.taskIsComplete("await-caught-up").Outputs.AwaitCondition.ObservedValue; got != "false" {
			w.T.Errorf("catching up: %s", got)
		}
	}},
	"seinodetask-await-height.yaml": {make: withRPC, kept: func(w fleets) {
		if got := w.taskIsComplete("await-height").Outputs.AwaitCondition.ObservedValue; got != "155000000" {
			w.T.Errorf("height %s, want %q", got, "155000000")
		}
		w.Eventually("seid to be ended, and to start again", func() bool {
			return len(w.Sidecars.Starts(w.Key("rpc"))) == 2 && w.Sidecars.Process(w.Key("rpc")).LastExit.Reason == api.ExitStopped
		})
	}},
	"seinodetask-await-nodes-at-height.yaml": {make: withRPC, kept: func(w fleets) {
		if got := w.taskIsComplete("await-nodes-at-height").Outputs.AwaitNodesAtHeight.CurrentHeight; got != 160000000 {
			w.T.Errorf("height %d, want 160000000", got)
		}
	}},
	"seinodetask-await-selected-at-height.yaml": {make: withFleet, kept: completeOn("await-selected-at-height", "rpc", api.AwaitCondition)},
	"seinodetask-mark-ready.yaml": {
		make: func(w fleets, obj client.Object) {
			withRPC(w, obj)
			w.holdNode("rpc")
		},
		kept: func(w fleets) {
			w.taskIsComplete("mark-ready")
			if !w.Sidecars.Ready(w.Key("rpc")) {
				w.T.Error("the gate is closed")
			}
			nodeRuns("rpc")(w)
		},
	},
	"seinodetask-param-change.yaml": {make: withValidator("testnet-1", api.GovParamChange), kept: func(w fleets) {
		if got := w.taskIsComplete("param-change").Outputs.GovParamChange; got.TxHash != "HASH" || got.ProposalID != 42 {
			w.T.Errorf("%+v, want TxHash %q and ProposalID 42", got, "HASH")
		}
	}},
	"seinodetask-restart-fleet.yaml": {make: withFleet, kept: completeOn("restart-fleet", "rpc", api.RestartSeid)},
	"seinodetask-restart-seid.yaml": {make: withRPC, kept: func(w fleets) {
		w.taskIsComplete("restart-seid")
		if n := len(w.Sidecars.Starts(w.Key("rpc"))); n != 2 {
			w.T.Errorf("seid was started %d times", n)
		}
	}},
	"seinodetask-software-upgrade.yaml": {make: withValidator("pacific-1", api.GovSoftwareUpgrade), kept: func(w fleets) {
		if got := w.taskIsComplete("software-upgrade").Outputs.GovSoftwareUpgrade; got.TxHash != "HASH" || got.ProposalID != 42 {
			w.T.Errorf("%+v, want TxHash %q and ProposalID 42", got, "HASH")
		}
	}},
	"seinodetask-state-sync.yaml": {make: withRPC, kept: func(w fleets) {
		w.taskIsComplete("state-sync")
		nodeRuns("rpc")(w)
		if !slices.Contains(w.Sidecars.Submissions(w.Key("rpc")), api.ResetData) {
			w.T.Error("the data was not thrown away")
		}
	}},
	"seinodetask-update-image.yaml": {make: withRPC, kept: func(w fleets) {
		w.taskIsComplete("update-image")
		if got := w.Node("rpc").Status.CurrentImage; got != "registry.example.com/seid:v6.4.0" {
			w.T.Errorf("the node runs %s", got)
		}
	}},
	"seinodetask-vote.yaml": {make: withValidator("pacific-1", api.GovVote), kept: func(w fleets) {
		if got := w.taskIsComplete("vote").Outputs.GovVote; got.TxHash != "HASH" {
			w.T.Errorf("%+v, want TxHash %q", got, "HASH")
		}
	}},
	"seinodetask-vote-fleet.yaml": {
		make: func(w fleets, _ client.Object) {
			w.includeTransactions(api.GovVote)
			snd := rpc("validator-fleet", 3)
			snd.Spec.Template.Spec.FullNode, snd.Spec.Template.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
			w.bringUp(snd)
		},
		kept: completeOn("vote-fleet", "validator-fleet", api.GovVote),
	},
}

// withRPC makes the full node that most samples are for.
func withRPC(w fleets, _ client.Object) {
	n := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}, Spec: rpc("", 1).Spec.Template.Spec}
	w.Create(n)
	nodeRuns("rpc")(w)
}

func withFleet(w fleets, _ client.Object) { w.bringUp(rpc("rpc", 3)) }

// withValidator makes the validator of a chain on which transactions of a type make it into a block.
func withValidator(chain string, transaction api.TaskType) func(fleets, client.Object) {
	return func(w fleets, _ client.Object) {
		w.includeTransactions(transaction)
		w.Create(&v1alpha1.SeiNode{
			ObjectMeta: metav1.ObjectMeta{Name: "validator"},
			Spec:       v1alpha1.SeiNodeSpec{ChainID: chain, Image: "seid:a", Validator: &v1alpha1.ValidatorSpec{}},
		})
		nodeRuns("validator")(w)
	}
}

func (w fleets) includeTransactions(taskType api.TaskType) {
	w.Sidecars.Program("", taskType, sidecarsim.Outcome{Do: func(context.Context, sidecarsim.Call) (any, error) {
		return wire.GovTxResult{TxHash: "HASH", Height: 1000, ProposalID: 42, InclusionStatus: wire.InclusionCommitted}, nil
	}})
}

// holdNode leaves a node as a state sync does that failed before it touched the data.
func (w fleets) holdNode(name string) {
	w.T.Helper()
	w.Sidecars.Program(w.Key(name), api.StopSeid, sidecarsim.Outcome{Times: 1, Error: api.Terminal(api.CodePrecondition, errors.New("seid does not stop"))})
	task := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: "hold"}}
	task.Spec.Kind, task.Spec.Target.NodeRef.Name = v1alpha1.TaskKindStateSync, name
	task.Spec.StateSync = &v1alpha1.StateSyncTask{RPCServers: []v1alpha1.HostPort{"a.example.com:26657", "b.example.com:26657"}}
	w.Create(task)
	w.awaitTask("hold", v1alpha1.NodeTaskFailed)
	if w.Sidecars.Ready(w.Key(name)) {
		w.T.Error("the gate is open")
	}
}

func (w fleets) awaitTask(name string, phase v1alpha1.SeiNodeTaskPhase) *v1alpha1.SeiNodeTask {
	w.T.Helper()
	return envtest.WaitFor(w.T, w.Env, w.NS, name, func(t *v1alpha1.SeiNodeTask) bool { return t != nil && t.Status.Phase == phase })
}

func (w fleets) taskIsComplete(name string) v1alpha1.SeiNodeTaskStatus {
	w.T.Helper()
	return w.awaitTask(name, v1alpha1.NodeTaskComplete).Status
}

// completeOn is a task that each of a fleet's three nodes has done, once.
func completeOn(name, fleet string, taskType api.TaskType) func(fleets) {
	return func(w fleets) {
		w.T.Helper()
		if n := w.taskIsComplete(name).Nodes; n == nil || n.Total != 3 || n.Complete != 3 {
			w.T.Errorf("%+v, want not nil, Total 3 and Complete 3", n)
		}
		for i := range 3 {
			node := fmt.Sprintf("%s-%d", fleet, i)
			if n := count(w.Sidecars.Submissions(w.Key(node)), taskType); n != 1 {
				w.T.Errorf("%s was asked for %s %d times", node, taskType, n)
			}
		}
	}
}
