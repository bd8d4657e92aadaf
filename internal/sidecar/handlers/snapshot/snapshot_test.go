package snapshot_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

type fixture struct {
	*handlertest.Harness
	home    home.Dir
	bucket  string
	running error
}

func newFixture(tb testing.TB, bucketDir string) *fixture {
	tb.Helper()
	f := &fixture{home: home.Dir(tb.TempDir()), bucket: bucketDir}
	mkdir(tb, f.home.Data())
	tasks := &snapshot.Tasks{
		Node:         &node.Node{Home: f.home, ChainID: "test-1", SnapshotBucket: "file://" + bucketDir},
		CheckStopped: func(context.Context) error { return f.running },
		Metrics:      snapshot.NewMetrics(nil), UploadInterval: 20 * time.Millisecond,
	}
	f.Harness = handlertest.New(tasks.Handlers())
	return f
}

func mkdir(tb testing.TB, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		tb.Fatal(err)
	}
}

func writeFile(tb testing.TB, file, content string) {
	tb.Helper()
	mkdir(tb, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// index writes an index of snapshots of one chunk each.
func index(tb testing.TB, dir string, chunks map[uint64]string) {
	tb.Helper()
	for height, chunk := range chunks {
		snapshottest.Index(tb, dir, snapshottest.Of(height, []byte(chunk)))
	}
}

func indexed(tb testing.TB, dir string) []uint64 {
	tb.Helper()
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var heights []uint64
	iter := db.NewIterator(nil, nil)
	for iter.Next() {
		heights = append(heights, binary.BigEndian.Uint64(iter.Key()[1:9]))
	}
	iter.Release()
	return heights
}

// withSnapshots gives a home local snapshots.
func (f *fixture) withSnapshots(tb testing.TB, heights ...uint64) {
	tb.Helper()
	snapshotsIn(tb, f.home.Snapshots(), heights...)
}

func snapshotsIn(tb testing.TB, dir string, heights ...uint64) {
	tb.Helper()
	chunks := map[uint64]string{}
	for _, h := range heights {
		chunks[h] = fmt.Sprintf("chunk of %d", h)
		writeFile(tb, filepath.Join(dir, strconv.FormatUint(h, 10), "1", "0"), chunks[h])
	}
	index(tb, filepath.Join(dir, "metadata.db"), chunks)
}

// filesOf are the files of an archive with a snapshot of one chunk.
func filesOf(tb testing.TB, height uint64, chunk string) map[string]string {
	tb.Helper()
	dir := tb.TempDir()
	index(tb, filepath.Join(dir, "metadata.db"), map[uint64]string{height: chunk})
	files := handlertest.Files(tb, dir)
	files[strconv.FormatUint(height, 10)+"/1/0"] = chunk
	return files
}

// content is every file of a directory except the index, which is not compared
// byte by byte.
func content(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	return handlertest.Files(tb, dir, "metadata.db")
}

// archiveOf packs files without any help of the code under test.
func archiveOf(tb testing.TB, files map[string]string) []byte {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, data := range files {
		err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))})
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestUploadThenRestore_MovesASnapshotToAnotherNode(t *testing.T) {
	bucket := t.TempDir()
	from, to := newFixture(t, bucket), newFixture(t, bucket)
	from.withSnapshots(t, 100, 200, 300)
	up := handlertest.Must[wire.UploadedSnapshot](t, from.Harness, api.SnapshotUploadOnce, `{}`)
	if up.Outcome != wire.OutcomeUploaded || up.Height != 200 || up.Key != "test-1/state-sync/200.tar.gz" || up.Bytes == 0 {
		t.Errorf("upload = %+v", up)
	}
	writeFile(t, filepath.Join(to.home.Snapshots(), "50", "1", "0"), "something old")
	down := handlertest.Must[wire.RestoredSnapshot](t, to.Harness, api.SnapshotRestore, `{}`)
	if !down.Verified || down.Height != 200 || len(down.Warnings) != 0 {
		t.Errorf("restore = %+v", down)
	}
	if diff := cmp.Diff(map[string]string{"200/1/0": "chunk of 200"}, content(t, to.home.Snapshots())); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uint64{200}, indexed(t, to.home.SnapshotMetadata())); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	if data, _ := os.ReadFile(to.home.Path(".sei-sidecar-snapshot-height")); string(data) != "200" {
		t.Errorf("height file is %q", data)
	}
	if diff := cmp.Diff([]uint64{100, 200, 300}, indexed(t, from.home.SnapshotMetadata())); diff != "" {
		t.Errorf("the uploader's own index changed (-want +got):\n%s", diff)
	}
}

