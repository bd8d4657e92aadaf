package snapshot

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

// oneChunk is the index entry of height 7, format 1, with one chunk.
func oneChunk() []byte {
	hash := make([]byte, 32)
	value := append([]byte{1 << 3, 7, 2 << 3, 1, 3 << 3, 1, 5<<3 | 2, 34, 1<<3 | 2, 32}, hash...)
	return value
}

func TestHold_SeidPrunesTheSnapshotMeanwhile_TheChunksStay(t *testing.T) {
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	chunk := filepath.Join(snapshots, "7", "1", "0")
	if err := os.MkdirAll(filepath.Dir(chunk), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chunk, []byte("chunk"), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshottest.Index(t, filepath.Join(snapshots, indexName), snapshottest.Of(7, []byte("chunk")))
	held, err := hold(snapshots, []int64{7})
	if err != nil || held.height != 7 || held.bytes != 5 {
		t.Fatalf("hold = %+v, %v", held, err)
	}
	if err := os.RemoveAll(snapshots); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(held.dir, "7", "1", "0")); string(data) != "chunk" {
		t.Errorf("chunk is %q, %v", data, err)
	}
	if err := held.check(); err != nil {
		t.Error(err)
	}
	held.release()
	if err := held.check(); err == nil {
		t.Error("a snapshot that was deleted passes for held")
	}
}

func TestParseEntry_WhatSeidDidNotWrite_IsRefused(t *testing.T) {
	if e, err := parseEntry(oneChunk()); err != nil || e.height != 7 || e.format != 1 || e.chunks != 1 || len(e.hashes) != 1 {
		t.Errorf("entry = %+v, %v", e, err)
	}
	for _, bad := range [][]byte{nil, []byte("meta"), oneChunk()[:20], {1 << 3}, {1<<3 | 5, 1}, {1 << 3, 7, 2 << 3, 1, 3 << 3, 1}} {
		if e, err := parseEntry(bad); err == nil {
			t.Errorf("parseEntry(%x) = %+v", bad, e)
		}
	}
}

func TestMeter_TellsRateAndTimeLeft_AtMostOnceASecond(t *testing.T) {
	var got []string
	now := time.Unix(0, 0)
	m := newMeter("downloading x", 10e6, 100e6, func(p api.Progress) { got = append(got, p.Message) })
	m.now = func() time.Time { return now }
	m.started = now
	for _, step := range []struct {
		second float64
		done   int64
	}{{0, 10e6}, {0.5, 15e6}, {2, 30e6}, {2.5, 35e6}, {9, 100e6}} {
		now = time.Unix(0, 0).Add(time.Duration(step.second * float64(time.Second)))
		m.at(step.done)
	}
	want := []string{"downloading x", "downloading x, 10.0 MB/s, 7s left", "downloading x, 10.0 MB/s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
