package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
)

// nobody is a user without privileges.
const nobody = 65532

// ownerOf returns the user that owns a process's memory and environment: its own user, or root when the process is
// hardened.
func ownerOf(t *testing.T, pid string) uint32 {
	t.Helper()
	info, err := os.Stat(filepath.Join("/proc", pid, "environ"))
	if err != nil {
		t.Fatal(err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%T", info.Sys())
	}
	return stat.Uid
}

// The gate runs seid under its own user: what seid's user can read of the gate, it can also read of the sidecar.
func TestHarden_ProcessIsClosedToItsUser_AndLeavesNoCoreFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "harden")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "sidecar")
	program, err := os.ReadFile(crashtest.Binary(t))
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(binary, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "gate", "--", "true") // waits for a sidecar
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err) // it says that it is waiting
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	if owner := ownerOf(t, pid); owner != 0 {
		t.Errorf("its environment belongs to user %d, want root", owner)
	}
	limits, err := os.ReadFile(filepath.Join("/proc", pid, "limits"))
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), "Max core file size 0 0 bytes") {
		t.Errorf("%v: %s, want no error and %q in it", err, limits, "Max core file size 0 0 bytes")
	}
}
