package export

import (
	"context"
	"regexp"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// refusedError is a block that will not come: the node's own seid refuses it.
type refusedError struct{ *api.Divergence }

func (e *refusedError) Error() string { return "seid refuses the block: " + e.Message }

// refusal is the word of this node's seid that it refuses the block at a height, which therefore
// never comes; nil when it does not say so. One that names no height is about the block after the
// last, which is this one if the node answers and does not have it.
func (j *job) refusal(asked *rpc.Client, height int64, answers bool) *api.Divergence {
	if j.Refused == nil || asked != j.shadow || j.params.RPCEndpoint != "" {
		return nil
	}
	d := j.Refused()
	if d == nil || d.Height != height && (d.Height != 0 || !answers) {
		return nil
	}
	return d
}

// bothHashes are what seid has come to and what the block has.
var bothHashes = regexp.MustCompile(`Expected ([0-9A-Fa-f]*), got ([0-9A-Fa-f]*)`)

// reportRefusal is the report on a block that this node refuses. The canonical block is only there
// for people: that seid and the chain do not agree needs no second witness.
func (j *job) reportRefusal(ctx context.Context, canonical *rpc.Client, height int64, d *api.Divergence) *report {
	difference := Difference{Layer: d.Layer, Field: d.Field}
	if m := bothHashes.FindStringSubmatch(d.Message); m != nil {
		difference.Shadow, difference.Canonical = m[1], m[2]
	}
	found := &report{
		ChainID: j.Node.ChainID, Height: height, DetectedAt: time.Now().UTC(), ShadowRPC: j.shadow.URL(), CanonicalRPC: canonical.URL(),
		Differences: []Difference{difference}, ShadowSays: d.Message,
	}
	if block, err := j.askBlock(ctx, canonical, height); err == nil && block != nil {
		found.CanonicalHeader = block.Header
	}
	return found
}
