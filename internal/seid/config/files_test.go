package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestWrite_ThenRead_GivesTheSameFiles(t *testing.T) {
	dir := t.TempDir()
	files := apply(t, initFiles(t, "full"), config.Intent{Mode: "full"})
	if err := config.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	back, err := config.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(encode(t, files), encode(t, back)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantNames(t, dir, "app.toml", "client.toml", "config.toml")
}

func TestRead_MissingFiles_AreNil(t *testing.T) {
	files, err := config.Read(t.TempDir())
	if err != nil || files.Config != nil || files.App != nil || files.Client != nil {
		t.Errorf("got %+v, %v", files, err)
	}
}

func TestRead_BrokenFile_IsAnErrorWithFileAndPosition(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "app.toml"), "a = 1\nb = = 2\n", 0o644)
	_, err := config.Read(dir)
	wantErrorWith(t, err, "app.toml", "parsing")
}

func TestWrite_KeepsTheModeOfTheFileAndLeavesEqualFilesAlone(t *testing.T) {
	dir := t.TempDir()
	files := parse(t, "a = 1\n", "b = 2\n")
	if err := config.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	appToml, configToml := filepath.Join(dir, "app.toml"), filepath.Join(dir, "config.toml")
	if info := stat(t, appToml); info.Mode().Perm() != 0o644 {
		t.Errorf("new file has mode %v", info.Mode())
	}
	if err := os.Chmod(configToml, 0o600); err != nil {
		t.Fatal(err)
	}
	before := stat(t, appToml)
	changed := parse(t, "a = 2\n", "b = 2\n")
	if err := config.Write(dir, changed); err != nil {
		t.Fatal(err)
	}
	if info := stat(t, configToml); info.Mode().Perm() != 0o600 {
		t.Errorf("the mode became %v", info.Mode())
	}
	if !os.SameFile(before, stat(t, appToml)) {
		t.Error("a file whose content is the same was replaced")
	}
	wantNames(t, dir, "app.toml", "config.toml")
}

func TestWrite_NilTrees_LeaveTheirFilesAlone(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "client.toml"), "# mine\n", 0o644)
	if err := config.Write(dir, parse(t, "a = 1\n", "b = 2\n")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "client.toml"))
	if err != nil || string(data) != "# mine\n" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestWrite_SecondFileCannotBeStaged_ChangesNeither(t *testing.T) {
	dir := t.TempDir()
	if err := config.Write(dir, parse(t, "a = 1\n", "b = 2\n")); err != nil {
		t.Fatal(err)
	}
	bad := parse(t, "a = 5\n", "b = 6\n")
	bad.App["c"] = make(chan int) // cannot be written as TOML
	if err := config.Write(dir, bad); err == nil {
		t.Fatal("no error")
	}
	after, err := config.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, after, map[string]any{"config.toml:a": int64(1), "app.toml:b": int64(2)})
	wantNames(t, dir, "app.toml", "config.toml")
}

func TestWrite_DirectoryIsMissing_IsAnError(t *testing.T) {
	err := config.Write(filepath.Join(t.TempDir(), "none"), parse(t, "a = 1\n", "b = 2\n"))
	wantErrorWith(t, err, "writing configuration")
}

func TestParse_OtherFileNames_AreRefused(t *testing.T) {
	for _, name := range []config.FileName{"genesis.json", "../config.toml", ""} {
		_, err := config.Parse(map[config.FileName][]byte{name: nil})
		wantErrorWith(t, err, "unknown file")
	}
}

func TestEncode_DoesNotDependOnTheOrderOfKeys(t *testing.T) {
	a := parse(t, "b = 1\na = 2\n[z]\ny = 1\nx = 2\n[c]\nd = 1\n", "x = 1\n")
	b := parse(t, "a = 2\nb = 1\n[c]\nd = 1\n[z]\nx = 2\ny = 1\n", "x = 1\n")
	if diff := cmp.Diff(encode(t, a), encode(t, b)); diff != "" {
		t.Errorf("(-a +b):\n%s", diff)
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(entries))
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names in the directory (-want +got):\n%s", diff)
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// Code in seid's container could have the sidecar read, copy and quote what it cannot read itself.
func TestRead_Link_IsNotFollowed(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("moniker = \"hush\"\n"), 0o600), os.Symlink(secret, filepath.Join(dir, "config.toml"))); err != nil {
		t.Fatal(err)
	}
	if files, err := config.Read(dir); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("read %+v, %v", files, err)
	}
}
