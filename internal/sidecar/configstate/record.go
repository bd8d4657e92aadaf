package configstate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// record is the content of config.json.
type record struct {
	// Current names the files on disk, if they are still those.
	Current *named `json:"current,omitempty"`
	// Pending names the files that are being put in their place; they wait, complete, in
	// the directory next.
	Pending *named `json:"pending,omitempty"`
	// Verdict is the last one on files of this content.
	Verdict *verdict `json:"verdict,omitempty"`
	// Refused is the last configuration that was not accepted.
	Refused *refused `json:"refused,omitempty"`
}

// named is a configuration and what its author calls it.
type named struct {
	Hash   string `json:"hash,omitempty"`
	Digest string `json:"digest"`
}

type verdict struct {
	Digest string `json:"digest"`
	api.Validation
}

type refused struct {
	// Over is the configuration that stayed in force instead.
	Over string `json:"over"`
	api.Refusal
}

// volume is where everything is kept.
type volume struct{ home string }

func (v volume) config() string { return filepath.Join(v.home, "config") }
func (v volume) own(names ...string) string {
	return filepath.Join(append([]string{v.home, ".sei-sidecar"}, names...)...)
}

// Directories with copies of the configuration files.
const (
	nextDir    = "next"
	goodDir    = "good"
	startedDir = "started"

	recordFile = "config.json"
	lockFile   = "config.lock"
)

func (v volume) load() (record, error) {
	var r record
	err := readJSON(v.own(recordFile), &r)
	return r, err
}

func (v volume) save(r record) error { return writeJSON(v.own(recordFile), r) }

// readJSON leaves value alone when there is no such file.
func readJSON(path string, value any) error {
	if _, err := durable.ReadJSON(path, value); err != nil {
		return fmt.Errorf("%w; delete the file to continue without it", err)
	}
	return nil
}

func writeJSON(path string, value any) error { return durable.WriteJSON(path, value, 0o640) }

// digestOf names the content of the files in a directory. Files that cannot be read as a
// configuration have a digest too: something can be said of them all the same.
func digestOf(dir string) (string, error) {
	files, err := config.Read(dir)
	if err == nil {
		return files.Digest()
	}
	sum := sha256.New()
	for _, name := range config.FileNames() {
		data, readErr := os.ReadFile(filepath.Join(dir, string(name))) //nolint:gosec // a fixed list in directories of the node
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			return "", fmt.Errorf("reading configuration: %w", readErr)
		}
		_, _ = fmt.Fprintf(sum, "unreadable %s %d\n", name, len(data))
		_, _ = sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
