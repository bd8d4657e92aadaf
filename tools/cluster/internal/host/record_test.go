package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

func testLayout(t *testing.T) layout.Layout {
	t.Helper()
	l, err := layout.New(t.TempDir(), "198.18.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRecord_IsReadAsItWasWritten(t *testing.T) {
	l := testLayout(t)
	if r, err := ReadRecord(l); r != nil || err != nil {
		t.Fatalf("without a cluster: got %v, %v", r, err)
	}
	want := &Record{Version: "v1", Network: "n", PID: 7, Started: 8, Made: []string{"/x"}}
	if err := want.write(l); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecord(l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestNewRecord_FolderWithOtherThings_IsRefused(t *testing.T) {
	l := testLayout(t)
	if err := os.WriteFile(l.Path("thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecord(l, "v1"); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("got %v", err)
	}
	if r, _ := ReadRecord(l); r != nil {
		t.Errorf("a record was written: %+v", r)
	}
}

func TestReadRecord_Garbage_NamesTheFile(t *testing.T) {
	l := testLayout(t)
	if err := os.WriteFile(l.Record(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecord(l); err == nil || !strings.Contains(err.Error(), l.Record()) {
		t.Errorf("got %v", err)
	}
}

func TestRunning_KnowsAProcessFromOneThatInheritedItsNumber(t *testing.T) {
	// A name with a bracket and a blank, which the kernel prints as it is.
	program := filepath.Join(t.TempDir(), "a) b")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("skipped: no sleep program here")
	}
	if err := os.Symlink(sleep, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started, _, err := processStart(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	same := &Record{PID: cmd.Process.Pid, Started: started}
	other := &Record{PID: cmd.Process.Pid, Started: started - 1}
	if !same.Running() || other.Running() || (*Record)(nil).Running() || (&Record{}).Running() {
		t.Errorf("same %t, want true; other %t, want false", same.Running(), other.Running())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if same.Running() {
		t.Error("an ended process counts as running")
	}
}
