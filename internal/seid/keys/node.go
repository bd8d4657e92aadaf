package keys

import (
	"encoding/hex"
	"fmt"
)

// NodeKeyFile is the name of the file, and of the Secret's data key, that holds
// a node's peer-to-peer identity.
const NodeKeyFile = "node_key.json"

// NodeKey is the public side of a node's peer-to-peer identity.
type NodeKey struct {
	// ID is how peers address the node: 40 lower-case hex digits.
	ID string
}

// ParseNodeKey checks the content of a node key file. The file may leave the id
// out, as other consensus engines do; if it has one it must be the key's own.
func ParseNodeKey(data []byte) (NodeKey, error) {
	var file struct {
		ID      string     `json:"id"`
		PrivKey *taggedKey `json:"priv_key"`
	}
	if err := decodeObject(data, &file); err != nil {
		return NodeKey{}, fmt.Errorf("%s: %w", NodeKeyFile, err)
	}
	public, err := privateKey(file.PrivKey)
	if err != nil {
		return NodeKey{}, fmt.Errorf("%s: %w", NodeKeyFile, err)
	}
	id := hex.EncodeToString(address(public))
	if file.ID != "" && file.ID != id {
		return NodeKey{}, fmt.Errorf("%s: id is %q but the key's id is %q", NodeKeyFile, file.ID, id)
	}
	return NodeKey{ID: id}, nil
}
