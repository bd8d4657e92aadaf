package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
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

func copyFlat(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o750); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "LOCK" || strings.HasPrefix(e.Name(), "LOG") || !e.Type().IsRegular() {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	src, err := os.Open(from) //nolint:gosec // a file of the node's home
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // a file of the node's home
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
