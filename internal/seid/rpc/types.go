package rpc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Status is what a node says about itself.
type Status struct {
	NodeInfo struct {
		ID      string `json:"id"`
		Network string `json:"network"`
		Moniker string `json:"moniker"`
		Version string `json:"version"`
	} `json:"node_info"`
	SyncInfo struct {
		LatestBlockHeight   int64     `json:"latest_block_height,string"`
		LatestBlockHash     string    `json:"latest_block_hash"`
		LatestAppHash       string    `json:"latest_app_hash"`
		LatestBlockTime     time.Time `json:"latest_block_time"`
		EarliestBlockHeight int64     `json:"earliest_block_height,string"`
		MaxPeerBlockHeight  int64     `json:"max_peer_block_height,string"`
		// CatchingUp is false on nodes that are hundreds of blocks behind. Ask
		// LagStatus whether a node is in sync.
		CatchingUp bool `json:"catching_up"`
	} `json:"sync_info"`
	ValidatorInfo struct {
		Address     string `json:"address"`
		VotingPower int64  `json:"voting_power,string"`
	} `json:"validator_info"`
}

// Header is the part of a block header that is compared between nodes.
type Header struct {
	ChainID         string    `json:"chain_id"`
	Height          int64     `json:"height,string"`
	Time            time.Time `json:"time"`
	AppHash         string    `json:"app_hash"`
	LastResultsHash string    `json:"last_results_hash"`
	DataHash        string    `json:"data_hash"`
	ProposerAddress string    `json:"proposer_address"`
}

// Block is one block.
type Block struct {
	// Hash is 64 upper-case hex digits.
	Hash   string
	Header Header
	// Txs are the raw transactions, in order.
	Txs [][]byte
}

// UnmarshalJSON flattens the answer's nesting.
func (b *Block) UnmarshalJSON(data []byte) error {
	var wire struct {
		BlockID struct {
			Hash string `json:"hash"`
		} `json:"block_id"`
		Block struct {
			Header Header `json:"header"`
			Data   struct {
				Txs [][]byte `json:"txs"`
			} `json:"data"`
		} `json:"block"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*b = Block{Hash: wire.BlockID.Hash, Header: wire.Block.Header, Txs: wire.Block.Data.Txs}
	return nil
}

// Commit is the signed header of one block.
type Commit struct {
	// Hash is the block's, 64 upper-case hex digits.
	Hash   string
	Header Header
	// Validators is how many had to sign, whether they did or not.
	Validators int
}

// UnmarshalJSON flattens the answer's nesting.
func (c *Commit) UnmarshalJSON(data []byte) error {
	var wire struct {
		Signed struct {
			Header Header `json:"header"`
			Commit struct {
				BlockID struct {
					Hash string `json:"hash"`
				} `json:"block_id"`
				Signatures []struct{} `json:"signatures"`
			} `json:"commit"`
		} `json:"signed_header"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*c = Commit{
		Hash: wire.Signed.Commit.BlockID.Hash, Header: wire.Signed.Header, Validators: len(wire.Signed.Commit.Signatures),
	}
	return nil
}

// TxIndex is the position of the transaction with the given hash, or -1. It is
// how a transaction is found on nodes that keep no index.
func (b *Block) TxIndex(hash string) int {
	for i, tx := range b.Txs {
		if strings.EqualFold(TxHash(tx), hash) {
			return i
		}
	}
	return -1
}

// TxHash is the hash by which a transaction is known: 64 upper-case hex digits.
func TxHash(tx []byte) string {
	sum := sha256.Sum256(tx)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// TxOutcome is what the execution of one transaction gave.
type TxOutcome struct {
	Code      uint32          `json:"code"`
	Codespace string          `json:"codespace"`
	Data      []byte          `json:"data"`
	Log       string          `json:"log"`
	GasWanted int64           `json:"gas_wanted,string"`
	GasUsed   int64           `json:"gas_used,string"`
	Events    json.RawMessage `json:"events"`
}

// BlockResults is what the execution of one block gave.
type BlockResults struct {
	Height int64
	Txs    []TxOutcome
	// Raw is the whole result as the node sent it.
	Raw json.RawMessage
}

// UnmarshalJSON keeps the raw result beside the decoded one.
func (r *BlockResults) UnmarshalJSON(data []byte) error {
	var wire struct {
		Height int64       `json:"height,string"`
		Txs    []TxOutcome `json:"txs_results"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*r = BlockResults{Height: wire.Height, Txs: wire.Txs, Raw: append(json.RawMessage(nil), data...)}
	return nil
}

// PeerConnection is one line of a node's peer table.
type PeerConnection struct {
	NodeID string `json:"node_id"`
	State  string `json:"state"`
}

// Connected reports whether the peer is usable now.
func (p PeerConnection) Connected() bool { return strings.Contains(p.State, "connected") }

// NetInfo is a node's view of its peers.
type NetInfo struct {
	// Connections is the only trustworthy part of the answer: the count beside
	// it can be "0" while peers are connected.
	Connections []PeerConnection `json:"peer_connections"`
}

// Connected counts the usable peers.
func (n NetInfo) Connected() int {
	count := 0
	for _, p := range n.Connections {
		if p.Connected() {
			count++
		}
	}
	return count
}

// LagStatus is how far a node is behind the highest of its peers.
type LagStatus struct {
	CurrentHeight int64 `json:"current_height,string"`
	MaxPeerHeight int64 `json:"max_peer_height,string"`
	Lag           int64 `json:"lag,string"`
	// Behind is the node's own verdict: Lag is above its rpc.lag-threshold.
	Behind bool `json:"-"`
}

// BroadcastResult is what the node's mempool said to a transaction.
type BroadcastResult struct {
	// Code is 0 if the transaction was taken.
	Code      uint32 `json:"code"`
	Codespace string `json:"codespace"`
	Log       string `json:"log"`
	Hash      string `json:"hash"`
}

// QueryResult is the application's answer to a query.
type QueryResult struct {
	Code      uint32 `json:"code"`
	Codespace string `json:"codespace"`
	Log       string `json:"log"`
	Value     []byte `json:"value"`
	Height    int64  `json:"height,string"`
}

// ABCIInfo is how far the application is.
type ABCIInfo struct {
	Height int64 `json:"last_block_height,string"`
	// AppHash is what the application's state after that block has come to. The header of the next
	// block has the one that the validators agreed on.
	AppHash []byte `json:"last_block_app_hash"`
}

// Tx is an indexed transaction.
type Tx struct {
	Hash    string    `json:"hash"`
	Height  int64     `json:"height,string"`
	Index   int       `json:"index"`
	Outcome TxOutcome `json:"tx_result"`
	Bytes   []byte    `json:"tx"`
}
