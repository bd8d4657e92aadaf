package seidcmd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// TestMain lets this binary be a process that runs a command and is killed.
func TestMain(m *testing.M) {
	if binary := os.Getenv("RUN_AND_BE_KILLED"); binary != "" {
		_, _ = seidcmd.Runner{Path: binary}.Run(context.Background(), seidcmd.Call{})
		return
	}
	os.Exit(m.Run())
}

func TestRun_TheChildOfAKilledProcess_DiesToo(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	runner := script(t, "echo $$ > "+pidFile+".new; mv "+pidFile+".new "+pidFile+"; exec sleep 600")
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), "RUN_AND_BE_KILLED="+runner.Path)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the child runs", func() bool { _, err := os.Stat(pidFile); return err == nil })
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	await(t, "the child is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// script is a stand-in for the binary that does what the shell lines say.
func script(t *testing.T, lines string) seidcmd.Runner {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seid")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return seidcmd.Runner{Path: file}
}

func TestRun_GivesStandardOutputAndPassesStandardInput(t *testing.T) {
	out, err := script(t, `read secret; echo "got $secret $1"; echo noise >&2`).Run(t.Context(), seidcmd.Call{Args: []string{"keys"}, Stdin: "pass\n"})
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != "got pass keys\n" {
		t.Errorf("Run = %q", out)
	}
}

func TestRun_AChildSeesOnlyTheEnvironmentItNeeds(t *testing.T) {
	t.Setenv("SEI_KEYRING_PASSPHRASE", "hunter2")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter3")
	out, err := script(t, "env").Run(t.Context(), seidcmd.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "hunter") {
		t.Errorf("the child saw secrets:\n%s", out)
	}
}

func TestRun_ShowsWhatTheBinarySaidWasWrong(t *testing.T) {
	_, err := script(t, `echo "Usage: lots" >&2; echo "Error: key not found" >&2; echo "more usage" >&2; exit 1`).
		Run(t.Context(), seidcmd.Call{Args: []string{"keys", "show", "validator", "--home", "/x"}})
	if err == nil || err.Error() != "running seid keys show validator: exit status 1: key not found" {
		t.Errorf("Run = %v", err)
	}
}

func TestRun_Quiet_NeverShowsStandardError(t *testing.T) {
	_, err := script(t, `echo "Error: abandon ability able about" >&2; exit 1`).Run(t.Context(), seidcmd.Call{Args: []string{"keys", "add"}, Quiet: true})
	if err == nil || strings.Contains(err.Error(), "abandon") {
		t.Errorf("Run = %v, want an error without the child's words", err)
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := script(t, "exec sleep 60").Run(ctx, seidcmd.Call{Args: []string{"init"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run = %v, want the deadline", err)
	}
}

func TestRun_WithoutTheBinary_NamesIt(t *testing.T) {
	_, err := seidcmd.Runner{Path: "no-such-seid"}.Run(t.Context(), seidcmd.Call{Args: []string{"version"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-seid") {
		t.Errorf("Run = %v, want an error that names the binary", err)
	}
}
