package durable_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]string, 0, len(entries))
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestWrite_WhenFillFails_KeepsTheOldFileAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	write(t, file, "old")
	broken := errors.New("no more ink")
	err := durable.Write(file, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("half of the new"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("Write = %v, want the cause", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "old" {
		t.Errorf("the file is now %q", data)
	}
	if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

func TestWriteFile_SetsContentAndMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, "old")
	if err := durable.WriteFile(file, []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	if err := errors.Join(err, statErr); err != nil {
		t.Fatal(err)
	}
	if string(data) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("file is %q with mode %v", data, info.Mode())
	}
}

func TestSwap_ReplacesADirectoryWhetherOrNotItIsThere(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	for _, content := range []string{"one", "two"} {
		staged := filepath.Join(dir, "staged")
		write(t, filepath.Join(staged, content), content)
		if err := durable.Swap(staged, target); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{content}, names(t, target)); diff != "" {
			t.Errorf("target (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"target"}, names(t, dir)); diff != "" {
			t.Errorf("parent (-want +got):\n%s", diff)
		}
	}
}

func TestSweep_RemovesOnlyLeftoversOfThatName(t *testing.T) {
	dir := t.TempDir()
	if err := durable.Sweep(filepath.Join(dir, "missing"), "a"); err != nil {
		t.Errorf("Sweep of a missing directory = %v", err)
	}
	mine, err := durable.TempDir(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(mine, "deep", "file"), "x")
	other, err := durable.TempDir(dir, "b")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a-file"), "x")
	if err := durable.Sweep(dir, "a"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Base(other), "a-file"}, names(t, dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

func TestJSON_WrittenAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "record.json")
	got := map[string]int{"as": 1}
	if found, err := durable.ReadJSON(path, &got); found || err != nil || got["as"] != 1 {
		t.Errorf("without a file: %t, %v, %v", found, err, got)
	}
	if err := durable.WriteJSON(path, map[string]int{"as": 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := durable.ReadJSON(path, &got); !found || err != nil || got["as"] != 2 {
		t.Errorf("with a file: %t, %v, %v", found, err, got)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := durable.ReadJSON(path, &got); found || err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a broken file: %t, %v", found, err)
	}
}
