package e2e

import (
	"context"
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
)

// deposit is enough for a proposal to be voted for at once.
const deposit = "2000000usei"

func (s *scenario) govTx() v1alpha1.GovTx {
	return v1alpha1.GovTx{ChainID: s.chain.id, Fees: "20000usei", Gas: 500000}
}

// planUpgrade takes an upgrade from its proposal to the chain's plan, with tasks alone, and returns the proposal's number.
func (s *scenario) planUpgrade(plan upgrade.Plan) int64 {
	s.t.Helper()
	proposed := s.proposePlan(plan)
	s.voteFor(proposed.ProposalID)
	s.awaitPlan(&plan)
	return proposed.ProposalID
}

// proposePlan has the first validator propose an upgrade.
func (s *scenario) proposePlan(plan upgrade.Plan) *v1alpha1.ProposalOutputs {
	s.t.Helper()
	name := fmt.Sprintf("propose-%s-at-%d", plan.Name, plan.Height)
	s.runTask(name, "v-0", func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindGovSoftwareUpgrade
		spec.GovSoftwareUpgrade = &v1alpha1.GovSoftwareUpgrade{
			GovTx: s.govTx(), Title: plan.Name, Description: "an upgrade", InitialDeposit: deposit,
			UpgradeName: plan.Name, UpgradeHeight: plan.Height, UpgradeInfo: plan.Info,
		}
	})
	proposed := s.awaitTask(name).Status.Outputs
	if proposed == nil || proposed.GovSoftwareUpgrade == nil || proposed.GovSoftwareUpgrade.TxHash == "" {
		s.t.Fatalf("outputs of the proposal: %+v", proposed)
	}
	return proposed.GovSoftwareUpgrade
}

// voteFor has every validator vote for a proposal.
func (s *scenario) voteFor(proposal int64) {
	s.t.Helper()
	name := func(ordinal int) string { return fmt.Sprintf("vote-%d-%d", proposal, ordinal) }
	for ordinal := range validators {
		s.runTask(name(ordinal), fmt.Sprintf("v-%d", ordinal), func(spec *v1alpha1.SeiNodeTaskSpec) {
			spec.Kind = v1alpha1.TaskKindGovVote
			spec.GovVote = &v1alpha1.GovVote{GovTx: s.govTx(), ProposalID: proposal, Option: "yes"}
		})
	}
	for ordinal := range validators {
		voted := s.awaitTask(name(ordinal)).Status.Outputs
		if voted == nil || voted.GovVote == nil || voted.GovVote.Height == 0 {
			s.t.Errorf("outputs of vote %d: %+v", ordinal, voted)
		}
	}
}

// awaitPlan waits until the chain has a plan; nil waits until it has none.
func (s *scenario) awaitPlan(want *upgrade.Plan) {
	s.t.Helper()
	await(s.t, taskTimeout, fmt.Sprintf("the chain's plan to be %+v", want), func(ctx context.Context) (bool, string, error) {
		answer, err := s.rpc("v-0").ABCIQuery(ctx, upgrade.CurrentPlanPath, nil)
		if err != nil {
			return false, "", err
		}
		plan, err := upgrade.DecodeCurrentPlan(answer.Value)
		if plan == nil || want == nil {
			return plan == want, fmt.Sprintf("%+v", plan), err
		}
		return *plan == *want, fmt.Sprintf("%+v", plan), err
	})
}
