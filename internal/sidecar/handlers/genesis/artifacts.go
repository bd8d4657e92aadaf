package genesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

const uploadMark = "artifact-upload"

var nodeIDPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

// identity is the part of a node that others may know. The public format wraps
// it in node_key; the private key, which the public sidecar puts there too,
// stays at home.
type identity struct {
	NodeKey struct {
		ID string `json:"id"`
	} `json:"node_key"`
}

// uploadArtifacts puts this node's gentx and node id into the bucket. Uploading
// again overwrites with the same bytes, until the genesis is published.
func (t *Tasks) uploadArtifacts(ctx context.Context, _ engine.Task, p wire.UploadGenesisArtifacts) (any, error) {
	gentx, err := t.readGentx()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Terminal(api.CodePrecondition, err).WithHint("run generate-identity and generate-gentx first")
	}
	if err != nil {
		return nil, err
	}
	var id identity
	id.NodeKey.ID = gentx.NodeID
	encoded, err := json.Marshal(id)
	if err != nil {
		return nil, fmt.Errorf("encoding the identity: %w", err)
	}
	bucket, err := node.Bucket(ctx, t.Node.GenesisBucket, "genesis bucket")
	if err != nil {
		return nil, err
	}
	defer func() { _ = bucket.Close() }()
	published, err := t.published(ctx, bucket)
	if err != nil {
		return nil, err
	}
	if err := t.putArtifact(ctx, bucket, p.NodeName+"/gentx.json", gentx.Gentx, published != ""); err != nil {
		return nil, err
	}
	if err := t.putArtifact(ctx, bucket, p.NodeName+"/identity.json", encoded, published != ""); err != nil {
		return nil, err
	}
	return nil, t.Node.Mark(uploadMark)
}

// artifacts reads what another node uploaded. One that has not done so yet is
// worth waiting for.
func (t *Tasks) artifacts(ctx context.Context, bucket *objectstore.Bucket, name string) (json.RawMessage, string, error) {
	gentx, err := bucket.ReadAll(ctx, t.key(name+"/gentx.json"), maxArtifact)
	if err != nil {
		return nil, "", node.BucketError(err)
	}
	data, err := bucket.ReadAll(ctx, t.key(name+"/identity.json"), maxArtifact)
	if err != nil {
		return nil, "", node.BucketError(err)
	}
	var id identity
	if err := json.Unmarshal(data, &id); err != nil {
		return nil, "", api.Terminal(api.CodeIntegrity, fmt.Errorf("parsing the identity of %s: %w", name, err))
	}
	if !nodeIDPattern.MatchString(id.NodeKey.ID) {
		return nil, "", api.Terminal(api.CodeIntegrity, fmt.Errorf("the identity of %s has no node id", name))
	}
	return gentx, id.NodeKey.ID, nil
}
