// Package durable writes files so that a reader, or the next run after a crash,
// sees either the old content or the new and never a mixture. It knows nothing
// of what is in the files.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempPrefix starts the name of every temporary file and directory made here.
// Whoever finds one that nobody is writing may delete it.
const TempPrefix = ".sei-tmp-"

// WriteFile replaces the file at path by data.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write replaces the file at path by what fill writes. When fill fails the file
// stays what it was. Two writers of one file at the same time are not supported:
// each sweeps what it takes for leftovers of a killed one.
func Write(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	if err := Sweep(filepath.Dir(path), filepath.Base(path)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already after the rename
	err = errors.Join(fill(f), f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return Rename(f.Name(), path)
}

// Rename moves a file or directory within one file system and makes the move
// durable.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("moving %s into place: %w", filepath.Base(to), err)
	}
	if err := SyncDir(filepath.Dir(to)); err != nil {
		return err
	}
	if filepath.Dir(from) == filepath.Dir(to) {
		return nil
	}
	return SyncDir(filepath.Dir(from))
}

// SyncDir makes the entries of a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // callers name files of the node's home
	if err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}

// Remove deletes a file or a whole directory and makes that durable; what is
// not there is fine.
func Remove(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	if err := SyncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Exists reports whether there is something at path.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for %s: %w", path, err)
	}
	return true, nil
}

// TempDir makes a directory beside the things that will be moved out of it.
func TempDir(parent, name string) (string, error) {
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	dir, err := os.MkdirTemp(parent, TempPrefix+name+"-*")
	if err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	return dir, nil
}

// Sweep deletes what earlier runs left under the temporary name in parent: a
// killed process cleans up nothing.
func Sweep(parent, name string) error { return sweep(parent, TempPrefix+name+"-") }

// SweepAll deletes everything that is temporary in parent. Nobody may be writing
// there.
func SweepAll(parent string) error { return sweep(parent, TempPrefix) }

func sweep(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for leftovers: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(parent, e.Name())); err != nil {
			return fmt.Errorf("removing leftovers: %w", err)
		}
	}
	return nil
}
