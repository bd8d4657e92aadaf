package snapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot"
)

// cutS3 serves objects like S3 and cuts answers short while it is told to.
type cutS3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	version int
	// cuts is how many answers end after cutAfter bytes.
	cuts, cutAfter int
	// ranges are the offsets that archives were asked from.
	ranges []string
	onGet  func()
}

const archiveKey = "test-1/state-sync/300.tar.gz"

func (s *cutS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.URL.Query().Get("list-type") == "2" {
		_, _ = fmt.Fprintf(w, `<ListBucketResult><Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified></Contents></ListBucketResult>`,
			archiveKey, len(s.objects[archiveKey]), time.Now().UTC().Format(time.RFC3339))
		return
	}
	data, ok := s.objects[key]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"v%d"`, s.version))
	if r.Method == http.MethodGet && key == archiveKey {
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		if s.onGet != nil {
			s.onGet()
		}
		if s.cuts > 0 {
			s.cuts--
			w = &cutWriter{ResponseWriter: w, left: s.cutAfter}
		}
	}
	http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), bytes.NewReader(data))
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler loses its connection
	}
	return n, err
}

// noise is a chunk that does not compress.
func noise(size int) string {
	data := make([]byte, size)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(data)
	return string(data)
}

// remote is a node whose snapshot bucket is a server, with an archive of one chunk in it.
func remote(t *testing.T, chunk string) (*fixture, *cutS3) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	server := &cutS3{objects: map[string][]byte{}}
	server.publish(t, chunk)
	srv := httptest.NewServer(server)
	t.Cleanup(srv.Close)
	f := newFixture(t, t.TempDir())
	tasks := &snapshot.Tasks{
		Node: &node.Node{
			Home: f.home, ChainID: "test-1", SnapshotBucket: "s3://snapshots?region=us-east-1&use_path_style=true&endpoint=" + srv.URL,
		},
		CheckStopped: func(context.Context) error { return nil }, RetryPause: time.Millisecond,
	}
	f.Harness = handlertest.New(tasks.Handlers())
	return f, server
}

func (s *cutS3) publish(t *testing.T, chunk string) {
	t.Helper()
	files := filesOf(t, 300, chunk)
	packed := archiveOf(t, files)
	unpacked := 0
	for _, data := range files {
		unpacked += len(data)
	}
	manifest, err := json.Marshal(objectstore.Manifest{
		SHA256: sumOf(packed), Size: int64(len(packed)), UnpackedSize: int64(unpacked), Files: int64(len(files)), CreatedAt: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.objects[archiveKey], s.objects[archiveKey+objectstore.ManifestSuffix] = packed, manifest
}

func TestRestore_LostConnections_ContinueWhereTheyWereCut(t *testing.T) {
	chunk := noise(4 << 20)
	f, server := remote(t, chunk)
	server.cuts, server.cutAfter = 3, 1<<20
	got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if !got.Verified || got.Height != 300 {
		t.Errorf("restore = %+v", got)
	}
	want := []string{"", "bytes=1048576-", "bytes=2097152-", "bytes=3145728-"}
	if diff := cmp.Diff(want, server.ranges); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
	if data := content(t, f.home.Snapshots()); data["300/1/0"] != chunk {
		t.Error("the chunk is another")
	}
	if _, err := os.Stat(f.home.Path("data", ".sei-sidecar-download")); err == nil {
		t.Error("the archive was left behind")
	}
}

func TestRestore_RunAgainAfterAKill_FetchesTheRest(t *testing.T) {
	f, server := remote(t, noise(4<<20))
	server.cuts, server.cutAfter = 1, 3<<20
	ctx, cancel := context.WithCancel(t.Context())
	server.onGet = func() {
		if len(server.ranges) == 2 {
			cancel() // the second try is never answered
		}
	}
	f.Context = ctx
	if _, err := f.Run(t, api.SnapshotRestore, `{}`); err == nil {
		t.Fatal("no error")
	}
	server.onGet, server.ranges, f.Context = nil, nil, t.Context()
	handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	// A few bytes of the second answer may have come before the kill.
	var from int
	if _, err := fmt.Sscanf(strings.Join(server.ranges, " "), "bytes=%d-", &from); err != nil || from < 3<<20 || len(server.ranges) != 1 {
		t.Errorf("ranges are %q, want one from at least %d on", server.ranges, 3<<20)
	}
}

func TestRestore_AnObjectThatChangedMeanwhile_IsFetchedFromItsBeginning(t *testing.T) {
	chunk := noise(4 << 20)
	f, server := remote(t, chunk)
	server.cuts, server.cutAfter = 100, 1<<20
	server.onGet = func() {
		if len(server.ranges) > 1 {
			server.cutAfter = 0 // after the first bytes nothing comes
		}
	}
	_, err := f.Run(t, api.SnapshotRestore, `{}`)
	if err == nil || !api.DetailOf(err).Retryable {
		t.Fatalf("restore = %v, want an error worth a retry", err)
	}
	server.version++ // of the same size, and as it were of the same second
	server.onGet, server.cuts, server.ranges = nil, 0, nil
	handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if diff := cmp.Diff([]string{""}, server.ranges); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
	if data := content(t, f.home.Snapshots()); data["300/1/0"] != chunk {
		t.Error("the chunk is another")
	}
}

// withoutRoomForBoth is a node that restores a chunk of 48 MiB on a disk of 72.
func withoutRoomForBoth(t *testing.T) *fixture {
	t.Helper()
	disk := smallDisk(t, "size=72m")
	f, _ := remote(t, noise(48<<20))
	if err := os.RemoveAll(string(f.home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(disk, string(f.home)); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) wantLargeChunk(t *testing.T) {
	t.Helper()
	got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`)
	if got.Height != 300 || len(content(t, f.home.Snapshots())["300/1/0"]) != 48<<20 {
		t.Errorf("restore = %+v", got)
	}
}

func TestRestore_AVolumeThatCannotHoldArchiveAndChunks_GivesTheArchiveBack(t *testing.T) {
	withoutRoomForBoth(t).wantLargeChunk(t)
}

// A run that was killed while it gave the archive back has left what is left of it, and what it had
// unpacked. Neither is of use, and both take room.
func TestRestore_KilledWhileItGaveTheArchiveBack_FetchesItAgain(t *testing.T) {
	for name, unpacked := range map[string]int{"at the beginning": 0, "half-way": 24 << 20, "at the end": 48 << 20} {
		t.Run(name, func(t *testing.T) {
			f := withoutRoomForBoth(t)
			writeFile(t, f.home.Path("data", ".sei-tmp-snapshot-1", "300", "1", "0"), noise(unpacked))
			archive := f.home.Path("data", ".sei-sidecar-download", "archive")
			writeFile(t, archive, "")
			file, err := os.OpenFile(archive, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.WriteAt([]byte(noise(48<<20-unpacked)), int64(unpacked))
			if err := errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			f.wantLargeChunk(t)
		})
	}
}
