package genesis

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// setPeers makes the other validators of the ceremony this node's persistent
// peers. It writes the whole list, so running it again changes nothing.
func (t *Tasks) setPeers(ctx context.Context, _ engine.Task, p wire.SetGenesisPeers) (any, error) {
	self, err := t.Node.ID()
	if err != nil {
		return nil, needsIdentity(err)
	}
	peers := p.Peers
	switch {
	case peers == nil:
		if peers, err = t.peersFromBucket(ctx); err != nil {
			return nil, err
		}
	case len(peers) == 0:
		// Peers that the user has set in the configuration stay.
		return wire.Peers{Peers: peers}, nil
	}
	others := slices.DeleteFunc(slices.Clone(peers), func(peer string) bool { return strings.HasPrefix(peer, self+"@") })
	if err := t.SetPeers(ctx, others); err != nil {
		return nil, err
	}
	return wire.Peers{Peers: others}, nil
}

func (t *Tasks) peersFromBucket(ctx context.Context) ([]string, error) {
	bucket, err := node.Bucket(ctx, t.Node.GenesisBucket, "genesis bucket")
	if err != nil {
		return nil, err
	}
	defer func() { _ = bucket.Close() }()
	data, err := bucket.ReadAll(ctx, t.key("peers.json"), maxArtifact)
	if err != nil {
		return nil, node.BucketError(err)
	}
	var list wire.SetGenesisPeers
	if err := json.Unmarshal(data, &list.Peers); err != nil {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("parsing %s: %w", bucket.Address(t.key("peers.json")), err))
	}
	if err := list.Validate(); err != nil {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("reading %s: %w", bucket.Address(t.key("peers.json")), err))
	}
	return list.Peers, nil
}
