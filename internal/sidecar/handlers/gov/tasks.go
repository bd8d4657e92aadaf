// Package gov holds the governance tasks: votes and proposals, signed with the
// operator's key by the chain binary and handed to the node's own RPC.
//
// A task sends one transaction and never a second: the signed bytes are stored
// before they are broadcast, and a run after a crash looks for them in the blocks
// and sends the same bytes again if they are not there. The sequence number in
// them lets the chain include them at most once.
package gov

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// RPC is the part of the node's RPC that transactions need.
type RPC interface {
	Status(ctx context.Context) (*rpc.Status, error)
	Block(ctx context.Context, height int64) (*rpc.Block, error)
	BlockResults(ctx context.Context, height int64) (*rpc.BlockResults, error)
	BroadcastTxSync(ctx context.Context, tx []byte) (*rpc.BroadcastResult, error)
	ABCIQuery(ctx context.Context, path string, data []byte) (*rpc.QueryResult, error)
}

// The contract's bounds on waiting for a block.
const (
	defaultInclusion = 60 * time.Second
	defaultPoll      = 500 * time.Millisecond
)

// Tasks are the governance tasks of one node.
type Tasks struct {
	Node    *node.Node
	Keyring Keyring
	RPC     func() RPC
	Metrics *Metrics
	// Inclusion and Poll bound the wait for a block; 0 means the contract's.
	Inclusion, Poll time.Duration
}

// Handlers are the task types of this package. All of them hold the keys: two
// transactions of one key must not take the same sequence number.
func (t *Tasks) Handlers() []engine.Handler {
	keys := []engine.Group{engine.GroupKeys}
	return []engine.Handler{
		node.Handler(api.GovVote, keys, t.vote),
		node.Handler(api.GovSoftwareUpgrade, keys, t.softwareUpgrade),
		node.Handler(api.GovParamChange, keys, t.paramChange),
	}
}

// message is what a transaction says.
type message struct {
	task api.TaskType
	tx   wire.Transaction
	// inputs is everything the transaction depends on.
	inputs any
	// args are the words after `seid tx`; scratch is where files for them may go.
	args func(scratch string) ([]string, error)
	// proposes: the transaction has to make a proposal.
	proposes bool
}

func (t *Tasks) vote(ctx context.Context, task engine.Task, p wire.GovVote) (any, error) {
	return t.run(ctx, task, message{task: api.GovVote, tx: p.Transaction, inputs: p, args: func(string) ([]string, error) {
		return []string{"gov", "vote", strconv.FormatUint(p.ProposalID, 10), p.Option}, nil
	}})
}

func (t *Tasks) softwareUpgrade(ctx context.Context, task engine.Task, p wire.GovSoftwareUpgrade) (any, error) {
	return t.run(ctx, task, message{task: api.GovSoftwareUpgrade, tx: p.Transaction, inputs: p, proposes: true, args: func(string) ([]string, error) {
		return []string{
			"gov", "submit-proposal", "software-upgrade", p.UpgradeName, "--title=" + p.Title, "--description=" + p.Description,
			"--upgrade-height=" + strconv.FormatInt(p.UpgradeHeight, 10), "--upgrade-info=" + p.UpgradeInfo, "--deposit=" + p.InitialDeposit,
		}, nil
	}})
}

func (t *Tasks) paramChange(ctx context.Context, task engine.Task, p wire.GovParamChange) (any, error) {
	return t.run(ctx, task, message{task: api.GovParamChange, tx: p.Transaction, inputs: p, proposes: true, args: func(scratch string) ([]string, error) {
		file := filepath.Join(scratch, "proposal.json")
		data, err := json.Marshal(map[string]any{
			"title": p.Title, "description": p.Description, "changes": p.Changes, "deposit": p.InitialDeposit,
		})
		if err != nil {
			return nil, fmt.Errorf("encoding the proposal: %w", err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return nil, fmt.Errorf("writing the proposal: %w", err)
		}
		return []string{"gov", "submit-proposal", "param-change", file}, nil
	}})
}

// run sends the transaction of a task and says how far it came. The result is
// kept on failed tasks too.
func (t *Tasks) run(ctx context.Context, task engine.Task, msg message) (any, error) {
	result, err := t.send(ctx, task, msg)
	t.Metrics.sent(msg.task, result, err)
	if result == nil {
		return nil, err // and not an interface that holds nil
	}
	return result, err
}
