package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Swap puts the directory from in the place of the directory to and deletes what
// was there. Both have to be on one file system. A kill in between leaves either
// the old directory or the new one at to, with rubbish at from at worst.
func Swap(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		if err := SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
		return Remove(from)
	case errors.Is(err, unix.ENOENT):
		return Rename(from, to) // nothing to exchange with
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS):
		// A file system that cannot exchange: there is a moment without either.
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("replacing %s: %w", to, err)
		}
		return Rename(from, to)
	default:
		return fmt.Errorf("replacing %s: %w", to, err)
	}
}

// SyncTree makes everything on the file system of path durable, which is
// cheaper than one call for each of many files.
func SyncTree(path string) error {
	d, err := os.Open(path) //nolint:gosec // callers name files of the node's home
	if err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	if err := errors.Join(unix.Syncfs(int(d.Fd())), d.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}

// Free is the number of bytes that can still be written beside path.
func Free(path string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, fmt.Errorf("reading the free space of %s: %w", path, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}
