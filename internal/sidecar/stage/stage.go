// Package stage remembers on the volume that a node was in sync once. The mark outlives pods
// and sidecars; nothing that can be asked of a running seid belongs here.
package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// Mark is when and where the node was in sync for the first time.
type Mark struct {
	Time   time.Time `json:"time"`
	Height int64     `json:"height"`
}

func path(home string) string { return filepath.Join(home, ".sei-sidecar", "synced") }

// Synced reports whether the node was in sync at least once.
func Synced(home string) (bool, error) { return durable.Exists(path(home)) }

// Read gives the mark; nil means that there is none. A mark that cannot be decoded is one:
// what counts is that it was made.
func Read(home string) (*Mark, error) {
	data, err := os.ReadFile(path(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the sync mark: %w", err)
	}
	mark := &Mark{}
	_ = json.Unmarshal(data, mark) // see above
	return mark, nil
}

// MarkSynced records that the node is in sync. The first mark stays.
func MarkSynced(home string, mark Mark) error {
	synced, err := Synced(home)
	if synced || err != nil {
		return err
	}
	return durable.WriteJSON(path(home), mark, 0o640)
}

// Forget removes the mark: the node's data goes and its first sync starts over.
func Forget(home string) error { return durable.Remove(path(home)) }
