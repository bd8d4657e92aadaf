// Package snapshottest writes snapshot indexes as seid does, for tests.
package snapshottest

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
)

// Snapshot is an entry of an index: a height in format 1 and the hashes of its chunks.
type Snapshot struct {
	Height uint64
	Hashes [][]byte
}

// Of is a snapshot with these chunks.
func Of(height uint64, chunks ...[]byte) Snapshot {
	s := Snapshot{Height: height}
	for _, chunk := range chunks {
		sum := sha256.Sum256(chunk)
		s.Hashes = append(s.Hashes, sum[:])
	}
	return s
}

// Index adds snapshots to the index in a directory.
func Index(tb testing.TB, dir string, snapshots ...Snapshot) {
	tb.Helper()
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range snapshots {
		key := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{1}, s.Height), 1)
		if err := db.Put(key, s.encode(), nil); err != nil {
			tb.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
}

// encode is seid's protobuf message of the entry.
func (s Snapshot) encode() []byte {
	var metadata []byte
	for _, hash := range s.Hashes {
		metadata = appendBytes(metadata, 1, hash)
	}
	value := binary.AppendUvarint([]byte{1 << 3}, s.Height)
	value = append(value, 2<<3, 1)
	value = binary.AppendUvarint(append(value, 3<<3), uint64(len(s.Hashes)))
	value = appendBytes(value, 4, make([]byte, sha256.Size))
	return appendBytes(value, 5, metadata)
}

func appendBytes(message []byte, field byte, data []byte) []byte {
	message = binary.AppendUvarint(append(message, field<<3|2), uint64(len(data)))
	return append(message, data...)
}
