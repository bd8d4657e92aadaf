package supervision

import (
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
	// progressName is what gates call it that note output alone.
	progressName = "output"
)

// Path is a file of the sidecar's own in a home.
func Path(home, name string) string { return filepath.Join(home, dirName, name) }

// Save replaces a file of the sidecar's own. Each has one writer.
func Save(home, name string, content any) error {
	return durable.WriteJSON(Path(home, name), content, 0o600)
}

// Load reads a file of the sidecar's own; what is not there leaves content as it is.
func Load(home, name string, content any) error {
	_, err := durable.ReadJSON(Path(home, name), content)
	return err
}
