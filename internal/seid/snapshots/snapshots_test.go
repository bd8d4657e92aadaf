package snapshots_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/snapshots"
)

func key(height uint64, format uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{1}, height), format)
}

func value(s snapshots.Snapshot) []byte {
	var b []byte
	for number, v := range map[protowire.Number]uint64{1: uint64(s.Height), 2: uint64(s.Format), 3: uint64(s.Chunks)} {
		b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), []byte("hash"))
}

// openIndex keeps the index open and locked, as a running seid does.
func openIndex(t *testing.T, dir string) *leveldb.DB {
	t.Helper()
	db, err := leveldb.OpenFile(filepath.Join(dir, snapshots.IndexName), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func writeChunks(t *testing.T, dir string, s snapshots.Snapshot, count int) {
	t.Helper()
	chunks := filepath.Join(dir, strconv.FormatInt(s.Height, 10), strconv.Itoa(int(s.Format)))
	err := os.MkdirAll(chunks, 0o750)
	for i := range count {
		err = errors.Join(err, os.WriteFile(filepath.Join(chunks, strconv.Itoa(i)), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) []snapshots.Snapshot {
	t.Helper()
	got, err := snapshots.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestList_WhileSeidHoldsTheIndex_GivesFinishedOnesNewestFirst(t *testing.T) {
	dir := t.TempDir()
	if got := list(t, dir); got != nil {
		t.Errorf("without an index: %v", got)
	}
	db := openIndex(t, dir)
	old, newest := snapshots.Snapshot{Height: 100, Format: 1, Chunks: 2}, snapshots.Snapshot{Height: 300, Format: 1, Chunks: 3}
	pruned, unfinished := snapshots.Snapshot{Height: 200, Format: 1, Chunks: 4}, snapshots.Snapshot{Height: 400, Format: 1, Chunks: 9}
	for _, s := range []snapshots.Snapshot{old, pruned, newest} {
		if err := db.Put(key(uint64(s.Height), s.Format), value(s), nil); err != nil {
			t.Fatal(err)
		}
	}
	writeChunks(t, dir, old, 2)
	writeChunks(t, dir, pruned, 1) // its chunks are going
	writeChunks(t, dir, newest, 3)
	writeChunks(t, dir, unfinished, 5) // not in the index yet
	if diff := cmp.Diff([]snapshots.Snapshot{newest, old}, list(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := db.Delete(key(100, 1), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]snapshots.Snapshot{newest}, list(t, dir)); diff != "" {
		t.Errorf("after a prune (-want +got):\n%s", diff)
	}
}

func TestList_AfterACompaction_ReadsTables(t *testing.T) {
	dir := t.TempDir()
	db := openIndex(t, dir)
	want := make([]snapshots.Snapshot, 0, 20)
	for i := range 20 {
		s := snapshots.Snapshot{Height: int64(1000 - 10*i), Format: 2, Chunks: 1}
		want = append(want, s)
		writeChunks(t, dir, s, 1)
		if err := db.Put(key(uint64(s.Height), 2), value(s), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, list(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestList_OfADamagedIndex_IsAnError(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, snapshots.IndexName)
	err := errors.Join(os.MkdirAll(index, 0o750), os.WriteFile(filepath.Join(index, "CURRENT"), []byte("nonsense\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := snapshots.List(dir); err == nil {
		t.Errorf("gave %v, want an error", got)
	}
}
