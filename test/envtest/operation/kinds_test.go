package operation

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

func softwareUpgrade(name, node string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindGovSoftwareUpgrade)
	t.Spec.GovSoftwareUpgrade = &v1alpha1.GovSoftwareUpgrade{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", KeyName: "mine", Memo: "hello", Fees: "20000usei", Gas: 500000},
		Title: "v7", Description: "Upgrade to v7", UpgradeName: "v7", UpgradeHeight: 100, InitialDeposit: "10usei",
	}
	return t
}

func paramChange(name, node string) *v1alpha1.SeiNodeTask {
	t := newTask(name, node, v1alpha1.TaskKindGovParamChange)
	t.Spec.GovParamChange = &v1alpha1.GovParamChange{
		GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "20000usei", Gas: 500000}, Title: "Votes", Description: "Longer votes", InitialDeposit: "10usei",
		Changes: []v1alpha1.ParamChange{{Subspace: "gov", Key: "votingparams", Value: apiextensionsv1.JSON{Raw: []byte(`{"voting_period":"86400s"}`)}}},
	}
	return t
}

// Every kind that a sidecar does: what it is asked, and what the task's outputs are.
func TestKinds_OnTheSidecar_CompleteWithTheirOutputs(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	for _, gov := range []api.TaskType{api.GovVote, api.GovSoftwareUpgrade, api.GovParamChange} {
		on := &chain{}
		w.Sidecars.Program(w.Key("v"), gov, sidecarsim.Outcome{Do: on.include})
	}
	catchUp := newTask("catch-up", "v", v1alpha1.TaskKindAwaitCondition)
	catchUp.Spec.AwaitCondition = &v1alpha1.AwaitCondition{CatchingUp: &v1alpha1.CatchingUpCondition{}}
	nodesAtHeight := newTask("nodes-at-height", "v", v1alpha1.TaskKindAwaitNodesAtHeight)
	nodesAtHeight.Spec.AwaitNodesAtHeight = &v1alpha1.AwaitNodesAtHeight{TargetHeight: 9}
	markReady := newTask("mark-ready", "v", v1alpha1.TaskKindMarkReady)
	markReady.Spec.MarkReady = &v1alpha1.MarkReady{}
	tx := v1alpha1.TxOutputs{TxHash: "HASH1", Height: 1000}
	for _, c := range []struct {
		task    *v1alpha1.SeiNodeTask
		asks    api.TaskType
		outputs *v1alpha1.TaskOutputs
	}{
		{vote("vote", "v"), api.GovVote, &v1alpha1.TaskOutputs{GovVote: &tx}},
		{softwareUpgrade("upgrade", "v"), api.GovSoftwareUpgrade, &v1alpha1.TaskOutputs{GovSoftwareUpgrade: &v1alpha1.ProposalOutputs{TxOutputs: tx, ProposalID: 42}}},
		{paramChange("change", "v"), api.GovParamChange, &v1alpha1.TaskOutputs{GovParamChange: &v1alpha1.ProposalOutputs{TxOutputs: tx, ProposalID: 42}}},
		{awaitHeight("height", "v", ""), api.AwaitCondition, &v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: "7"}}},
		{catchUp, api.AwaitCondition, &v1alpha1.TaskOutputs{AwaitCondition: &v1alpha1.AwaitConditionOutputs{ObservedValue: "false"}}},
		{nodesAtHeight, api.AwaitCondition, &v1alpha1.TaskOutputs{AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeightOutputs{CurrentHeight: 9}}},
		{restart("restart", "v"), api.RestartSeid, nil},
		{markReady, "", nil}, // the gate is open
	} {
		before := len(w.Sidecars.Submissions(w.Key("v")))
		w.Create(c.task)
		done := w.await(c.task.Name, func(t *v1alpha1.SeiNodeTask) bool { return t.Status.CompletedAt != nil && len(t.Finalizers) == 0 })
		if !complete(done) {
			t.Errorf("%s: %+v, want it complete", c.task.Name, done.Status)
		}
		if diff := cmp.Diff(c.outputs, done.Status.Outputs); diff != "" {
			t.Errorf("%s: outputs (-want +got):\n%s", c.task.Name, diff)
		}
		var want []api.TaskType
		if c.asks != "" {
			want = []api.TaskType{c.asks}
		}
		if got := w.Sidecars.Submissions(w.Key("v"))[before:]; !slices.Equal(got, want) {
			t.Errorf("%s: the sidecar was asked for %v, want %v", c.task.Name, got, want)
		}
		if done.Status.StartedAt == nil || done.Status.TargetUID == "" || done.Status.ObservedGeneration != done.Generation {
			t.Errorf("%s: status %+v", c.task.Name, done.Status)
		}
		w.AwaitEvent(c.task.Name, events.TaskStarted)
		w.AwaitEvent(c.task.Name, events.TaskComplete)
	}
}

// RestartSeid keeps the pod.
func TestRestartSeid_KeepsThePodAndStartsSeidAnew(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	before, pod := len(w.Sidecars.Starts(w.Key("n"))), &corev1.Pod{}
	w.Get("n-0", pod)
	w.Create(restart("r", "n"))
	w.await("r", complete)
	after := &corev1.Pod{}
	w.Get("n-0", after)
	if starts := len(w.Sidecars.Starts(w.Key("n"))) - before; starts != 1 || after.UID != pod.UID {
		t.Errorf("seid was started %d times, in pod %s instead of %s", starts, after.UID, pod.UID)
	}
}

// A sidecar that has done the restart and lost its tasks is not asked for another.
func TestRestartSeid_StoreLostAfterTheRestart_OneRestart(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(world.FullNode("n"))
	before := len(w.Sidecars.Starts(w.Key("n")))
	repair := make(chan func(), 1)
	w.Sidecars.Program(w.Key("n"), api.RestartSeid, sidecarsim.Outcome{Times: 1, Do: func(context.Context, sidecarsim.Call) (any, error) {
		repair <- w.Sidecars.Break(w.Key("n"), sidecarsim.Fault{Status: 500, PathPrefix: "/v0/tasks"}) // nobody hears of its end
		return nil, nil
	}})
	w.Create(restart("r", "n"))
	w.Eventually("the restart", func() bool { return len(w.Sidecars.Starts(w.Key("n"))) == before+1 })
	if err := w.Sidecars.LoseStore(w.Key("n")); err != nil {
		t.Fatal(err)
	}
	(<-repair)()
	w.await("r", complete)
	if starts := len(w.Sidecars.Starts(w.Key("n"))) - before; starts != 1 {
		t.Errorf("seid was restarted %d times", starts)
	}
}
