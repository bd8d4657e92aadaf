package objectstore

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// ManifestSuffix is appended to an object's key for its manifest.
const ManifestSuffix = ".sha256.json"

// Manifest says what an archive in a bucket has to be. It is written after the
// archive, so an archive whose manifest is missing may be half of an old world.
type Manifest struct {
	// SHA256 is the lower-case hex digest of the object's bytes.
	SHA256 string `json:"sha256"`
	// Size is the number of bytes of the object.
	Size int64 `json:"size"`
	// UnpackedSize is the number of bytes of all files inside.
	UnpackedSize int64 `json:"unpackedSize"`
	// Files is the number of files inside.
	Files int64 `json:"files"`
	// Height is the block height of a snapshot.
	Height int64 `json:"height,omitempty"`
	// ChainID is the chain a snapshot belongs to.
	ChainID string `json:"chainId,omitempty"`
	// BlockTime is when the block of a snapshot was made; zero when that is not known.
	BlockTime time.Time `json:"blockTime,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	// Publisher is the program that put the archive there on its own account and may delete
	// it again; empty for an archive that somebody asked for.
	Publisher string `json:"publisher,omitempty"`
	// NodeID is the node that published it.
	NodeID string `json:"nodeId,omitempty"`
}

// ParseManifest reads a manifest and checks that it can be used.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("parsing manifest: %w", err)
	}
	if sum, err := hex.DecodeString(m.SHA256); err != nil || len(sum) != 32 {
		return m, fmt.Errorf("parsing manifest: sha256 %q is not 64 hex digits", m.SHA256)
	}
	if m.Size <= 0 || m.UnpackedSize < 0 {
		return m, fmt.Errorf("parsing manifest: size %d and unpackedSize %d cannot be", m.Size, m.UnpackedSize)
	}
	return m, nil
}
