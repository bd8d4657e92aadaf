package snapshot_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

func TestRestore_OverAHomeWithState_IsRefusedWithTheWayOut(t *testing.T) {
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, archiveKey), string(archiveOf(t, filesOf(t, 300, "c"))))
	for name, tc := range map[string]struct {
		file    string
		content string
		refused bool
	}{
		"committed state":         {"data/committer.db/changelog/00000000000000000001", "x", true},
		"blocks":                  {"data/blockstore.db/000001.log", "x", true},
		"older state":             {"data/application.db/000004.ldb", "x", true},
		"started without a block": {"data/blockstore.db/000001.log", "", false},
		"only a signing state":    {"data/priv_validator_state.json", "{}", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, bucket)
			writeFile(t, f.home.Path(tc.file), tc.content)
			before := content(t, string(f.home))
			_, err := f.Run(t, api.SnapshotRestore, `{}`)
			if !tc.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			handlertest.WantError(t, err, api.CodePrecondition, "the home has state in data/")
			if detail := api.DetailOf(err); !detail.Terminal || !strings.Contains(detail.Hint, "reset-data") {
				t.Errorf("detail is %+v", detail)
			}
			if diff := cmp.Diff(before, content(t, string(f.home))); diff != "" {
				t.Errorf("home (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRestoreAndUpload_UseTheConfiguredDirectory(t *testing.T) {
	bucket := t.TempDir()
	from, to := newFixture(t, bucket), newFixture(t, bucket)
	dirs := map[*fixture]string{from: filepath.Join(t.TempDir(), "a"), to: filepath.Join(t.TempDir(), "b", "c")}
	for f, dir := range dirs {
		writeFile(t, f.home.AppToml(), fmt.Sprintf("[state-sync]\nsnapshot-directory = %q\n", dir))
	}
	snapshotsIn(t, dirs[from], 100, 200)
	if up := handlertest.Must[wire.UploadedSnapshot](t, from.Harness, api.SnapshotUploadOnce, `{}`); up.Height != 100 {
		t.Errorf("upload = %+v", up)
	}
	handlertest.Must[wire.RestoredSnapshot](t, to.Harness, api.SnapshotRestore, `{}`)
	if diff := cmp.Diff(map[string]string{"100/1/0": "chunk of 100"}, content(t, dirs[to])); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
	writeFile(t, to.home.AppToml(), "[state-sync]\nsnapshot-directory = \"relative\"\n")
	_, err := to.Run(t, api.SnapshotRestore, `{"targetHeight":150}`)
	handlertest.WantError(t, err, api.CodePrecondition, "write an absolute path")
}

// A restore replaces the whole directory, and must not take the keys and the signing state with it.
func TestRestore_IntoADirectoryOfTheHome_IsRefused(t *testing.T) {
	bucket := t.TempDir()
	writeFile(t, filepath.Join(bucket, archiveKey), string(archiveOf(t, filesOf(t, 300, "c"))))
	for _, dir := range []string{"", "data", "config"} {
		f := newFixture(t, bucket)
		writeFile(t, f.home.ConsensusKey(), "key")
		writeFile(t, f.home.ConsensusState(), "{}")
		writeFile(t, f.home.AppToml(), fmt.Sprintf("[state-sync]\nsnapshot-directory = %q\n", f.home.Path(dir)))
		before := content(t, string(f.home))
		_, err := f.Run(t, api.SnapshotRestore, `{}`)
		handlertest.WantError(t, err, api.CodePrecondition, "storage.snapshot_directory is")
		if diff := cmp.Diff(before, content(t, string(f.home))); diff != "" {
			t.Errorf("%q: home (-before +after):\n%s", dir, diff)
		}
	}
}

func TestRestore_OlderThanTheTrustPeriod_IsRefusedBeforeTheDownload(t *testing.T) {
	old, recent := time.Now().Add(-100*time.Hour), time.Now()
	for name, tc := range map[string]struct {
		object              time.Time
		manifest            objectstore.Manifest
		params, want, warns string
	}{
		"block time":                {recent, objectstore.Manifest{BlockTime: old, CreatedAt: recent}, `{"trustPeriod":"99h"}`, "is 100h0m0s old", ""},
		"block time, long period":   {recent, objectstore.Manifest{BlockTime: old, CreatedAt: recent}, `{"trustPeriod":"102h"}`, "", ""},
		"upload time":               {recent, objectstore.Manifest{CreatedAt: old}, `{"trustPeriod":"99h"}`, "is at least 100h0m0s old", ""},
		"object time":               {old, objectstore.Manifest{}, `{"trustPeriod":"99h"}`, "is at least 100h0m0s old", ""},
		"young":                     {recent, objectstore.Manifest{}, `{"trustPeriod":"2h"}`, "", ""},
		"no period named, default":  {old.Add(-100 * time.Hour), objectstore.Manifest{}, `{}`, "", "at least 200h0m0s old"},
		"no period named, in force": {old, objectstore.Manifest{}, `{}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := t.TempDir()
			packed := archiveOf(t, filesOf(t, 300, "c"))
			writeFile(t, filepath.Join(bucket, archiveKey), string(packed))
			if err := os.Chtimes(filepath.Join(bucket, archiveKey), tc.object, tc.object); err != nil {
				t.Fatal(err)
			}
			if !tc.manifest.CreatedAt.IsZero() {
				tc.manifest.SHA256, tc.manifest.Size, tc.manifest.UnpackedSize, tc.manifest.Files = sumOf(packed), int64(len(packed)), 1<<20, 10
				raw, err := json.Marshal(tc.manifest)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(bucket, archiveKey+objectstore.ManifestSuffix), string(raw))
			}
			f := newFixture(t, bucket)
			raw, err := f.Run(t, api.SnapshotRestore, tc.params)
			if tc.want != "" {
				handlertest.WantError(t, err, api.CodePrecondition, tc.want)
				return
			}
			if err != nil || !strings.Contains(string(raw), tc.warns) || (tc.warns == "" && strings.Contains(string(raw), "trust period")) {
				t.Errorf("restore = %s, %v, want a warning with %q", raw, err, tc.warns)
			}
		})
	}
}

func TestRestore_Zstd_ToldByItsFirstBytes(t *testing.T) {
	for _, name := range []string{"300.tar.zst", "300.tar.gz"} {
		bucket := t.TempDir()
		var out bytes.Buffer
		zipped, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(zipped)
		for file, data := range filesOf(t, 300, "c") {
			err = errors.Join(err, w.WriteHeader(&tar.Header{Name: file, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))}))
			_, writeErr := w.Write([]byte(data))
			err = errors.Join(err, writeErr)
		}
		if err := errors.Join(err, w.Close(), zipped.Close()); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(bucket, "test-1/state-sync", name), out.String())
		f := newFixture(t, bucket)
		if got := handlertest.Must[wire.RestoredSnapshot](t, f.Harness, api.SnapshotRestore, `{}`); got.Height != 300 {
			t.Errorf("%s: restore = %+v", name, got)
		}
	}
}

func TestUpload_SnapshotsThatAreNotComplete_ArePassedOver(t *testing.T) {
	f := newFixture(t, t.TempDir())
	f.withSnapshots(t, 100, 200, 300, 400)
	writeFile(t, filepath.Join(f.home.Snapshots(), "350", "1", "0"), "half-made, in no index")
	if err := os.Remove(filepath.Join(f.home.Snapshots(), "300", "1", "0")); err != nil { // seid is deleting it
		t.Fatal(err)
	}
	up := handlertest.Must[wire.UploadedSnapshot](t, f.Harness, api.SnapshotUploadOnce, `{}`)
	if up.Outcome != wire.OutcomeUploaded || up.Height != 200 {
		t.Errorf("upload = %+v", up)
	}
	up = handlertest.Must[wire.UploadedSnapshot](t, f.Harness, api.SnapshotUploadOnce, `{}`)
	if diff := cmp.Diff(wire.UploadedSnapshot{Outcome: wire.OutcomeNoop, NoopReason: wire.NoopNoneComplete}, up); diff != "" {
		t.Errorf("second upload (-want +got):\n%s", diff)
	}
}

func TestUploads_HoldNoGroup_SoThatResetDataDoesNotWait(t *testing.T) {
	for _, h := range newFixture(t, t.TempDir()).Handlers {
		if (h.Type == api.SnapshotUpload || h.Type == api.SnapshotUploadOnce) && len(h.Groups) > 0 {
			t.Errorf("%s holds %v", h.Type, h.Groups)
		}
	}
}

func TestUploadOften_UploadsEachNewSnapshotUntilItIsCancelled(t *testing.T) {
	bucket := t.TempDir()
	f := newFixture(t, bucket)
	f.withSnapshots(t, 100, 200)
	ctx, cancel := context.WithCancel(t.Context())
	f.Context = ctx
	done := make(chan error, 1)
	go func() {
		_, err := f.Run(t, api.SnapshotUpload, `{}`)
		done <- err
	}()
	for _, name := range []string{"100.tar.gz", "200.tar.gz"} {
		manifest := filepath.Join(bucket, "test-1/state-sync", name+objectstore.ManifestSuffix)
		for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
			if _, err := os.Stat(manifest); err == nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("%s never came", name)
			}
		}
		snapshotsIn(t, f.home.Snapshots(), 100, 200, 300)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the task ended with %v", err)
	}
}
