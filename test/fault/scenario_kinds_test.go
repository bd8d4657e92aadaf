package fault

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecarwire "github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

var govTx = v1alpha1.GovTx{ChainID: "pacific-1", Fees: "20000usei", Gas: 500000}

// ofOtherTasks are one scenario for each kind of SeiNodeTask that has none of its own.
func ofOtherTasks() []*scenario {
	return []*scenario{
		kindScenario("propose-upgrade", v1alpha1.TaskKindGovSoftwareUpgrade, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.GovSoftwareUpgrade = &v1alpha1.GovSoftwareUpgrade{
				GovTx: govTx, Title: "v7", Description: "Upgrade to v7", UpgradeName: "v7", UpgradeHeight: 100, InitialDeposit: "10usei",
			}
		}),
		kindScenario("propose-change", v1alpha1.TaskKindGovParamChange, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.GovParamChange = &v1alpha1.GovParamChange{
				GovTx: govTx, Title: "Votes", Description: "Longer votes", InitialDeposit: "10usei",
				Changes: []v1alpha1.ParamChange{{Subspace: "gov", Key: "votingparams", Value: apiextensionsv1.JSON{Raw: []byte(`{"voting_period":"86400s"}`)}}},
			}
		}),
		kindScenario("await-height", v1alpha1.TaskKindAwaitCondition, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.AwaitCondition = &v1alpha1.AwaitCondition{Height: &v1alpha1.HeightCondition{TargetHeight: 7}}
		}),
		kindScenario("nodes-at-height", v1alpha1.TaskKindAwaitNodesAtHeight, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.AwaitNodesAtHeight = &v1alpha1.AwaitNodesAtHeight{TargetHeight: 9}
		}),
		kindScenario("mark-ready", v1alpha1.TaskKindMarkReady, func(s *v1alpha1.SeiNodeTaskSpec) { s.MarkReady = &v1alpha1.MarkReady{} }),
		kindScenario("update-image", v1alpha1.TaskKindUpdateNodeImage, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.UpdateNodeImage = &v1alpha1.UpdateNodeImage{Image: "seid:b"}
		}),
		kindScenario("reset", v1alpha1.TaskKindStateSync, func(s *v1alpha1.SeiNodeTaskSpec) {
			s.StateSync = &v1alpha1.StateSyncTask{RPCServers: witnesses}
		}),
	}
}

// kindScenario is a task of a kind on a node that can do it: a validator where something is signed.
func kindScenario(name string, kind v1alpha1.SeiNodeTaskKind, set func(*v1alpha1.SeiNodeTaskSpec)) *scenario {
	return &scenario{
		name: name,
		arrange: func(r *run) {
			sent := sidecarwire.GovTxResult{TxHash: "HASH", Height: 1000, ProposalID: 42, InclusionStatus: sidecarwire.InclusionCommitted}
			for _, gov := range []api.TaskType{api.GovSoftwareUpgrade, api.GovParamChange} {
				r.Sidecars.Program("", gov, sidecarsim.Outcome{Result: sent})
			}
			n := world.FullNode("node")
			if kind == v1alpha1.TaskKindGovSoftwareUpgrade || kind == v1alpha1.TaskKindGovParamChange {
				n.Spec.FullNode, n.Spec.Validator = nil, &v1alpha1.ValidatorSpec{}
			}
			r.Create(n)
			r.AwaitNode("node", settled)
		},
		act: func(r *run) {
			t := newTask(name, "node", kind)
			set(&t.Spec)
			r.Create(t)
		},
		settle:  func(r *run) { r.awaitTask(name); r.AwaitNode("node", settled) },
		objects: []object{task(name), node("node")},
	}
}
