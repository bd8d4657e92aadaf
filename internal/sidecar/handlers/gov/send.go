package gov

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
)

// sentTx is the one transaction of a task. It is stored before it is broadcast.
type sentTx struct {
	Inputs   json.RawMessage `json:"inputs"`
	Hash     string          `json:"hash"`
	Bytes    []byte          `json:"bytes"`
	Address  string          `json:"address"`
	Sequence uint64          `json:"sequence"`
	// After is the height of the chain when it was signed: it can only be in
	// later blocks.
	After int64 `json:"after"`
}

// wrongSequence is the chain's code for a sequence number that was used already
// or is not yet due.
const wrongSequence = 32

// unauthorized is the chain's code for a signature that does not fit.
const unauthorized = 4

func recordKey(taskID string) string { return "tx/" + taskID }

// send signs and broadcasts, or takes up what an earlier run of the same task
// left, and waits for the block.
func (t *Tasks) send(ctx context.Context, task engine.Task, msg message) (*wire.GovTxResult, error) {
	status, err := t.ready(ctx, msg.tx.ChainID)
	if err != nil {
		return nil, err
	}
	tx, err := loadTx(task)
	if err != nil {
		return nil, err
	}
	if tx != nil {
		result, done, err := t.adopt(ctx, tx, msg)
		if done || err != nil {
			return result, err
		}
	}
	if tx, err = t.signed(ctx, task, msg, status); err != nil {
		return nil, err
	}
	if err := t.broadcast(ctx, tx); err != nil {
		if _, rejected := errors.AsType[*rejection](err); rejected {
			// The node refused it, so nobody else has it: it never was.
			return nil, errors.Join(err, task.Records.Delete(recordKey(task.ID)))
		}
		return pending(tx), api.Retryable(api.CodeUnavailable, fmt.Errorf("broadcasting: %w", err)).
			WithHint("submit the task again with the same id; it will not send a second transaction")
	}
	return t.awaitBlock(ctx, tx, msg)
}

// ready checks that signing is possible and that the node is on the right chain.
func (t *Tasks) ready(ctx context.Context, chainID string) (*rpc.Status, error) {
	if t.Keyring.Backend == "" {
		return nil, api.Terminal(api.CodePrecondition, errors.New("signing is disabled: the sidecar has no keyring")).
			WithHint("set SEI_KEYRING_BACKEND")
	}
	if err := t.Node.CheckChain(chainID); err != nil {
		return nil, err
	}
	status, err := t.RPC().Status(ctx)
	if err != nil {
		return nil, api.Retryable(api.CodeUnavailable, fmt.Errorf("querying the node: %w", err))
	}
	if status.NodeInfo.Network != chainID {
		return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("the node is on chain %q, not %q", status.NodeInfo.Network, chainID))
	}
	return status, nil
}

// adopt takes up the transaction of an earlier run. done is false when that one
// can never be included, so that a new one may be signed.
func (t *Tasks) adopt(ctx context.Context, tx *sentTx, msg message) (result *wire.GovTxResult, done bool, err error) {
	// The sequence is read before the blocks are: a sequence that has moved on
	// then proves, together with blocks that do not hold the transaction, that
	// another one took its place.
	who, err := t.account(ctx, tx.Address)
	if err != nil {
		return nil, true, err
	}
	found, err := t.look(ctx, tx)
	if err != nil {
		return found, true, err
	}
	same := sameInputs(tx, msg)
	switch {
	case found != nil && !same:
		return found, true, otherParameters(tx, "it was included")
	case found != nil:
		result, err = judge(found, msg)
		return result, true, err
	case who.Sequence > tx.Sequence:
		return nil, false, nil
	case !same:
		// It may be in a mempool. A second one, signed beside it, would follow it into the chain. It is
		// sent again, because otherwise nobody would and the task might never get any further.
		_ = t.broadcast(ctx, tx) // whatever the answer is, only a block decides
		return pending(tx), true, otherParameters(tx, "it can still be included")
	}
	err = t.broadcast(ctx, tx)
	refused, rejected := errors.AsType[*rejection](err)
	switch {
	case err != nil && !rejected:
		return pending(tx), true, api.Retryable(api.CodeUnavailable, fmt.Errorf("broadcasting: %w", err))
	case rejected && refused.beforeFirstBlock():
		return pending(tx), true, err // waiting for a block with it would be without success
	}
	// Another rejection says nothing here: the first broadcast may still be on its way.
	result, err = t.awaitBlock(ctx, tx, msg)
	return result, true, err
}

