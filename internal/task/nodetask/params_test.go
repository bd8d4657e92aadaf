package nodetask

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

func TestGovParams_EveryField_ReachesTheSidecar(t *testing.T) {
	tx := v1alpha1.GovTx{ChainID: "test-1", KeyName: "admin", Memo: "why", Fees: "20000usei", Gas: 300000}
	sent := wire.Transaction{ChainID: "test-1", KeyName: "admin", Memo: "why", Fees: "20000usei", Gas: 300000}
	proposal := wire.Proposal{Title: "a title", Description: "a description", InitialDeposit: "5usei"}
	for name, tc := range map[string]struct {
		spec   v1alpha1.SeiNodeTaskSpec
		params func(*Env, *v1alpha1.PlannedTask) (any, error)
		want   any
	}{
		"GovVote": {
			v1alpha1.SeiNodeTaskSpec{GovVote: &v1alpha1.GovVote{GovTx: tx, ProposalID: 7, Option: "abstain"}},
			voteParams, wire.GovVote{Transaction: sent, ProposalID: 7, Option: "abstain"},
		},
		"GovSoftwareUpgrade": {
			v1alpha1.SeiNodeTaskSpec{GovSoftwareUpgrade: &v1alpha1.GovSoftwareUpgrade{
				GovTx: tx, Title: "a title", Description: "a description", InitialDeposit: "5usei",
				UpgradeName: "v9", UpgradeHeight: 1000, UpgradeInfo: "info",
			}},
			softwareUpgradeParams, wire.GovSoftwareUpgrade{Transaction: sent, Proposal: proposal, UpgradeName: "v9", UpgradeHeight: 1000, UpgradeInfo: "info"},
		},
		"GovParamChange": {
			v1alpha1.SeiNodeTaskSpec{GovParamChange: &v1alpha1.GovParamChange{
				GovTx: tx, Title: "a title", Description: "a description", InitialDeposit: "5usei",
				Changes: []v1alpha1.ParamChange{{Subspace: "staking", Key: "MaxValidators", Value: apiextensionsv1.JSON{Raw: []byte("36")}}},
			}},
			paramChangeParams, wire.GovParamChange{
				Transaction: sent, Proposal: proposal,
				Changes: []wire.ParamChange{{Subspace: "staking", Key: "MaxValidators", Value: json.RawMessage("36")}},
			},
		},
	} {
		node := &v1alpha1.SeiNode{Spec: v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}}
		got, err := tc.params(&Env{Task: &v1alpha1.SeiNodeTask{Spec: tc.spec}, Node: node}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAwaitParams_EveryField_ReachesTheSidecar(t *testing.T) {
	height := &v1alpha1.HeightCondition{TargetHeight: 12}
	for name, tc := range map[string]struct {
		spec v1alpha1.SeiNodeTaskSpec
		want wire.AwaitCondition
	}{
		"height with an action": {
			v1alpha1.SeiNodeTaskSpec{AwaitCondition: &v1alpha1.AwaitCondition{Height: height, Action: "SIGTERM_SEID"}},
			wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: 12, Action: "SIGTERM_SEID"},
		},
		"caught up": {
			v1alpha1.SeiNodeTaskSpec{AwaitCondition: &v1alpha1.AwaitCondition{CatchingUp: &v1alpha1.CatchingUpCondition{}}},
			wire.AwaitCondition{Condition: wire.ConditionCatchingUp},
		},
		"nodes at a height": {
			v1alpha1.SeiNodeTaskSpec{AwaitNodesAtHeight: &v1alpha1.AwaitNodesAtHeight{TargetHeight: 12}},
			wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: 12},
		},
	} {
		got, err := awaitParams(&Env{Task: &v1alpha1.SeiNodeTask{Spec: tc.spec}}, &v1alpha1.PlannedTask{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
