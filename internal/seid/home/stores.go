package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stateStoreDirs are the places below Data where the state store may be: it is
// named after its backend.
var stateStoreDirs = []string{"pebbledb", "rocksdb"}

// StateWithoutStore reports whether the node has committed state but never
// wrote a state store. Switching the state store on over such data makes seid
// panic. A store that a start of that kind created and left empty does not count.
// Only the default places are looked at.
func (d Dir) StateWithoutStore() (bool, error) {
	committed, err := d.hasCommittedState()
	if err != nil || !committed {
		return false, err
	}
	for _, name := range stateStoreDirs {
		written, err := hasContent(d.Path("data", name), isStoreFile)
		if err != nil || written {
			return false, err
		}
	}
	return true, nil
}

// hasCommittedState looks for a commit: a snapshot above height 0, or anything
// in the log of changes since the last one.
func (d Dir) hasCommittedState() (bool, error) {
	commits := d.Path("data", "committer.db")
	current, err := os.Readlink(filepath.Join(commits, "current"))
	if err == nil {
		height, err := strconv.ParseInt(strings.TrimPrefix(filepath.Base(current), "snapshot-"), 10, 64)
		if err == nil && height > 0 {
			return true, nil
		}
	}
	return hasContent(filepath.Join(commits, "changelog"), func(string) bool { return true })
}

// isStoreFile picks the files of a store that hold entries; the others are there
// from the moment it is created.
func isStoreFile(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".log" || ext == ".sst" || filepath.Base(filepath.Dir(path)) == "changelog"
}

// hasContent reports whether any file below dir that counts is not empty.
func hasContent(dir string, counts func(path string) bool) (bool, error) {
	found := false
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !counts(path) {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("looking into %s: %w", filepath.Base(dir), err)
	}
	return found, nil
}

// State names the part of the data that makes seid continue from what it has: committed
// state or blocks. Empty means that it would start over, also when it has been started
// before and never got a block.
func (d Dir) State() (string, error) {
	committed, err := d.hasCommittedState()
	if err != nil {
		return "", err
	}
	if committed {
		return filepath.Join("data", "committer.db"), nil
	}
	for _, name := range []string{"blockstore.db", "application.db"} {
		written, err := hasContent(d.Path("data", name), isTableFile)
		if err != nil {
			return "", err
		}
		if written {
			return filepath.Join("data", name), nil
		}
	}
	return "", nil
}

// isTableFile picks the files of a database that hold entries.
func isTableFile(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".log" || ext == ".ldb" || ext == ".sst"
}