func TestUpload_SaysWhyThereIsNothingToDo(t *testing.T) {
	f := newFixture(t, t.TempDir())
	got := handlertest.Must[wire.UploadedSnapshot](t, f.Harness, api.SnapshotUploadOnce, `{}`)
	if diff := cmp.Diff(wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopFewSnapshots}, got); diff != "" {
		t.Errorf("no snapshots (-want +got):\n%s", diff)
	}
	f.withSnapshots(t, 100, 200)
	handlertest.Must[wire.UploadedSnapshot](t, f.Harness, api.SnapshotUploadOnce, `{}`)
	got = handlertest.Must[wire.UploadedSnapshot](t, f.Harness, api.SnapshotUploadOnce, `{}`)
	want := wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopAlreadyUploaded, Height: 100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("second upload (-want +got):\n%s", diff)
	}
}

func TestUpload_LatestNeverGoesBack(t *testing.T) {
	bucket := t.TempDir()
	ahead, behind := newFixture(t, bucket), newFixture(t, bucket)
	ahead.withSnapshots(t, 300, 400)
	behind.withSnapshots(t, 100, 200)
	handlertest.Must[wire.UploadedSnapshot](t, ahead.Harness, api.SnapshotUploadOnce, `{}`)
	handlertest.Must[wire.UploadedSnapshot](t, behind.Harness, api.SnapshotUploadOnce, `{}`)
	data, err := os.ReadFile(filepath.Join(bucket, "test-1", "state-sync", "latest.txt"))
	if err != nil || string(data) != "300" {
		t.Errorf("latest.txt is %q (%v), want 300", data, err)
	}
}

func TestUpload_WhenTheBucketIsGone_FailsWithOutcomeError(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "missing"))
	f.withSnapshots(t, 100, 200)
	raw, err := f.Run(t, api.SnapshotUploadOnce, `{}`)
	if err == nil || string(raw) != `{"outcome":"error"}` {
		t.Errorf("upload = %s, %v", raw, err)
	}
}

func TestRestore_ChoosesTheNewestAtOrBelowTheTarget(t *testing.T) {
	for target, want := range map[int64]int64{0: 300, 300: 300, 299: 100, 100: 100} {
		bucket := t.TempDir()
		for _, h := range []uint64{100, 300} {
			writeFile(t, filepath.Join(bucket, "test-1/state-sync", strconv.FormatUint(h, 10)+".tar.gz"), string(archiveOf(t, filesOf(t, h, "c"))))
		}
		writeFile(t, filepath.Join(bucket, "test-1/state-sync/latest.txt"), "300")
		f := newFixture(t, bucket)
		got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, fmt.Sprintf(`{"targetHeight":%d}`, target))
		if got.Height != want {
			t.Errorf("target %d: restored %d, want %d", target, got.Height, want)
		}
		if got.Verified || len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0], "no manifest") {
			t.Errorf("target %d: a snapshot without manifest gave %+v", target, got)
		}
	}
}

