package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot"
)

// smallDisk is a file system of its own.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestRestore_OnAFullDisk_LeavesTheHomeAsItWas(t *testing.T) {
	many := filesOf(t, 300, "chunk")
	for i := range 100 {
		many[fmt.Sprintf("300/1/%d", i)] = "chunk"
	}
	large := filesOf(t, 300, string(make([]byte, 16<<20)))
	for name, tc := range map[string]struct {
		disk     string
		files    map[string]string
		manifest string
		code     string
		text     string
	}{
		"no room for files":      {"size=128m,nr_inodes=60", many, "", api.CodePrecondition, "no space left on device"},
		"no room for bytes":      {"size=72m", large, "", api.CodeIntegrity, "larger than allowed"},
		"the manifest says more": {"size=8m", large, `{"sha256":"` + fmt.Sprintf("%064d", 0) + `","size":%d,"unpackedSize":16777216,"files":9}`, api.CodePrecondition, "the volume has"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t, tc.disk)
			bucket := t.TempDir()
			packed := archiveOf(t, tc.files)
			writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"), string(packed))
			if tc.manifest != "" {
				writeFile(t, filepath.Join(bucket, "test-1/state-sync/300.tar.gz"+objectstore.ManifestSuffix), fmt.Sprintf(tc.manifest, len(packed)))
			}
			f := newFixture(t, bucket)
			f.home = home.Dir(disk)
			tasks := &snapshot.Tasks{
				Node:         &node.Node{Home: f.home, ChainID: "test-1", SnapshotBucket: "file://" + bucket},
				CheckStopped: func(context.Context) error { return nil },
			}
			f.Harness = handlertest.New(tasks.Handlers())
			f.withSnapshots(t, 50)
			writeFile(t, f.home.Genesis(), "genesis")
			before := content(t, disk)
			_, err := f.Run(t, api.SnapshotRestore, `{}`)
			handlertest.WantError(t, err, tc.code, tc.text)
			if diff := cmp.Diff(before, content(t, disk)); diff != "" {
				t.Errorf("home (-before +after):\n%s", diff)
			}
			if left, _ := filepath.Glob(filepath.Join(disk, "data", ".sei-tmp-*")); len(left) > 0 {
				t.Errorf("%v was left behind", left)
			}
			if err := os.WriteFile(filepath.Join(disk, "usable"), []byte("x"), 0o600); err != nil {
				t.Errorf("the disk is still full: %v", err)
			}
		})
	}
}
