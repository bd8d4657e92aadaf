package gate

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// wrongHeader is how seid says that the header of a block is not what its own state has come to.
var wrongHeader = regexp.MustCompile(`wrong Block\.Header\.(\w+)\.\s+Expected [0-9A-Fa-f]*, got [0-9A-Fa-f]*`)

// headerFields are the fields of a header that follow from the state, by seid's name for them. What
// else may be wrong with a header says nothing of the state.
var headerFields = map[string]string{
	"AppHash": "app_hash", "LastResultsHash": "last_results_hash", "ConsensusHash": "consensus_hash",
	"ValidatorsHash": "validators_hash", "NextValidatorsHash": "next_validators_hash",
}

// blockHeight is where lines about a block have its height: as a field of the log, in either format,
// or in the words of a panic.
var blockHeight = regexp.MustCompile(`(?:\bheight"?[=:]"?|committed block \()(\d+)`)

// The words by which the lines are known. While it fetches blocks, seid refuses one whose commit it
// has verified, and asks other peers for it; while it follows the chain it ends.
var (
	wordWrong     = []byte("wrong Block.Header.")
	wordFinalized = []byte("finalized block")
	byTheChain    = [][]byte{
		[]byte("Failed to validate block or verify commit"), []byte("ailed to process committed block"),
		[]byte("+2/3 prevoted for an invalid block"), []byte("+2/3 committed an invalid block"),
	}
)

// readDivergence looks at a line that calls the header of a block wrong. Only a block that the
// validators have agreed on shows that the state of this node is another one; of any other block the
// height is kept, because the panic that may follow does not name it. Log and panic come through two
// pipes, so that either may be read first.
func (f *findings) readDivergence(line []byte) {
	m := wrongHeader.FindSubmatch(line)
	if m == nil || headerFields[string(m[1])] == "" {
		return
	}
	height, _ := strconv.ParseInt(first(blockHeight, line), 10, 64) // 0 without one
	var next api.Divergence                                         // never changed once others have seen it
	if f.divergence != nil {
		next = *f.divergence
	}
	switch {
	case !holds(line, byTheChain):
		f.doubted = cmp.Or(height, f.doubted)
	case begins(line, panics):
		next.Field, next.Message = headerFields[string(m[1])], text(line)
	case f.divergence == nil:
		next.Field, next.Message = headerFields[string(m[1])], text(m[0])
	}
	if next.Field == "" {
		return
	}
	next.Height = cmp.Or(next.Height, height, f.doubted)
	f.divergence = &next
}
