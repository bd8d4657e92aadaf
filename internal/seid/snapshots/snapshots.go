// Package snapshots lists the state-sync snapshots of a node, also while seid runs.
//
// A snapshot is finished when seid's index names it: seid writes the chunks one by one, and
// only the index knows how many there have to be. The index is a LevelDB that a running
// seid keeps locked, so its files are read into memory and opened there. Nothing is locked,
// nothing is written, and a set of files that seid changed meanwhile does not open and is
// read again. seid drops a snapshot from the index before its chunks, and a reader may see
// the index first, so a snapshot counts only while all its chunks are there.
package snapshots

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// IndexName is the directory of the index below that of the snapshots.
const IndexName = "metadata.db"

// Snapshot is a finished snapshot.
type Snapshot struct {
	Height int64
	Format uint32
	Chunks int
}

// List gives the finished snapshots in a snapshot directory, newest first. No directory and
// no index mean none.
func List(dir string) ([]Snapshot, error) {
	const tries = 3
	var (
		all []Snapshot
		err error
	)
	for range tries {
		if all, err = index(filepath.Join(dir, IndexName)); err == nil {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot index: %w", err)
	}
	all = slices.DeleteFunc(all, func(s Snapshot) bool { return !complete(dir, s) })
	slices.SortFunc(all, func(a, b Snapshot) int {
		return cmp.Or(cmp.Compare(b.Height, a.Height), cmp.Compare(b.Format, a.Format))
	})
	return all, nil
}

// chunkDir is the directory with the chunks of a snapshot.
func chunkDir(dir string, s Snapshot) string {
	return filepath.Join(dir, strconv.FormatInt(s.Height, 10), strconv.FormatUint(uint64(s.Format), 10))
}

// MadeAt is when the last chunk of a snapshot was written.
func MadeAt(dir string, s Snapshot) (time.Time, error) {
	info, err := os.Stat(chunkDir(dir, s))
	if err != nil {
		return time.Time{}, fmt.Errorf("looking at a snapshot: %w", err)
	}
	return info.ModTime(), nil
}

// complete reports whether every chunk of a snapshot is there.
func complete(dir string, s Snapshot) bool {
	entries, err := os.ReadDir(chunkDir(dir, s))
	if err != nil {
		return false
	}
	found := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= 0 && n < s.Chunks {
			found++
		}
	}
	return s.Chunks > 0 && found == s.Chunks
}

// An entry of the index: a prefix byte, the height and the format.
const (
	entryPrefix = 1
	entryLength = 1 + 8 + 4
	// fieldChunks is the number of the field in the entry's value.
	fieldChunks protowire.Number = 3
)

func index(dir string) (found []Snapshot, err error) {
	files, err := load(dir)
	if err != nil {
		return nil, err
	}
	db, err := leveldb.Open(files, &opt.Options{
		ReadOnly: true, ErrorIfMissing: true, Strict: opt.StrictAll, DisableBlockCache: true, OpenFilesCacheCapacity: 8,
		WriteBuffer: writeBuffer,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	entries := db.NewIterator(nil, nil)
	defer entries.Release()
	for entries.Next() {
		key := entries.Key()
		if len(key) != entryLength || key[0] != entryPrefix {
			continue
		}
		chunks, err := chunkCount(entries.Value())
		if err != nil {
			return nil, err
		}
		found = append(found, Snapshot{
			Height: int64(binary.BigEndian.Uint64(key[1:9])),
			Format: binary.BigEndian.Uint32(key[9:]), Chunks: chunks,
		})
	}
	return found, entries.Error()
}

// chunkCount finds the number of chunks in an entry's value.
func chunkCount(value []byte) (int, error) {
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		value = value[n:]
		if number == fieldChunks && kind == protowire.VarintType {
			chunks, n := protowire.ConsumeVarint(value)
			return int(uint32(chunks)), protowire.ParseError(n)
		}
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return 0, protowire.ParseError(n)
		}
		value = value[n:]
	}
	return 0, nil
}

// writeBuffer is what goleveldb sets aside for what an index has not put in order yet. It grows
// by itself; the default is 4 MB for every look at an index of a few kilobytes.
const writeBuffer = 16 << 10

// maxIndex bounds what is read into memory. An index has a few kilobytes.
const maxIndex = 16 << 20

// load copies the files of an index into memory.
func load(dir string) (storage.Storage, error) {
	current, err := os.ReadFile(filepath.Join(dir, "CURRENT")) //nolint:gosec // the node's own directory
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	mem, total := storage.NewMemStorage(), 0
	for _, e := range entries {
		fd, ok := descriptor(e.Name())
		if !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // the node's own directory
		if err != nil {
			return nil, err
		}
		if total += len(data); total > maxIndex {
			return nil, fmt.Errorf("it is larger than %d bytes", maxIndex)
		}
		if err := put(mem, fd, data); err != nil {
			return nil, err
		}
	}
	manifest, ok := descriptor(string(trimNewline(current)))
	if !ok || manifest.Type != storage.TypeManifest {
		return nil, errors.New("CURRENT names no manifest")
	}
	return mem, mem.SetMeta(manifest)
}

func put(mem storage.Storage, fd storage.FileDesc, data []byte) error {
	w, err := mem.Create(fd)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, w.Close())
}

func trimNewline(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] == '\n' {
		return b[:len(b)-1]
	}
	return b
}

// descriptor tells what a file of a LevelDB is by its name.
func descriptor(name string) (storage.FileDesc, bool) {
	var fd storage.FileDesc
	if n, err := fmt.Sscanf(name, "MANIFEST-%d", &fd.Num); n == 1 && err == nil {
		fd.Type = storage.TypeManifest
		return fd, true
	}
	stem := name[:len(name)-len(filepath.Ext(name))]
	num, err := strconv.ParseInt(stem, 10, 64)
	if err != nil {
		return fd, false
	}
	fd.Num = num
	switch filepath.Ext(name) {
	case ".log":
		fd.Type = storage.TypeJournal
	case ".ldb", ".sst":
		fd.Type = storage.TypeTable
	default:
		return fd, false
	}
	return fd, true
}
