package homeinit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// moveIn puts the staged files into the home, genesis last. A file that the home
// has already stays: it may be a mounted key. Interrupted, it can be repeated.
func (h Home) moveIn() error {
	staged := h.path(stagingDir, stagedHome)
	err := filepath.WalkDir(staged, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(staged, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return os.MkdirAll(h.path(name), dirMode)
		case filepath.ToSlash(name) == genesisFile:
			return nil
		default:
			return linkIn(path, h.path(name))
		}
	})
	if err != nil {
		return fmt.Errorf("moving the new home in: %w", err)
	}
	for _, dir := range []string{"data", "config", "."} {
		if err := durable.SyncDir(h.path(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := linkIn(filepath.Join(staged, genesisFile), h.path(genesisFile)); err != nil {
		return fmt.Errorf("moving the new home in: %w", err)
	}
	return durable.SyncDir(h.path("config"))
}

// linkIn gives a staged file its place. A link, unlike a rename, cannot replace
// anything, and there is no moment at which half a file can be seen.
func linkIn(from, to string) error {
	if err := os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// syncTree makes all files under dir durable.
func syncTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return durable.SyncDir(path) // files are opened and synced the same way
	})
	if err != nil {
		return fmt.Errorf("storing the new home: %w", err)
	}
	return nil
}
