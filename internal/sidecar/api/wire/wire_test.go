package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

const address = "sei14n47fc8nx6hm6n339dhuhpxmgnz0dv67cgf0qg"

func transaction() wire.Transaction {
	return wire.Transaction{ChainID: "test-1", KeyName: "operator", Fees: "1usei", Gas: 1}
}

func proposal() wire.Proposal {
	return wire.Proposal{Title: "T", Description: "d", InitialDeposit: "1usei"}
}

func TestValidate_NamesTheFieldAtFault(t *testing.T) {
	long := strings.Repeat("x", 10001)
	for name, tc := range map[string]struct {
		params interface{ Validate() error }
		field  string
	}{
		"identity":                 {&wire.GenerateIdentity{ChainID: "test-1", Moniker: "m"}, ""},
		"identity without chain":   {&wire.GenerateIdentity{Moniker: "m"}, "chainId"},
		"chain id that is a flag":  {&wire.GenerateIdentity{ChainID: "--home=/", Moniker: "m"}, "chainId"},
		"moniker of two lines":     {&wire.GenerateIdentity{ChainID: "test-1", Moniker: "a\nb"}, "moniker"},
		"long moniker":             {&wire.GenerateIdentity{ChainID: "test-1", Moniker: long[:71]}, "moniker"},
		"gentx":                    {&wire.GenerateGentx{ChainID: "test-1", StakingAmount: "1usei", AccountBalance: "1usei,2uatom"}, ""},
		"stake of nothing":         {&wire.GenerateGentx{ChainID: "test-1", StakingAmount: "000usei", AccountBalance: "1usei"}, "stakingAmount"},
		"stake of another coin":    {&wire.GenerateGentx{ChainID: "test-1", StakingAmount: "1uatom", AccountBalance: "1usei"}, "stakingAmount"},
		"negative balance":         {&wire.GenerateGentx{ChainID: "test-1", StakingAmount: "1usei", AccountBalance: "-1usei"}, "accountBalance"},
		"empty coin":               {&wire.GenerateGentx{ChainID: "test-1", StakingAmount: "1usei", AccountBalance: "1usei,"}, "accountBalance"},
		"node name with a slash":   {&wire.UploadGenesisArtifacts{NodeName: "../other"}, "nodeName"},
		"no gentxs":                {&wire.AssembleGenesis{AccountBalance: "1usei"}, "gentxs"},
		"bad genesis time":         {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), GenesisTime: "soon"}, "genesisTime"},
		"account twice":            {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), Accounts: []wire.Account{{Address: address, Balance: "1usei"}, {Address: address, Balance: "1usei"}}}, "accounts[1].address"},
		"foreign address":          {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), Accounts: []wire.Account{{Address: "cosmos1abc", Balance: "1usei"}}}, "accounts[0].address"},
		"vesting of nothing":       {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), Accounts: []wire.Account{{Address: address, Balance: "1usei", Vesting: &wire.Vesting{Amount: "1usei"}}}}, "accounts[0].vesting.endTime"},
		"override without a field": {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), Overrides: map[string]json.RawMessage{"gov": json.RawMessage(`1`)}}, "overrides[gov]"},
		"override with a hole":     {&wire.AssembleGenesis{AccountBalance: "1usei", Gentxs: raw(`{}`), Overrides: map[string]json.RawMessage{"gov..x": json.RawMessage(`1`)}}, "overrides[gov..x]"},
		"no nodes":                 {&wire.AssembleAndUploadGenesis{AccountBalance: "1usei", Namespace: "ns"}, "nodes"},
		"node twice":               {&wire.AssembleAndUploadGenesis{AccountBalance: "1usei", Namespace: "ns", Nodes: []wire.NodeRef{{Name: "a"}, {Name: "a"}}}, "nodes[1].name"},
		"no namespace":             {&wire.AssembleAndUploadGenesis{AccountBalance: "1usei", Nodes: []wire.NodeRef{{Name: "a"}}}, "namespace"},
		"short hash":               {&wire.ConfigureGenesis{ExpectedGenesisHash: "ab"}, "expectedGenesisHash"},
		"peer without an id":       {&wire.SetGenesisPeers{Peers: []string{"host:26656"}}, "peers[0]"},
		"vote":                     {&wire.GovVote{Transaction: transaction(), ProposalID: 1, Option: "no-with-veto"}, ""},
		"long memo":                {&wire.GovVote{Transaction: wire.Transaction{ChainID: "test-1", KeyName: "k", Fees: "1usei", Gas: 1, Memo: long[:213]}, ProposalID: 1, Option: "yes"}, "memo"},
		"longest memo":             {&wire.GovVote{Transaction: wire.Transaction{ChainID: "test-1", KeyName: "k", Fees: "1usei", Gas: 1, Memo: long[:212]}, ProposalID: 1, Option: "yes"}, ""},
		"upgrade":                  {&wire.GovSoftwareUpgrade{Transaction: transaction(), Proposal: proposal(), UpgradeName: "v9", UpgradeHeight: 1}, ""},
		"upgrade name is a flag":   {&wire.GovSoftwareUpgrade{Transaction: transaction(), Proposal: proposal(), UpgradeName: "--from", UpgradeHeight: 1}, "upgradeName"},
		"upgrade at no height":     {&wire.GovSoftwareUpgrade{Transaction: transaction(), Proposal: proposal(), UpgradeName: "v9"}, "upgradeHeight"},
		"proposal without title":   {&wire.GovSoftwareUpgrade{Transaction: transaction(), Proposal: wire.Proposal{Description: "d", InitialDeposit: "1usei"}, UpgradeName: "v9", UpgradeHeight: 1}, "title"},
		"endless description":      {&wire.GovParamChange{Transaction: transaction(), Proposal: wire.Proposal{Title: "T", Description: long, InitialDeposit: "1usei"}, Changes: []wire.ParamChange{{Subspace: "s", Key: "k", Value: json.RawMessage(`1`)}}}, "description"},
		"no changes":               {&wire.GovParamChange{Transaction: transaction(), Proposal: proposal()}, "changes"},
		"restart":                  {&wire.RestartSeid{}, ""},
		"keep of less than none":   {&wire.PublishSnapshots{Keep: -1}, "keep"},
		"keep of too many":         {&wire.PublishSnapshots{Keep: 1001}, "keep"},
		"publish no more":          {&wire.PublishSnapshots{}, ""},
		"restart that drains":      {&wire.RestartSeid{Drain: "20s"}, ""},
		"farewell without a unit":  {&wire.RestartSeid{Drain: "20"}, "farewell"},
		"farewell of no time":      {&wire.RestartSeid{Drain: "0s"}, "farewell"},
		"farewell before now":      {&wire.RestartSeid{Drain: "-1s"}, "farewell"},
		"farewell without an end":  {&wire.RestartSeid{Drain: "10m1s"}, "farewell"},
		"change without a value":   {&wire.GovParamChange{Transaction: transaction(), Proposal: proposal(), Changes: []wire.ParamChange{{Subspace: "s", Key: "k"}}}, "changes[0].value"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.params.Validate()
			if tc.field == "" {
				if err != nil {
					t.Errorf("Validate = %v", err)
				}
				return
			}
			if detail := api.DetailOf(err); err == nil || detail.Field != tc.field || detail.Code != api.CodeInvalidParams || !detail.Terminal {
				t.Errorf("Validate = %v (%+v), want a fault of %s", err, detail, tc.field)
			}
		})
	}
}

func raw(documents ...string) []json.RawMessage {
	list := make([]json.RawMessage, 0, len(documents))
	for _, d := range documents {
		list = append(list, json.RawMessage(d))
	}
	return list
}

func TestTaggedMemo_FitsWithTheLongestMemo(t *testing.T) {
	tx := wire.Transaction{Memo: strings.Repeat("x", 212)}
	if got := tx.TaggedMemo("2d3c4b1e-6f0a-4a53-9f0e-3b8d2b1f7c55"); len(got) != wire.MaxMemo {
		t.Errorf("the memo has %d bytes, want %d", len(got), wire.MaxMemo)
	}
	if got := (&wire.Transaction{}).TaggedMemo("id"); got != "taskID=id" {
		t.Errorf("the memo is %q", got)
	}
}
