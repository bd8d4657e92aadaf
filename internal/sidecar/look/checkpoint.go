package look

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const (
	// checkpointEvery is how many blocks lie between two heights whose hash is told. Nodes that are
	// scraped at different moments rarely are at the same height, and mostly behind the same one of
	// these.
	checkpointEvery = 100
	// hashDigits is how much of a hash is told: as much as a metric's value holds without rounding.
	hashDigits = 12
)

// checkpoint is what the node has at a height at which all nodes of its chain are compared.
type checkpoint struct {
	height int64
	// appHash is the beginning of the hash of the application's state before that block, as a number.
	appHash float64
}

// checkpoint asks for the last height that is told; nil when there is none, or no answer.
func (l *Look) checkpoint(ctx context.Context, doc api.Node) *checkpoint {
	height := doc.Sync.Height - doc.Sync.Height%checkpointEvery
	if height == 0 || l.RPC == nil {
		return nil
	}
	return l.checkpoints.get(ctx, processOf(doc.Seid)+" "+strconv.FormatInt(height, 10), func(ctx context.Context) *checkpoint {
		commit, err := l.RPC().Commit(ctx, height)
		if err != nil {
			l.Log.Debug("asking for a block to compare", "height", height, "error", err)
			return nil
		}
		hash, ok := hashNumber(commit.Header.AppHash)
		if !ok {
			return nil
		}
		return &checkpoint{height: height, appHash: hash}
	})
}

// hashNumber is the beginning of a hash as a number.
func hashNumber(hash string) (float64, bool) {
	if len(hash) < hashDigits {
		return 0, false
	}
	raw, err := hex.DecodeString("0000" + hash[:hashDigits])
	if err != nil {
		return 0, false
	}
	return float64(binary.BigEndian.Uint64(raw)), true
}
