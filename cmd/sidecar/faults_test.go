package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// smallVolume mounts a small file system, which a test can fill.
func smallVolume(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("mounting a small volume needs privileges that this machine does not give: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes to a file until the volume is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, zeros{})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the volume: %v, want %v", err, syscall.ENOSPC)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestServe_FullDisk_RefusesNewTasksAndLosesNone(t *testing.T) {
	home := smallVolume(t)
	s := crashtest.Start(t, home)
	before := s.Run(api.MarkReady, nil)

	filler := filepath.Join(home, "filler")
	fill(t, filler)
	// The store has some spare pages; a large task uses them up.
	large := api.TaskRequest{Type: api.ConfigPatch, Params: []byte(`{"files":{"app.toml":{"x":"` + string(bytes.Repeat([]byte("x"), 200<<10)) + `"}}}`)}
	_, err := s.Client().Submit(t.Context(), large)
	if answer, ok := errors.AsType[*client.Error](err); !errors.Is(err, client.ErrNotReady) || !ok || answer.Detail.Code != api.CodeStoreFailed {
		t.Fatalf("Submit = %v on a full disk, want %v with code %s", err, client.ErrNotReady, api.CodeStoreFailed)
	}
	if got, err := s.Client().Get(t.Context(), before.ID, 0); err != nil || got.Status != api.TaskCompleted {
		t.Errorf("Get = %+v, %v on a full disk, want the task that has completed", got, err)
	}
	if health, err := s.Client().Health(t.Context()); err != nil || health != client.Ready {
		t.Errorf("Health = %v, %v on a full disk, want %v", health, err, client.Ready)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(api.MarkNotReady, nil); got.Status != api.TaskCompleted {
		t.Errorf("with room again a task is %+v, want it %s", got, api.TaskCompleted)
	}
	s.Kill()
	s.Restart()
	if tasks, err := s.Client().List(t.Context()); err != nil || len(tasks) != 1 {
		t.Errorf("List = %+v, %v after a kill, want one task", tasks, err)
	}
}

// The real seid is killed together with the init command at random moments: the
// next run ends with a complete home, and a complete home is never changed.
func TestInit_RealSeidKilledAtRandom_EndsWithAWholeHome(t *testing.T) {
	seid := handlertest.SeidPath(t)
	// prepare runs until ctx ends; then it is killed, together with the seid
	// that it runs.
	prepare := func(ctx context.Context, home string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, crashtest.Binary(t), "init", "--home", home, "--chain-id", "test-1", "--seid", seid)
		cmd.Env = append(os.Environ(), "SEI_KEYRING_BACKEND=test")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		return cmd
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for range 15 {
		home := t.TempDir()
		for range 3 {
			// The home has to become complete whenever the kill happens, so no
			// machine is too slow or too fast.
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(250))*time.Millisecond)
			_ = prepare(ctx, home).Run() // it was killed, or has exited by itself
			cancel()
		}
		if out, err := prepare(t.Context(), home).CombinedOutput(); err != nil {
			t.Fatalf("preparing a home after kills: %v, want no error\n%s", err, out)
		}
		first := checkHome(t, home)
		if out, err := prepare(t.Context(), home).CombinedOutput(); err != nil {
			t.Fatalf("preparing a whole home: %v, want no error\n%s", err, out)
		}
		if second := checkHome(t, home); second != first {
			t.Errorf("the node's id is %s, want %s as before", second, first)
		}
	}
}

// checkHome checks that the home is complete and returns the node's id.
func checkHome(t *testing.T, home string) string {
	t.Helper()
	for _, name := range []string{
		"config/config.toml", "config/app.toml", "config/client.toml", "config/genesis.json",
		"config/priv_validator_key.json", "data/priv_validator_state.json",
	} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, want a file that is not empty", name, err)
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 4 {
		t.Errorf("the home has %v, %v, want config, data, keyring-test and tmp", entries, err)
	}
	raw, err := os.ReadFile(filepath.Join(home, "config", keys.NodeKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParseNodeKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return key.ID
}
