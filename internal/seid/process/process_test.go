package process_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"

	"github.com/sei-operator/sei-operator/internal/seid/process"
)

type proc struct {
	pid   int
	comm  string
	argv  []string
	state string
}

func table(t *testing.T, procs ...proc) process.Table {
	t.Helper()
	root := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range procs {
		dir := filepath.Join(root, fmt.Sprint(p.pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if p.state == "" {
			p.state = "S"
		}
		write(filepath.Join(dir, "comm"), p.comm+"\n")
		write(filepath.Join(dir, "cmdline"), strings.Join(p.argv, "\x00")+"\x00")
		write(filepath.Join(dir, "stat"), fmt.Sprintf("%d (%s) %s %s", p.pid, p.comm, p.state, rest(4711)))
	}
	return process.Table{Root: root}
}

// rest is a stat line after the state.
func rest(started int) string {
	return strings.Repeat("1 ", 18) + fmt.Sprint(started) + strings.Repeat(" 0", 22) + "\n"
}

func TestFind_PicksTheStartedNodeAlone(t *testing.T) {
	tests := map[string]struct {
		procs []proc
		want  int
	}{
		"plain":          {[]proc{{pid: 7, comm: "seid", argv: []string{"seid", "start", "--home", "/h"}}}, 7},
		"full path":      {[]proc{{pid: 7, comm: "seid", argv: []string{"/usr/bin/seid", "start"}}}, 7},
		"init":           {[]proc{{pid: 7, comm: "seid", argv: []string{"seid", "init", "start"}}}, 0},
		"no argument":    {[]proc{{pid: 7, comm: "seid", argv: []string{"seid"}}}, 0},
		"shell":          {[]proc{{pid: 7, comm: "bash", argv: []string{"seid", "start"}}}, 0},
		"other binary":   {[]proc{{pid: 7, comm: "seid", argv: []string{"notseid", "start"}}}, 0},
		"zombie":         {[]proc{{pid: 7, comm: "seid", argv: []string{"seid", "start"}, state: "Z"}}, 0},
		"among others":   {[]proc{{pid: 1, comm: "pause", argv: []string{"/pause"}}, {pid: 9, comm: "seid", argv: []string{"seid", "start"}}}, 9},
		"tricky comm":    {[]proc{{pid: 3, comm: "a) b", argv: []string{"seid", "start"}}}, 0},
		"nothing at all": {nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			node, err := table(t, tc.procs...).Find()
			if tc.want == 0 {
				if !errors.Is(err, process.ErrNotRunning) {
					t.Errorf("got %+v, %v", node, err)
				}
				return
			}
			if err != nil || node.PID != tc.want || !node.Alive() {
				t.Errorf("got %+v, %v, want pid %d", node, err, tc.want)
			}
		})
	}
}

func TestAlive_AnotherProcessWithTheSamePID_IsNotTheNode(t *testing.T) {
	tab := table(t, proc{pid: 7, comm: "seid", argv: []string{"seid", "start"}})
	node, err := tab.Find()
	if err != nil {
		t.Fatal(err)
	}
	stat := filepath.Join(tab.Root, "7", "stat")
	if err := os.WriteFile(stat, []byte("7 (seid) S "+rest(9999)), 0o600); err != nil {
		t.Fatal(err)
	}
	if node.Alive() {
		t.Error("a process that began at another time counts as the node")
	}
	if err := node.Signal(syscall.SIGTERM); !errors.Is(err, process.ErrNotRunning) {
		t.Errorf("signal: %v, want %v", err, process.ErrNotRunning)
	}
}

func TestFind_NoProcessTable_IsAnError(t *testing.T) {
	_, err := process.Table{Root: filepath.Join(t.TempDir(), "none")}.Find()
	if err == nil || errors.Is(err, process.ErrNotRunning) {
		t.Errorf("got %v, want an error and not %v", err, process.ErrNotRunning)
	}
}

// TestMain lets the test binary play the node: copied to a file named seid and
// started with "start" it waits for its input to end.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "seid" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFind_RealProcess_IsFoundSignalledAndSeenToEnd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "seid")
	if err := os.Link(self, binary); err != nil {
		data, readErr := os.ReadFile(self)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err := os.WriteFile(binary, data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "start", "--home", "/h")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() //nolint:errcheck // ends the child if the test fails half-way
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A table of this one process: another node may run on the same machine.
	root := t.TempDir()
	pid := fmt.Sprint(cmd.Process.Pid)
	if err := os.Symlink(filepath.Join(procfs.DefaultMountPoint, pid), filepath.Join(root, pid)); err != nil {
		t.Fatal(err)
	}
	node, err := process.Table{Root: root}.Find()
	if err != nil {
		t.Fatal(err)
	}
	if node.PID != cmd.Process.Pid || !node.Alive() {
		t.Fatalf("found %+v, want pid %s", node, pid)
	}
	if err := node.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if node.Alive() {
		t.Error("the ended process counts as alive")
	}
}
