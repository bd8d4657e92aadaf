package gov_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// chain is a chain of one account that behaves as the real one: it takes a
// transaction only with the next sequence number, remembers the bytes it has
// seen, and puts what it took into the next block.
type chain struct {
	t       testing.TB
	mu      sync.Mutex
	address string
	// vesting wraps the account as a vesting account.
	vesting  bool
	network  string
	blocks   [][][]byte // by height - 1
	earliest int64
	mempool  [][]byte
	seen     map[string]bool
	sequence uint64
	// code is the outcome of included transactions.
	code uint32
	// afterBroadcast runs when a transaction was taken, before the caller hears.
	afterBroadcast func()
	// down makes every call fail; dropNext loses the next broadcast on its way.
	down, dropNext bool
	// started has just been started: it has made no block since.
	started bool
	// refuse has every transaction refused, and is called then.
	refuse func()
	// frozen makes no blocks.
	frozen     bool
	broadcasts int
}

func newChain(tb testing.TB, address string) *chain {
	tb.Helper()
	return &chain{t: tb, address: address, network: "test-1", blocks: make([][][]byte, 10), earliest: 1, seen: map[string]bool{}, sequence: 7}
}

func (c *chain) Status(ctx context.Context) (*rpc.Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down || ctx.Err() != nil {
		return nil, fmt.Errorf("%w: refused", rpc.ErrUnreachable)
	}
	if !c.frozen { // every look at the clock makes a block
		c.blocks = append(c.blocks, c.mempool)
		c.sequence += uint64(len(c.mempool))
		c.mempool = nil
	}
	status := &rpc.Status{}
	status.NodeInfo.Network = c.network
	status.SyncInfo.LatestBlockHeight = int64(len(c.blocks))
	status.SyncInfo.EarliestBlockHeight = c.earliest
	return status, nil
}

func (c *chain) Block(_ context.Context, height int64) (*rpc.Block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if height < c.earliest || height > int64(len(c.blocks)) {
		c.t.Errorf("block %d was asked for, there are %d to %d", height, c.earliest, len(c.blocks))
	}
	return &rpc.Block{Hash: "x", Txs: c.blocks[height-1]}, nil
}

func (c *chain) BlockResults(_ context.Context, height int64) (*rpc.BlockResults, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	results := &rpc.BlockResults{Height: height}
	for range c.blocks[height-1] {
		events := json.RawMessage(`[{"type":"submit_proposal","attributes":[{"key":"cHJvcG9zYWxfaWQ=","value":"NDI="}]}]`)
		results.Txs = append(results.Txs, rpc.TxOutcome{Code: c.code, Log: "the log", Events: events})
	}
	return results, nil
}

func (c *chain) BroadcastTxSync(ctx context.Context, tx []byte) (*rpc.BroadcastResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broadcasts++
	if c.down {
		return nil, fmt.Errorf("%w: refused", rpc.ErrUnreachable)
	}
	if c.dropNext {
		c.dropNext = false
		return nil, fmt.Errorf("%w: connection reset", rpc.ErrUnreachable)
	}
	if c.started {
		return &rpc.BroadcastResult{Code: 4, Codespace: "sdk", Log: "signature verification failed; please verify account number (0) and chain-id (): unauthorized"}, nil
	}
	if c.refuse != nil {
		c.refuse()
		return &rpc.BroadcastResult{Code: 13, Codespace: "sdk", Log: "insufficient fee"}, nil
	}
	if c.seen[string(tx)] {
		return nil, &rpc.Error{HTTPStatus: 200, Code: -32603, Message: "Internal error", Data: "tx already exists in cache"}
	}
	expected := c.sequence + uint64(len(c.mempool))
	if got := sequenceOf(tx); got != expected {
		return &rpc.BroadcastResult{Code: 32, Codespace: "sdk", Log: fmt.Sprintf("account sequence mismatch, expected %d, got %d", expected, got)}, nil
	}
	c.seen[string(tx)] = true
	c.mempool = append(c.mempool, tx)
	if c.afterBroadcast != nil {
		c.afterBroadcast()
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", rpc.ErrUnreachable, err)
		}
	}
	return &rpc.BroadcastResult{Hash: rpc.TxHash(tx)}, nil
}

func (c *chain) ABCIQuery(_ context.Context, path string, data []byte) (*rpc.QueryResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path != "/cosmos.auth.v1beta1.Query/Account" {
		c.t.Errorf("unexpected query %s", path)
	}
	want := bytesField(nil, 1, []byte(c.address))
	if string(data) != string(want) {
		return &rpc.QueryResult{Code: 22, Log: "account not found: key not found"}, nil
	}
	base := bytesField(nil, 1, []byte(c.address))
	base = bytesField(base, 2, []byte("a public key"))
	base = protowire.AppendVarint(protowire.AppendTag(base, 3, protowire.VarintType), 11)
	base = protowire.AppendVarint(protowire.AppendTag(base, 4, protowire.VarintType), c.sequence)
	if c.vesting {
		base = bytesField(nil, 1, bytesField(nil, 1, base))
	}
	packed := bytesField(bytesField(nil, 1, []byte("/some.Account")), 2, base)
	return &rpc.QueryResult{Value: bytesField(nil, 1, packed)}, nil
}

func bytesField(to []byte, num protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, num, protowire.BytesType), value)
}

// included counts the transactions in blocks.
func (c *chain) included() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := 0
	for _, block := range c.blocks {
		count += len(block)
	}
	return count
}

// sequenceOf reads the sequence number from a transaction's auth info.
func sequenceOf(tx []byte) uint64 {
	signer := get(get(tx, 2), 1)
	for len(signer) > 0 {
		num, kind, n := protowire.ConsumeTag(signer)
		if num == 3 && kind == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(signer[n:])
			return v
		}
		signer = signer[n+protowire.ConsumeFieldValue(num, kind, signer[n:]):]
	}
	return 0
}

func get(message []byte, want protowire.Number) []byte {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if num == want && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(message[n:])
			return v
		}
		message = message[n+protowire.ConsumeFieldValue(num, kind, message[n:]):]
	}
	return nil
}
