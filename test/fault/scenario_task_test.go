package fault

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecarwire "github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// ofTasks are the scenarios of a SeiNodeTask.
var ofTasks = []*scenario{
	{
		name:    "restart",
		arrange: bringUp,
		act: func(r *run) {
			t := newTask("restart", "full", v1alpha1.TaskKindRestartSeid)
			t.Spec.RestartSeid = &v1alpha1.RestartSeid{}
			r.Create(t)
		},
		settle:  func(r *run) { r.awaitTask("restart"); r.AwaitNode("full", settled) },
		objects: []object{task("restart"), node("full")},
	},
	{
		name: "vote",
		arrange: func(r *run) {
			sent := sidecarwire.GovTxResult{TxHash: "HASH", Height: 1000, InclusionStatus: sidecarwire.InclusionCommitted}
			r.Sidecars.Program("", api.GovVote, sidecarsim.Outcome{Result: sent})
			n := world.FullNode("full")
			n.Spec.FullNode, n.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
			r.Create(n)
			r.AwaitNode("full", settled)
		},
		act: func(r *run) {
			t := newTask("vote", "full", v1alpha1.TaskKindGovVote)
			t.Spec.GovVote = &v1alpha1.GovVote{
				GovTx: v1alpha1.GovTx{ChainID: "pacific-1", Fees: "20000usei", Gas: 200000}, ProposalID: 42, Option: "yes",
			}
			r.Create(t)
		},
		settle:  func(r *run) { r.awaitTask("vote"); r.AwaitNode("full", settled) },
		objects: []object{task("vote"), node("full")},
	},
}

func newTask(name, node string, kind v1alpha1.SeiNodeTaskKind) *v1alpha1.SeiNodeTask {
	t := &v1alpha1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: name}}
	t.Spec.Kind, t.Spec.Target.NodeRef.Name = kind, node
	return t
}

// awaitTask waits until a task is complete and has released its node.
func (r *run) awaitTask(name string) {
	r.T.Helper()
	envtest.WaitFor(r.T, r.Env, r.NS, name, func(t *v1alpha1.SeiNodeTask) bool {
		return t != nil && t.Status.Phase == v1alpha1.NodeTaskComplete && len(t.Finalizers) == 0
	})
}
