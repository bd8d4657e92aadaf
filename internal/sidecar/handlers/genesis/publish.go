package genesis

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

const jsonType = "application/json"

// published is the hash of the chain's genesis in the bucket; empty when there is none.
func (t *Tasks) published(ctx context.Context, bucket *objectstore.Bucket) (string, error) {
	object, err := bucket.Get(ctx, t.key(genesisFile))
	if objectstore.KindOf(err) == objectstore.KindNotFound {
		return "", nil
	}
	if err != nil {
		return "", node.BucketError(err)
	}
	defer func() { _ = object.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, object); err != nil {
		return "", node.BucketError(err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// publish puts the genesis into the bucket, and then the peers. A genesis that is there already
// is never replaced: a chain may run on it.
func (t *Tasks) publish(ctx context.Context, bucket *objectstore.Bucket, data []byte, peers []string) error {
	list, err := json.Marshal(peers)
	if err != nil {
		return fmt.Errorf("encoding the peers: %w", err)
	}
	there, err := t.published(ctx, bucket)
	if err != nil {
		return err
	}
	if there == "" {
		err = bucket.PutAbsent(ctx, t.key(genesisFile), jsonType, data)
		if objectstore.KindOf(err) == objectstore.KindExists { // somebody was quicker
			there, err = t.published(ctx, bucket)
		}
		if err != nil {
			return node.BucketError(err)
		}
	}
	if hash := hashOf(data); there != "" && there != hash {
		return t.otherGenesis(bucket, there, hash)
	}
	return node.BucketError(bucket.Put(ctx, t.key("peers.json"), jsonType, bytes.NewReader(list)))
}

func (t *Tasks) otherGenesis(bucket *objectstore.Bucket, there, ours string) error {
	return api.Terminal(api.CodePrecondition, fmt.Errorf("%s holds another genesis of this chain: SHA-256 %s, and not %s",
		bucket.Address(t.key(genesisFile)), there, ours)).
		WithHint("a chain may run on it, so it is not replaced; choose another chain id or bucket, or delete the object if that chain no longer exists")
}

// putArtifact writes what the genesis is made from. Once the genesis is published, that cannot
// change: a chain of the same id elsewhere would be mixed into this one.
func (t *Tasks) putArtifact(ctx context.Context, bucket *objectstore.Bucket, name string, data []byte, published bool) error {
	if !published {
		return node.BucketError(bucket.Put(ctx, t.key(name), jsonType, bytes.NewReader(data)))
	}
	there, err := bucket.ReadAll(ctx, t.key(name), maxArtifact)
	switch {
	case err != nil && objectstore.KindOf(err) != objectstore.KindNotFound:
		return node.BucketError(err)
	case err == nil && bytes.Equal(there, data):
		return nil
	default:
		return api.Terminal(api.CodePrecondition, fmt.Errorf("%s is published, and it was not made from this node's %s",
			bucket.Address(t.key(genesisFile)), name)).
			WithHint("another chain of this id uses the bucket, or this validator's keys are new; choose another chain id or bucket")
	}
}
