// Package leftovers knows what tasks and seid leave on the volume, so that whoever
// deletes data deletes what depends on it. Only names and removal; what the files mean
// is known where they are written.
package leftovers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// Names in the home that say something about the node's data.
const (
	// RestoredHeight is the height of the snapshot that was restored.
	RestoredHeight = ".sei-sidecar-snapshot-height"
	// LastUpload is the snapshot that a task uploaded last.
	LastUpload = ".sei-sidecar-last-upload.json"
	// LastPublished is the newest snapshot of the node that is in the bucket.
	LastPublished = ".sei-sidecar-last-published.json"
	// download is the directory, beside the snapshots, of an archive that is being fetched.
	download = ".sei-sidecar-download"
	// UploadScratch is the temporary name beside the snapshots of one that is uploaded.
	UploadScratch = "upload"
)

// NotesOnData are the names that go with the data.
var NotesOnData = []string{RestoredHeight, LastUpload, LastPublished}

// Download is where an archive of a snapshot is kept while it is fetched: on the volume of
// the snapshots, where there has to be room for them anyway.
func Download(snapshots string) string { return filepath.Join(filepath.Dir(snapshots), download) }

// Snapshots removes the snapshots of a directory, and what is made of them beside it.
// The directory may be anywhere and hold other things, which stay.
func Snapshots(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing snapshots: %w", err)
	}
	for _, e := range entries {
		_, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil && e.Name() != "metadata.db" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("removing snapshots: %w", err)
		}
	}
	return errors.Join(durable.Remove(Download(dir)), durable.Sweep(filepath.Dir(dir), UploadScratch))
}

// stateSyncPrefix begins the names of the directories in which seid collects chunks.
const stateSyncPrefix = "tm-statesync"

// StateSync removes the chunks that a killed state sync has left. seid removes them
// itself only when it ends in good order. It must not be running.
func StateSync(dir home.Dir) error {
	for _, parent := range stateSyncDirs(dir) {
		entries, err := os.ReadDir(parent)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking for the chunks of a state sync: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), stateSyncPrefix) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(parent, e.Name())); err != nil {
				return fmt.Errorf("removing the chunks of a state sync: %w", err)
			}
		}
	}
	return nil
}

// stateSyncDirs are where seid puts them: its temporary directory is the home's, unless
// its configuration names another.
func stateSyncDirs(dir home.Dir) []string {
	dirs := []string{dir.Tmp()}
	if files, err := config.Read(dir.Config()); err == nil {
		table, _ := files.Config["statesync"].(map[string]any)
		if own, _ := table["temp-dir"].(string); filepath.IsAbs(own) {
			dirs = append(dirs, own)
		}
	}
	return dirs
}
