package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"golang.org/x/sys/unix"
)

// An entry of the index: a prefix byte, the height and the format.
const (
	entryPrefix = 1
	entryLength = 1 + 8 + 4
)

// keepOnly drops the entries of other heights from an index. seid restores the
// highest snapshot its index names, so an index that names one whose chunks are
// not there keeps the node from starting.
func keepOnly(dir string, keep func(height uint64) bool) (err error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{ErrorIfMissing: true})
	if err != nil {
		return fmt.Errorf("opening the snapshot index: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	batch := new(leveldb.Batch)
	kept := 0
	iter := db.NewIterator(nil, nil)
	for iter.Next() {
		key := iter.Key()
		if len(key) != entryLength || key[0] != entryPrefix {
			continue
		}
		if keep(binary.BigEndian.Uint64(key[1:9])) {
			kept++
			continue
		}
		batch.Delete(slices.Clone(key))
	}
	iter.Release()
	if err := iter.Error(); err != nil {
		return fmt.Errorf("reading the snapshot index: %w", err)
	}
	if kept == 0 {
		return errors.New("the snapshot index does not name the snapshot")
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := db.Write(batch, &opt.WriteOptions{Sync: true}); err != nil {
		return fmt.Errorf("writing the snapshot index: %w", err)
	}
	return nil
}

// copyIndex copies the index of a running node and reads it. The node may write
// meanwhile, so a copy that does not hold together is made again.
func copyIndex(from, to string) ([]entry, error) {
	const tries = 3
	var err error
	for range tries {
		if err = os.RemoveAll(to); err != nil {
			return nil, fmt.Errorf("copying the snapshot index: %w", err)
		}
		if err = copyFlat(from, to); err != nil {
			continue
		}
		var named []entry
		if named, err = entries(to); err == nil {
			return named, nil
		}
	}
	return nil, fmt.Errorf("copying the snapshot index: %w", err)
}

// removeLogs drops what opening the index leaves for people: it holds times and
// would make equal snapshots differ.
func removeLogs(dir string) error {
	for _, name := range []string{"LOG", "LOG.old", "LOCK"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("copying the snapshot index: %w", err)
		}
	}
	return nil
}

// copyFlat copies the files of a directory that seid can write. Whatever seid puts in the place of one,
// or of the directory, nothing from outside of the directory above is read: seid must not get at
// what the sidecar alone may read.
func copyFlat(from, to string) error {
	root, err := openInside(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o750); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "LOCK" || strings.HasPrefix(e.Name(), "LOG") {
			continue
		}
		seen, err := root.Lstat(e.Name())
		if err != nil {
			return err
		}
		if !seen.Mode().IsRegular() {
			continue
		}
		if err := copyFile(root, seen, filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// openInside opens a directory that is not reached over a link out of the directory above.
func openInside(dir string) (*os.Root, error) {
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = above.Close() }()
	return above.OpenRoot(filepath.Base(dir))
}

// copyFile copies a file that was seen in a directory, and nothing that has taken its place.
func copyFile(from *os.Root, seen fs.FileInfo, to string) error {
	// A pipe in the place of the file must not hold us up.
	src, err := from.OpenFile(seen.Name(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	if info, err := src.Stat(); err != nil || !os.SameFile(info, seen) {
		return errors.Join(err, fmt.Errorf("%s was replaced while it was copied", seen.Name()))
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // a file of the node's home
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