func TestRestore_SaysWhatIsMissing(t *testing.T) {
	bucket := t.TempDir()
	f := newFixture(t, bucket)
	_, err := f.Run(t, api.SnapshotRestore, `{}`)
	handlertest.WantError(t, err, api.CodeNotFound, "no snapshots found in")
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(archiveOf(t, filesOf(t, 300, "c"))))
	_, err = f.Run(t, api.SnapshotRestore, `{"targetHeight":5}`)
	handlertest.WantError(t, err, api.CodeNotFound, "no snapshot found at or below height 5")
	_, err = f.Run(t, api.SnapshotRestore, `{"targetHeight":-1}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "targetHeight")
}

func TestRestore_RequireVerified_TakesOnlyWhatHasAManifest(t *testing.T) {
	const verified = `{"requireVerified":true}`
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(archiveOf(t, filesOf(t, 300, "c"))))
	f := newFixture(t, bucket)
	_, err := f.Run(t, api.SnapshotRestore, verified)
	handlertest.WantError(t, err, api.CodeNotFound, "no snapshots with a manifest found in")
	from := newFixture(t, bucket)
	from.withSnapshots(t, 100, 200)
	handlertest.Must[wire.UploadedSnapshot](t, from.Harness, api.SnapshotUploadOnce, `{}`)
	if got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, verified); !got.Verified || got.Height != 100 {
		t.Errorf("restored %+v, want what has a manifest", got)
	}
	if got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`); got.Verified || got.Height != 300 {
		t.Errorf("restored %+v, want the newest", got)
	}
	if got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, verified); !got.Verified || got.Height != 100 {
		t.Errorf("restored %+v after one that was not verified", got)
	}
	if err := completion.Forget(f.Records, api.SnapshotRestore); err != nil {
		t.Fatal(err)
	}
	_, err = f.Run(t, api.SnapshotRestore, verified)
	handlertest.WantError(t, err, api.CodePrecondition, "restored before")
}