// otherParameters refuses a task whose transaction was made for other parameters.
func otherParameters(tx *sentTx, state string) error {
	return api.Terminal(api.CodeConflict, fmt.Errorf("this task signed transaction %s with other parameters; %s", tx.Hash, state)).
		WithHint("use a new task id for a new transaction")
}

// signed makes and stores the task's transaction.
func (t *Tasks) signed(ctx context.Context, task engine.Task, msg message, status *rpc.Status) (*sentTx, error) {
	if length := len(msg.tx.TaggedMemo(task.ID)); length > wire.MaxMemo {
		return nil, api.InvalidField("memo", "has %d bytes with the task's id, the chain takes %d", length, wire.MaxMemo)
	}
	scratch, cleanup, err := t.Node.PrivateScratch("gov")
	if err != nil {
		return nil, err
	}
	defer cleanup()
	address, err := t.signer(ctx, scratch, msg.tx.KeyName)
	if err != nil {
		return nil, err
	}
	who, err := t.account(ctx, address)
	if err != nil {
		return nil, err
	}
	raw, err := t.sign(ctx, scratch, who, msg, task.ID)
	if err != nil {
		return nil, err
	}
	inputs, err := json.Marshal(msg.inputs)
	if err != nil {
		return nil, fmt.Errorf("encoding the parameters: %w", err)
	}
	tx := &sentTx{
		Inputs: inputs, Hash: rpc.TxHash(raw), Bytes: raw, Address: address, Sequence: who.Sequence, After: status.SyncInfo.LatestBlockHeight,
	}
	data, err := json.Marshal(tx)
	if err != nil {
		return nil, fmt.Errorf("storing the transaction: %w", err)
	}
	if err := task.Records.Put(recordKey(task.ID), data); err != nil {
		return nil, fmt.Errorf("storing the transaction: %w", err)
	}
	return tx, nil
}

func loadTx(task engine.Task) (*sentTx, error) {
	data, err := task.Records.Get(recordKey(task.ID))
	if err != nil || data == nil {
		return nil, err
	}
	tx := new(sentTx)
	if err := json.Unmarshal(data, tx); err != nil {
		return nil, fmt.Errorf("reading the stored transaction: %w", err)
	}
	return tx, nil
}

func sameInputs(tx *sentTx, msg message) bool {
	inputs, err := json.Marshal(msg.inputs)
	return err == nil && string(inputs) == string(tx.Inputs)
}

// rejection is the node's refusal to take a transaction.
type rejection struct{ result *rpc.BroadcastResult }

func (r *rejection) Error() string {
	return fmt.Sprintf("checkTx rejected: code=%d codespace=%q log=%s", r.result.Code, r.result.Codespace, r.result.Log)
}

// beforeFirstBlock: seid has made no block since it started. It does not know its chain's id before, and
// refuses every signature.
func (r *rejection) beforeFirstBlock() bool {
	return r.result.Code == unauthorized && r.result.Codespace == "sdk" && strings.Contains(r.result.Log, "chain-id ()")
}

func (t *Tasks) broadcast(ctx context.Context, tx *sentTx) error {
	result, err := t.RPC().BroadcastTxSync(ctx, tx.Bytes)
	switch {
	case errors.Is(err, rpc.ErrTxInCache):
		return nil
	case err != nil:
		return err
	case result.Code == 0:
		return nil
	case result.Code == wrongSequence && result.Codespace == "sdk":
		return api.Retryable(api.CodeUnavailable, &rejection{result}).
			WithHint("another transaction of this key is on its way; try again")
	case (&rejection{result}).beforeFirstBlock():
		return api.Retryable(api.CodeUnavailable, &rejection{result}).
			WithHint("seid has made no block since it started and does not know its chain's id before; try again")
	default:
		return api.Terminal(api.CodeTransactionFailed, &rejection{result})
	}
}

func pending(tx *sentTx) *wire.GovTxResult {
	return &wire.GovTxResult{TxHash: tx.Hash, InclusionStatus: wire.InclusionPending}
}

func writeScratch(file string, data []byte) error {
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("writing the transaction: %w", err)
	}
	return nil
}

func (t *Tasks) inclusion() time.Duration {
	if t.Inclusion > 0 {
		return t.Inclusion
	}
	return defaultInclusion
}

func (t *Tasks) poll() time.Duration {
	if t.Poll > 0 {
		return t.Poll
	}
	return defaultPoll
}
