package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// NodeIDFrom returns a function that reads the node's peer-to-peer id from its
// home. The file is read every time: a task may create it.
func NodeIDFrom(home string) func() (string, error) {
	path := filepath.Join(home, "config", keys.NodeKeyFile)
	return func() (string, error) {
		raw, err := os.ReadFile(path) //nolint:gosec // in the home we were given
		if errors.Is(err, fs.ErrNotExist) {
			return "", api.Retryable(api.CodeNotFound, errors.New("node_key.json not found — generate-identity may not have run yet"))
		}
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", keys.NodeKeyFile, err)
		}
		key, err := keys.ParseNodeKey(raw)
		if err == nil {
			return key.ID, nil
		}
		message := errors.New("invalid Ed25519 key in node_key.json")
		if !json.Valid(raw) {
			message = errors.New("failed to parse node_key.json")
		}
		return "", api.Terminal(api.CodeIntegrity, message).WithHint("%v", err)
	}
}
