package gov

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// awaitBlock waits until a block holds the transaction. Blocks are read one by
// one: validators keep no index that could be asked.
func (t *Tasks) awaitBlock(ctx context.Context, tx *sentTx, msg message) (*wire.GovTxResult, error) {
	deadline := time.NewTimer(t.inclusion())
	defer deadline.Stop()
	tick := time.NewTicker(t.poll())
	defer tick.Stop()
	next := tx.After + 1
	for {
		found, upTo, err := t.scan(ctx, tx, next)
		if found != nil && err == nil {
			return judge(found, msg)
		}
		if _, known := errors.AsType[*api.Error](err); known {
			return found, err
		}
		next = upTo // an unreachable node is asked again until the time is up
		select {
		case <-ctx.Done():
			return pending(tx), ctx.Err()
		case <-deadline.C:
			return pending(tx), api.Retryable(api.CodeUnavailable, fmt.Errorf("transaction %s is in no block after %s", tx.Hash, t.inclusion())).
				WithHint("submit the task again with the same id; it will not send a second transaction")
		case <-tick.C:
		}
	}
}

// look searches all blocks there are for the transaction.
func (t *Tasks) look(ctx context.Context, tx *sentTx) (*wire.GovTxResult, error) {
	found, _, err := t.scan(ctx, tx, tx.After+1)
	if err == nil || found != nil {
		return found, err
	}
	if _, known := errors.AsType[*api.Error](err); known {
		return found, err
	}
	return nil, api.Retryable(api.CodeUnavailable, fmt.Errorf("looking for transaction %s: %w", tx.Hash, err))
}

// scan searches the blocks from a height to the head. upTo is where the next
// scan has to begin.
func (t *Tasks) scan(ctx context.Context, tx *sentTx, from int64) (found *wire.GovTxResult, upTo int64, err error) {
	status, err := t.RPC().Status(ctx)
	if err != nil {
		return nil, from, err
	}
	if earliest := status.SyncInfo.EarliestBlockHeight; earliest > from {
		return &wire.GovTxResult{TxHash: tx.Hash, InclusionStatus: wire.InclusionUnverifiable}, from,
			api.Terminal(api.CodeTransactionFailed, fmt.Errorf("transaction %s cannot be verified: the node has no blocks below %d", tx.Hash, earliest)).
				WithHint("look the transaction up on another node")
	}
	for height := from; height <= status.SyncInfo.LatestBlockHeight; height++ {
		block, err := t.RPC().Block(ctx, height)
		if err != nil {
			return nil, height, err
		}
		if index := block.TxIndex(tx.Hash); index >= 0 {
			found, err := t.outcome(ctx, tx, height, index)
			return found, height, err
		}
		from = height + 1
	}
	return nil, from, nil
}

func (t *Tasks) outcome(ctx context.Context, tx *sentTx, height int64, index int) (*wire.GovTxResult, error) {
	results, err := t.RPC().BlockResults(ctx, height)
	if err != nil {
		return nil, err
	}
	if index >= len(results.Txs) {
		return nil, fmt.Errorf("block %d has %d results, want one at %d", height, len(results.Txs), index)
	}
	outcome := results.Txs[index]
	return &wire.GovTxResult{
		TxHash: tx.Hash, Height: height, Code: outcome.Code, Codespace: outcome.Codespace, RawLog: outcome.Log,
		ProposalID: proposalID(outcome), InclusionStatus: wire.InclusionCommitted,
	}, nil
}

// judge says what an included transaction means for its task.
func judge(found *wire.GovTxResult, msg message) (*wire.GovTxResult, error) {
	switch {
	case found.Code != 0:
		found.InclusionStatus = wire.InclusionFailed
		return found, api.Terminal(api.CodeTransactionFailed,
			fmt.Errorf("transaction %s failed at height %d: code=%d codespace=%q log=%s", found.TxHash, found.Height, found.Code, found.Codespace, found.RawLog))
	case msg.proposes && found.ProposalID == 0:
		return found, api.Terminal(api.CodeTransactionFailed, fmt.Errorf("transaction %s created no proposal", found.TxHash))
	}
	found.RawLog = "" // of interest only when something is wrong
	return found, nil
}

// proposalID reads the number of a new proposal from the events. Versions differ
// in whether attributes are base64.
func proposalID(outcome rpc.TxOutcome) uint64 {
	var events []struct {
		Type       string `json:"type"`
		Attributes []struct {
			Key   string `json:"key"`
			Value string `json:"value"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal(outcome.Events, &events); err != nil {
		return 0
	}
	const key = "proposal_id"
	encodedKey := base64.StdEncoding.EncodeToString([]byte(key))
	for _, event := range events {
		if event.Type != "submit_proposal" {
			continue
		}
		for _, attribute := range event.Attributes {
			value := attribute.Value
			switch attribute.Key {
			case key:
			case encodedKey:
				raw, err := base64.StdEncoding.DecodeString(value)
				if err != nil {
					continue
				}
				value = string(raw)
			default:
				continue
			}
			if id, err := strconv.ParseUint(value, 10, 64); err == nil {
				return id
			}
		}
	}
	return 0
}
