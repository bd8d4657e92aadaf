package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// What tasks can be done on.
const (
	targetNode = "NODE"
	targetBoth = "FLEET|NODE"
)

// taskKind is a kind of SeiNodeTask on the command line.
type taskKind struct {
	name    seiv1.SeiNodeTaskKind
	command string
	target  string
	short   string
	example string
	// flags adds the kind's flags and returns what puts them into a spec.
	flags func(*cobra.Command) func(*seiv1.SeiNodeTaskSpec) error
}

func taskKinds() []taskKind {
	return []taskKind{
		{
			seiv1.TaskKindRestartSeid, "restart-seid", targetBoth, "Restart the chain process; the pod stays",
			"  kubectl sei op run restart-seid rpc-0 --wait",
			noFlags(func(s *seiv1.SeiNodeTaskSpec) { s.RestartSeid = &seiv1.RestartSeid{} }),
		}, {
			seiv1.TaskKindMarkReady, "mark-ready", targetNode, "Open the start gate of a node that an operation has left held",
			"  kubectl sei op run mark-ready rpc-0",
			noFlags(func(s *seiv1.SeiNodeTaskSpec) { s.MarkReady = &seiv1.MarkReady{} }),
		}, {
			seiv1.TaskKindStateSync, "state-sync", targetBoth, "Delete the chain data of a full node and fetch it again by state sync",
			"  kubectl sei op run state-sync rpc-0 --wait",
			stateSyncFlags,
		}, {
			seiv1.TaskKindUpdateNodeImage, "update-node-image", targetNode, "Change the image of a node that is in no fleet, and wait until it is Ready",
			"  kubectl sei op run update-node-image val --image registry.example.com/seid:v6.5.0",
			imageFlags,
		}, {
			seiv1.TaskKindAwaitCondition, "await-condition", targetBoth, "Wait until a node has reached a height or has caught up",
			"  kubectl sei op run await-condition rpc-0 --caught-up --wait",
			awaitFlags,
		}, {
			seiv1.TaskKindAwaitNodesAtHeight, "await-nodes-at-height", targetBoth, "Wait until a node, or all nodes of a fleet, have reached a height",
			"  kubectl sei op run await-nodes-at-height fleet/rpc --height 182000000",
			heightFlags,
		}, {
			seiv1.TaskKindGovVote, "gov-vote", targetBoth, "Vote on a proposal",
			"  kubectl sei op run gov-vote fleet/val --chain-id pacific-1 --proposal 42 --option yes --fees 20000usei --gas 200000",
			voteFlags,
		}, {
			seiv1.TaskKindGovSoftwareUpgrade, "gov-software-upgrade", targetNode, "Propose a software upgrade",
			"  kubectl sei op run gov-software-upgrade val-0 --chain-id pacific-1 --title v6.5 --description 'Upgrade to v6.5' \\\n" +
				"    --upgrade-name v6.5 --upgrade-height 182000000 --deposit 10000000usei --fees 20000usei --gas 400000",
			upgradeFlags,
		}, {
			seiv1.TaskKindGovParamChange, "gov-param-change", targetNode, "Propose other chain parameters",
			"  kubectl sei op run gov-param-change val-0 --chain-id pacific-1 --title 'More validators' --description '50 validators' \\\n" +
				"    --change staking/MaxValidators=50 --deposit 10000000usei --fees 20000usei --gas 400000",
			paramFlags,
		},
	}
}

func noFlags(fill func(*seiv1.SeiNodeTaskSpec)) func(*cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	return func(*cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
		return func(s *seiv1.SeiNodeTaskSpec) error {
			fill(s)
			return nil
		}
	}
}

// required is for flags without which the API server would refuse the task.
func required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.MarkFlagRequired(name)
	}
}

func stateSyncFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	servers := cmd.Flags().StringSlice("rpc-server", nil, "Witness, host:port; at least two. Default: those of the node.")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		s.StateSync = &seiv1.StateSyncTask{}
		for _, server := range *servers {
			s.StateSync.RPCServers = append(s.StateSync.RPCServers, seiv1.HostPort(server))
		}
		return nil
	}
}

func imageFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	image := cmd.Flags().String("image", "", "Image to run.")
	required(cmd, "image")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		s.UpdateNodeImage = &seiv1.UpdateNodeImage{Image: *image}
		return nil
	}
}

func awaitFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	height := cmd.Flags().Int64("height", 0, "Height to wait for.")
	caughtUp := cmd.Flags().Bool("caught-up", false, "Wait until the node has caught up.")
	action := cmd.Flags().String("action", "", "What to do then: SIGTERM_SEID ends seid.")
	cmd.MarkFlagsOneRequired("height", "caught-up")
	cmd.MarkFlagsMutuallyExclusive("height", "caught-up")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		s.AwaitCondition = &seiv1.AwaitCondition{Action: *action}
		if *caughtUp {
			s.AwaitCondition.CatchingUp = &seiv1.CatchingUpCondition{}
		} else {
			s.AwaitCondition.Height = &seiv1.HeightCondition{TargetHeight: *height}
		}
		return nil
	}
}

func heightFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	height := cmd.Flags().Int64("height", 0, "Height to wait for.")
	required(cmd, "height")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		s.AwaitNodesAtHeight = &seiv1.AwaitNodesAtHeight{TargetHeight: *height}
		return nil
	}
}

// govFlags are those of every transaction.
func govFlags(cmd *cobra.Command) *seiv1.GovTx {
	tx := &seiv1.GovTx{}
	cmd.Flags().StringVar(&tx.ChainID, "chain-id", "", "Chain that the transaction is for; a guard against the wrong one.")
	cmd.Flags().StringVar(&tx.KeyName, "key", "", "Key that signs. Default: the node's.")
	cmd.Flags().StringVar(&tx.Memo, "memo", "", "Memo of the transaction.")
	cmd.Flags().StringVar(&tx.Fees, "fees", "", "Fees, for example 20000usei.")
	cmd.Flags().Int64Var(&tx.Gas, "gas", 0, "Gas limit.")
	required(cmd, "chain-id", "fees", "gas")
	return tx
}

func voteFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	tx := govFlags(cmd)
	proposal := cmd.Flags().Int64("proposal", 0, "Number of the proposal.")
	option := cmd.Flags().String("option", "", "The vote: yes, no, abstain or no_with_veto.")
	required(cmd, "proposal", "option")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		s.GovVote = &seiv1.GovVote{GovTx: *tx, ProposalID: *proposal, Option: *option}
		return nil
	}
}

func upgradeFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	tx, p := govFlags(cmd), &seiv1.GovSoftwareUpgrade{}
	proposalFlags(cmd, &p.Title, &p.Description, &p.InitialDeposit)
	cmd.Flags().StringVar(&p.UpgradeName, "upgrade-name", "", "Name of the upgrade, as the new binary knows it.")
	cmd.Flags().Int64Var(&p.UpgradeHeight, "upgrade-height", 0, "Height that the chain stops at.")
	cmd.Flags().StringVar(&p.UpgradeInfo, "upgrade-info", "", "Info for the new binary.")
	required(cmd, "upgrade-name", "upgrade-height")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		p.GovTx = *tx
		s.GovSoftwareUpgrade = p
		return nil
	}
}

func paramFlags(cmd *cobra.Command) func(*seiv1.SeiNodeTaskSpec) error {
	tx, p := govFlags(cmd), &seiv1.GovParamChange{}
	proposalFlags(cmd, &p.Title, &p.Description, &p.InitialDeposit)
	changes := cmd.Flags().StringArray("change", nil, "SUBSPACE/KEY=VALUE, the value as JSON; repeat it for more.")
	required(cmd, "change")
	return func(s *seiv1.SeiNodeTaskSpec) error {
		p.GovTx = *tx
		for _, text := range *changes {
			change, err := parseChange(text)
			if err != nil {
				return err
			}
			p.Changes = append(p.Changes, change)
		}
		s.GovParamChange = p
		return nil
	}
}

func proposalFlags(cmd *cobra.Command, title, description, deposit *string) {
	cmd.Flags().StringVar(title, "title", "", "Title of the proposal.")
	cmd.Flags().StringVar(description, "description", "", "Description of the proposal.")
	cmd.Flags().StringVar(deposit, "deposit", "", "Initial deposit, for example 10000000usei.")
	required(cmd, "title", "description", "deposit")
}

func parseChange(text string) (seiv1.ParamChange, error) {
	place, value, ok := strings.Cut(text, "=")
	subspace, key, slash := strings.Cut(place, "/")
	if !ok || !slash || subspace == "" || key == "" || !json.Valid([]byte(value)) {
		return seiv1.ParamChange{}, fmt.Errorf(`--change is %q: want SUBSPACE/KEY=VALUE with a value in JSON, for example staking/MaxValidators=50`, text)
	}
	return seiv1.ParamChange{Subspace: subspace, Key: key, Value: apiextensionsv1.JSON{Raw: []byte(value)}}, nil
}
