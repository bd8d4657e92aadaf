package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

// what only the sidecar may read.
const secret = "secret of the sidecar"

func secretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "CURRENT")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// seid can put a link in the place of its index; the copy is uploaded.
func TestCopyIndex_ThatLeadsElsewhere_IsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Dir(secretFile(t)), filepath.Join(dir, indexName)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if _, err := copyIndex(filepath.Join(dir, indexName), to); err == nil {
		t.Error("an index that leads out of the snapshots was copied")
	}
	if data, err := os.ReadFile(filepath.Join(to, "CURRENT")); err == nil {
		t.Errorf("copied %q", data)
	}
}

func TestCopyIndex_OtherThanFiles_AreLeftOut(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), indexName), filepath.Join(t.TempDir(), "copy")
	snapshottest.Index(t, from, snapshottest.Of(7, []byte("chunk")))
	if err := os.Symlink(secretFile(t), filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(from, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := copyIndex(from, to)
	if err != nil || len(named) != 1 {
		t.Errorf("%v, %v; want the entry of one snapshot", named, err)
	}
	for _, name := range []string{"link", "pipe"} {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
}

// What takes the place of a file after it was seen is not read, and does not hold up the copy.
func TestCopyFile_ReplacedMeanwhile_IsNotRead(t *testing.T) {
	for name, replace := range map[string]func(file string) error{
		"link":       func(file string) error { return os.Symlink(secretFile(t), file) },
		"pipe":       func(file string) error { return unix.Mkfifo(file, 0o600) },
		"other file": func(file string) error { return os.Rename(secretFile(t), file) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			file := filepath.Join(dir, "000001.log")
			if err := os.WriteFile(file, []byte("index"), 0o600); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = root.Close() }()
			seen, err := root.Lstat("000001.log")
			if err != nil {
				t.Fatal(err)
			}
			// The first is kept, so that its number is not used again.
			if err := os.Rename(file, file+".old"); err != nil {
				t.Fatal(err)
			}
			if err := replace(file); err != nil {
				t.Fatal(err)
			}
			if err := copyFile(root, seen, to); err == nil {
				t.Error("what took the place of the file was copied")
			}
			if data, err := os.ReadFile(to); err == nil {
				t.Errorf("copied %q", data)
			}
		})
	}
}
