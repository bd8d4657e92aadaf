package supervision

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// dirName is the sidecar's own directory in a home.
const dirName = ".sei-sidecar"

// The files in it.
const (
	recordName = "process.json"
	orderName  = "order.json"
	lockName   = "gate.lock"
	outputName = "output"
)

// Path is a file of the sidecar's own in a home.
func Path(home, name string) string { return filepath.Join(home, dirName, name) }

// Save replaces a file of the sidecar's own. Each has one writer.
func Save(home, name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	if err := os.MkdirAll(filepath.Join(home, dirName), 0o750); err != nil {
		return fmt.Errorf("making the sidecar's directory: %w", err)
	}
	return durable.WriteFile(Path(home, name), append(data, '\n'), 0o600)
}

// Load reads a file of the sidecar's own; what is not there leaves content as it is.
func Load(home, name string, content any) error {
	data, err := os.ReadFile(Path(home, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if err := json.Unmarshal(data, content); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}