func TestRestore_ARepeatGivesTheResultAndOtherInputsRestoreAnew(t *testing.T) {
	bucket := t.TempDir()
	f := newFixture(t, bucket)
	for _, h := range []uint64{100, 300} {
		writeFile(t, filepath.Join(bucket, "test-1/state-sync", strconv.FormatUint(h, 10)+".tar.gz"), string(archiveOf(t, filesOf(t, h, "c"))))
	}
	first := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if err := os.RemoveAll(filepath.Join(bucket, "test-1/state-sync/300.tar.gz")); err != nil {
		t.Fatal(err)
	}
	again := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("repeat (-first +again):\n%s", diff)
	}
	// As after a kill between the record and what comes after it.
	mark, download := f.home.Path(".sei-sidecar-snapshot-done"), f.home.Path("data/.sei-sidecar-download")
	if err := errors.Join(os.Remove(mark), os.Mkdir(download, 0o750)); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	_, markErr := os.Stat(mark)
	_, downloadErr := os.Stat(download)
	if markErr != nil || downloadErr == nil {
		t.Errorf("mark: %v; download: %v, want it gone", markErr, downloadErr)
	}
	other := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{"targetHeight":100}`)
	if other.Height != 100 {
		t.Errorf("other inputs gave %+v", other)
	}
	if err := completion.Forget(f.Records, api.SnapshotRestore); err != nil {
		t.Fatal(err)
	}
	public := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if public.Height != 100 || len(public.Warnings) == 0 {
		t.Errorf("a home with the public mark gave %+v", public)
	}
}

func TestRestore_WhileTheNodeRuns_TouchesNothing(t *testing.T) {
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(archiveOf(t, filesOf(t, 300, "c"))))
	f := newFixture(t, bucket)
	f.running = errors.New("seid is running")
	if _, err := f.Run(t, api.SnapshotRestore, `{}`); !errors.Is(err, f.running) {
		t.Errorf("restore = %v", err)
	}
	if left := content(t, f.home.Data()); len(left) != 0 {
		t.Errorf("data now holds %v", left)
	}
}

func TestRestore_BadArchives_LeaveTheHomeAsItWas(t *testing.T) {
	chunk := strings.Repeat("c", 100<<10)
	good := archiveOf(t, filesOf(t, 300, chunk))
	without := func(name string) []byte {
		files := filesOf(t, 300, "c")
		maps.DeleteFunc(files, func(file, _ string) bool { return strings.HasPrefix(file, name) })
		return archiveOf(t, files)
	}
	with := func(name, content string) []byte {
		files := filesOf(t, 300, "c")
		files[name] = content
		return archiveOf(t, files)
	}
	unnamed := filesOf(t, 299, "c")
	unnamed["300/1/0"] = "c"
	manifest := func(m objectstore.Manifest) string {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	digest := strings.Repeat("ab", 32)
	for name, tc := range map[string]struct {
		archive  []byte
		manifest string
		text     string
	}{
		"traversal":         {archiveOf(t, map[string]string{"../../config/genesis.json": "evil"}), "", "leaves the target"},
		"truncated":         {good[:len(good)-20], "", "corrupt"},
		"not an archive":    {[]byte("<html>404</html>"), "", "corrupt"},
		"wrong digest":      {good, manifest(objectstore.Manifest{SHA256: digest, Size: int64(len(good)), UnpackedSize: 200 << 10, Files: 9}), "its manifest says"},
		"wrong size":        {good, manifest(objectstore.Manifest{SHA256: digest, Size: 5, UnpackedSize: 200 << 10, Files: 9}), "its manifest says 5"},
		"of another chain":  {good, manifest(objectstore.Manifest{SHA256: digest, Size: int64(len(good)), ChainID: "other-1"}), `of chain "other-1"`},
		"of another height": {good, manifest(objectstore.Manifest{SHA256: digest, Size: int64(len(good)), Height: 7}), "of height 7 by its manifest"},
		"larger than said":  {good, manifest(objectstore.Manifest{SHA256: sumOf(good), Size: int64(len(good)), UnpackedSize: 10, Files: 9}), "larger than allowed"},
		"wrong height":      {archiveOf(t, filesOf(t, 299, "c")), "", "no directory 300"},
		"no index":          {without("metadata.db"), "", "no metadata.db, so seid would not see the snapshot"},
		"not in the index":  {archiveOf(t, unnamed), "", "does not name snapshot 300"},
		"chunk missing":     {renamed(t, filesOf(t, 300, "c"), "300/1/0", "300/1/1"), "", "chunk 0 of snapshot 300"},
		"chunk too many":    {with("300/1/1", "c"), "", "gives snapshot 300 1 chunks, there are 2"},
		"another chunk":     {with("300/1/0", "d"), "", "the index says"},
		"unusable manifest": {good, `{"sha256":"zz","size":1}`, "not 64 hex digits"},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := t.TempDir()
			writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(tc.archive))
			if tc.manifest != "" {
				writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz.sha256.json"), tc.manifest)
			}
			f := newFixture(t, bucket)
			writeFile(t, f.home.Genesis(), "genesis")
			f.withSnapshots(t, 50)
			before := content(t, string(f.home))
			_, err := f.Run(t, api.SnapshotRestore, `{}`)
			handlertest.WantError(t, err, api.CodeIntegrity, tc.text)
			if !api.DetailOf(err).Terminal {
				t.Error("a damaged archive was called worth a retry")
			}
			if diff := cmp.Diff(before, content(t, string(f.home))); diff != "" {
				t.Errorf("home (-before +after):\n%s", diff)
			}
		})
	}
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func renamed(tb testing.TB, files map[string]string, from, to string) []byte {
	tb.Helper()
	files[to] = files[from]
	delete(files, from)
	return archiveOf(tb, files)
}

func TestRestore_SweepsWhatAKilledRunLeft(t *testing.T) {
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(archiveOf(t, filesOf(t, 300, "c"))))
	f := newFixture(t, bucket)
	writeFile(t, filepath.Join(f.home.Data(), ".sei-tmp-snapshot-123", "300", "1", "0"), "half")
	handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if diff := cmp.Diff(map[string]string{"snapshots/300/1/0": "c"}, content(t, f.home.Data())); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}
