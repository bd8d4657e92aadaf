package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Status asks the node for its identity and its height.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	var out Status
	if err := c.get(ctx, "status", nil, &out); err != nil {
		return nil, err
	}
	if out.NodeInfo.ID == "" {
		return nil, errors.New("calling status: the answer names no node id")
	}
	return &out, nil
}

// Block asks for the block at height; 0 means the latest.
func (c *Client) Block(ctx context.Context, height int64) (*Block, error) {
	var out Block
	if err := c.get(ctx, "block", heightQuery(height), &out); err != nil {
		return nil, err
	}
	if out.Hash == "" {
		return nil, fmt.Errorf("calling block: the answer for height %d has no hash", height)
	}
	return &out, nil
}

// Commit asks for the signed header at height, which is what a light client asks for.
func (c *Client) Commit(ctx context.Context, height int64) (*Commit, error) {
	var out Commit
	if err := c.get(ctx, "commit", heightQuery(height), &out); err != nil {
		return nil, err
	}
	if out.Hash == "" {
		return nil, fmt.Errorf("calling commit: the answer for height %d has no hash", height)
	}
	return &out, nil
}

// BlockResults asks what the execution of the block at height gave; 0 means the
// latest.
func (c *Client) BlockResults(ctx context.Context, height int64) (*BlockResults, error) {
	var out BlockResults
	if err := c.get(ctx, "block_results", heightQuery(height), &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// NetInfo asks for the node's peers.
func (c *Client) NetInfo(ctx context.Context) (*NetInfo, error) {
	var out NetInfo
	if err := c.get(ctx, "net_info", nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// LagStatus asks how far the node is behind its peers. A node that says it is
// too far behind is an answer (Behind), not an error.
func (c *Client) LagStatus(ctx context.Context) (*LagStatus, error) {
	var out LagStatus
	status, err := c.getStatus(ctx, "lag_status", nil, &out)
	if err != nil {
		return nil, err
	}
	out.Behind = status == http.StatusExpectationFailed
	return &out, nil
}

// BroadcastTxSync hands a signed transaction to the node and returns what its
// mempool said. A rejected transaction is a result with a code, not an error.
func (c *Client) BroadcastTxSync(ctx context.Context, tx []byte) (*BroadcastResult, error) {
	var out BroadcastResult
	if err := c.post(ctx, "broadcast_tx_sync", map[string]any{"tx": tx}, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// ABCIQuery asks the application. A refused query is a result with a code, not
// an error.
func (c *Client) ABCIQuery(ctx context.Context, path string, data []byte) (*QueryResult, error) {
	var out struct {
		Response QueryResult `json:"response"`
	}
	params := map[string]any{"path": path, "data": hex.EncodeToString(data), "height": "0", "prove": false}
	if err := c.post(ctx, "abci_query", params, &out); err != nil {
		return nil, err
	}
	return &out.Response, nil
}

// ABCIInfo asks the application itself how far it is, and to what state it has come.
func (c *Client) ABCIInfo(ctx context.Context) (*ABCIInfo, error) {
	var out struct {
		Response ABCIInfo `json:"response"`
	}
	if err := c.get(ctx, "abci_info", nil, &out); err != nil {
		return nil, err
	}
	return &out.Response, nil
}

// Tx looks a transaction up in the node's index. See ErrTxNotFound and
// ErrTxIndexOff.
func (c *Client) Tx(ctx context.Context, hash string) (*Tx, error) {
	hash = strings.ToUpper(strings.TrimPrefix(hash, "0x"))
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != 32 {
		return nil, fmt.Errorf("calling tx: %q is not a transaction hash: want 64 hex digits", hash)
	}
	var out Tx
	if err := c.get(ctx, "tx", url.Values{"hash": {hash}}, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

func heightQuery(height int64) url.Values {
	if height == 0 {
		return nil
	}
	return url.Values{"height": {strconv.FormatInt(height, 10)}}
}
