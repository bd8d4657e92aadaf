package homeinit

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The test binary itself plays seid: it makes the files that seid init makes,
// with content that tells one run from another.
func TestMain(m *testing.M) {
	if os.Getenv("BE_SEID") != "" {
		os.Exit(beSeid(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func beSeid(args []string) int {
	// init MONIKER --chain-id ID --home DIR
	if len(args) != 6 || args[0] != "init" || args[2] != "--chain-id" || args[4] != "--home" {
		fmt.Fprintln(os.Stderr, "unexpected arguments:", args)
		return 2
	}
	home := args[5]
	for i, name := range []string{
		"config/config.toml", "config/app.toml", "config/client.toml", "config/node_key.json",
		"config/priv_validator_key.json", "data/priv_validator_state.json", "config/genesis.json",
	} {
		if os.Getenv("BE_SEID") == "killed" && i == 4 {
			fmt.Fprintln(os.Stderr, "no space left on device")
			return 1
		}
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return 1
		}
		if err := os.WriteFile(path, []byte("new "+args[1]+" "+args[3]+"\n"), 0o644); err != nil {
			return 1
		}
	}
	return 0
}

func newHome(t *testing.T, mode string) Home {
	t.Helper()
	t.Setenv("BE_SEID", mode)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Home{Dir: t.TempDir(), ChainID: "test-1", Moniker: "me", Seid: self, Log: slog.New(slog.DiscardHandler)}
}

// tree is every file under dir with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const fresh = "new me test-1\n"

func freshTree() map[string]string {
	return map[string]string{
		"config/config.toml": fresh, "config/app.toml": fresh, "config/client.toml": fresh, "config/node_key.json": fresh,
		"config/priv_validator_key.json": fresh, "config/genesis.json": fresh, "data/priv_validator_state.json": fresh,
	}
}

func TestPrepare_EmptyHome_IsInitialised(t *testing.T) {
	h := newHome(t, "yes")
	write(t, filepath.Join(h.Dir, "lost+found/x"), "") // volumes are seldom quite empty
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := freshTree()
	want["lost+found/x"] = ""
	if diff := cmp.Diff(want, tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(h.Dir, "tmp")); err != nil || !info.IsDir() {
		t.Errorf("tmp: %v, want no error and IsDir true", err)
	}
}

func TestPrepare_InitialisedHome_IsNotTouched(t *testing.T) {
	h := newHome(t, "yes")
	write(t, filepath.Join(h.Dir, "config/genesis.json"), "precious")
	write(t, filepath.Join(h.Dir, "data/application.db/1"), "precious")
	before := tree(t, h.Dir)
	h.Seid = "/nonexistent/seid" // must not even be looked for
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPrepare_MountedKeys_AreKept(t *testing.T) {
	h := newHome(t, "yes")
	write(t, filepath.Join(h.Dir, "config/priv_validator_key.json"), "from a Secret")
	write(t, filepath.Join(h.Dir, "data/priv_validator_state.json"), "signed already")
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := freshTree()
	want["config/priv_validator_key.json"], want["data/priv_validator_state.json"] = "from a Secret", "signed already"
	if diff := cmp.Diff(want, tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPrepare_DataWithoutGenesis_IsRefusedAndNotTouched(t *testing.T) {
	h := newHome(t, "yes")
	write(t, filepath.Join(h.Dir, "data/application.db/1"), "precious")
	before := tree(t, h.Dir)
	err := h.Prepare(t.Context())
	if err == nil || !strings.Contains(err.Error(), "data/application.db") || !strings.Contains(err.Error(), "config/genesis.json") {
		t.Errorf("got %v, want an error with %q and %q in it", err, "data/application.db", "config/genesis.json")
	}
	if diff := cmp.Diff(before, tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPrepare_SeidFails_SaysWhyAndTheNextCallSucceeds(t *testing.T) {
	h := newHome(t, "killed")
	err := h.Prepare(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("got %v", err)
	}
	t.Setenv("BE_SEID", "yes")
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(freshTree(), tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
}

// Killed while moving in: whatever was moved already, a repeat ends right and
// uses the files of one and the same seid init.
func TestPrepare_KilledWhileMovingIn_IsFinishedByTheNextCall(t *testing.T) {
	for moved := range 7 {
		h := newHome(t, "yes")
		if err := h.stage(t.Context()); err != nil {
			t.Fatal(err)
		}
		staged := filepath.Join(h.Dir, stagingDir, stagedHome)
		done := 0
		for name := range freshTree() {
			if name == genesisFile || done >= moved {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(h.Dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := linkIn(filepath.Join(staged, name), filepath.Join(h.Dir, name)); err != nil {
				t.Fatal(err)
			}
			done++
		}
		h.Seid = "/nonexistent/seid" // what was staged is used
		if err := h.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(freshTree(), tree(t, h.Dir)); diff != "" {
			t.Errorf("after %d files: %s", moved, diff)
		}
	}
}

func TestPrepare_StoppedWhileSeidRuns_LeavesNothingBehindThatCounts(t *testing.T) {
	h := newHome(t, "yes")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Prepare(ctx); err == nil {
		t.Fatal("no error")
	}
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(freshTree(), tree(t, h.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPrepare_KeyringBackend_IsWrittenOnEveryCall(t *testing.T) {
	for name, tc := range map[string]struct{ before, after string }{
		"changed":   {"# mine\nchain-id = \"x\"\nkeyring-backend = \"os\"\n\n[t]\na = 1\n", "# mine\nchain-id = \"x\"\nkeyring-backend = \"test\"\n\n[t]\na = 1\n"},
		"same":      {"keyring-backend = \"test\"\n", "keyring-backend = \"test\"\n"},
		"added":     {"[t]\na = 1\n", "keyring-backend = \"test\"\n[t]\na = 1\n"},
		"commented": {"# keyring-backend = \"os\"\n", "keyring-backend = \"test\"\n# keyring-backend = \"os\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "yes")
			h.KeyringBackend = "test"
			write(t, filepath.Join(h.Dir, "config/genesis.json"), "{}")
			path := filepath.Join(h.Dir, "config/client.toml")
			write(t, path, tc.before)
			for range 2 {
				if err := h.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tc.after {
				t.Errorf("%q %v, want no error and %v", got, err, tc.after)
			}
			if ring, err := os.Stat(filepath.Join(h.Dir, "keyring-test")); err != nil || ring.Mode().Perm() != 0o700 {
				t.Errorf("the place for keys: %v, %v", ring, err)
			}
		})
	}
}

func TestPrepare_SeidMissing_SaysSo(t *testing.T) {
	h := newHome(t, "yes")
	h.Seid = "/nonexistent/seid"
	if err := h.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "/nonexistent/seid") {
		t.Error(err)
	}
	if _, err := exec.LookPath(h.Seid); err == nil {
		t.Error("it exists")
	}
}
