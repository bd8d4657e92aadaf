package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/test/chaos"
)

// blocks are all blocks of the chain, from a node that has them all.
func (r *chaosRun) blocks() []chaos.Block {
	r.t.Helper()
	latest := r.height("v-0")
	blocks := make([]chaos.Block, 0, latest)
	for height := int64(1); height <= latest; height++ {
		block, err := r.block(height)
		if err != nil {
			r.t.Errorf("reading block %d: %v", height, err)
			break // the report is of use all the same
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		r.t.Error("v-0 has no block to show")
	}
	return blocks
}

func (r *chaosRun) block(height int64) (block chaos.Block, err error) {
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, fmt.Sprintf("%s/block?height=%d", r.rpc("v-0").URL(), height), http.NoBody)
	if err != nil {
		return block, fmt.Errorf("making the request: %w", err)
	}
	response, err := r.web.Do(request)
	if err != nil {
		return block, fmt.Errorf("sending the request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Block struct {
			Header struct {
				Height int64     `json:"height,string"`
				Time   time.Time `json:"time"`
			} `json:"header"`
			Data struct {
				Txs [][]byte `json:"txs"`
			} `json:"data"`
			Evidence []json.RawMessage `json:"evidence"`
		} `json:"block"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Block.Header.Height != height {
		return block, fmt.Errorf("%s with an answer for height %d: %w", response.Status, answer.Block.Header.Height, err)
	}
	for _, tx := range answer.Block.Data.Txs {
		r.included[rpc.TxHash(tx)] = true
	}
	return chaos.Block{Height: height, At: answer.Block.Header.Time, Evidence: len(answer.Block.Evidence)}, nil
}
