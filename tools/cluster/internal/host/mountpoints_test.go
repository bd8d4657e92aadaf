package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMounted_SeesMountsOfAnyProcess(t *testing.T) {
	if !mounted("/proc") {
		t.Error("/proc does not count as mounted")
	}
	if folder := t.TempDir(); mounted(folder) {
		t.Errorf("%s counts as mounted", folder)
	}
}

func TestRemoveMountPoints_TakesOnlyEmptyFoldersThatNobodyMounts(t *testing.T) {
	dir := t.TempDir()
	empty, full := filepath.Join(dir, "empty"), filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &Record{Made: []string{empty, full, filepath.Join(dir, "gone"), "/proc"}}
	for range 2 { // twice, because up removes what a crash left before it starts over
		if err := removeMountPoints(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(empty); err == nil {
		t.Error("the empty folder is still there")
	}
	if _, err := os.Stat(full); err != nil {
		t.Errorf("the folder of someone else is gone: %v", err)
	}
}
