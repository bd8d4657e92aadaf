package gate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

func codeOf(t *testing.T, err error) int {
	t.Helper()
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

func TestRun_ExitCodes(t *testing.T) {
	for _, c := range []struct {
		script   string
		job, pod int
	}{
		{"exit 0", 0, 0}, {"exit 130", 0, 130}, {"kill -TERM $$", 0, 143}, {"exit 1", 1, 1}, {"kill -9 $$", 137, 137},
	} {
		g, _ := gateAt(t, opened)
		if got := codeOf(t, g.Run(t.Context(), []string{"sh", "-c", c.script}, 130, 143)); got != c.job {
			t.Errorf("%s in a Job: exit code %d, want %d", c.script, got, c.job)
		}
		if got := codeOf(t, g.Run(t.Context(), []string{"sh", "-c", c.script})); got != c.pod {
			t.Errorf("%s in a pod: exit code %d, want %d", c.script, got, c.pod)
		}
	}
}

// trapping ends with a code when it is asked to; the second time it would end with 9.
func trapping(t *testing.T, code string) (script, ready string) {
	t.Helper()
	ready = filepath.Join(t.TempDir(), "ready")
	return "trap 'trap \"exit 9\" TERM INT; sleep 0.7; exit " + code + "' TERM INT; touch " + ready + "; while :; do sleep 0.05; done", ready
}

// A Job that is told to stop has not reached its height, whatever seid's exit code says and
// whoever told it (K.13).
func TestRun_AnEndThatSomebodyAskedFor_IsNoSuccessOfAJob(t *testing.T) {
	for code, want := range map[string]int{"130": 130, "0": 143} {
		for _, by := range []string{"kubelet", "sidecar"} {
			g, _ := gateAt(t, opened)
			script, ready := trapping(t, code)
			done := make(chan error, 1)
			go func() { done <- g.Run(t.Context(), []string{"sh", "-c", script}, 130) }()
			awaitFile(t, ready)
			ask(t, g, by)
			if got := codeOf(t, <-done); got != want {
				t.Errorf("asked by the %s, a command that ends with %s gave %d, want %d", by, code, got, want)
			}
		}
	}
}

func ask(t *testing.T, g Gate, by string) {
	t.Helper()
	var err error
	if by == "kubelet" {
		err = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	} else {
		r := awaitRecord(t, g, func(r supervision.Record) bool { return r.State == api.SeidRunning })
		err = supervision.GiveOrder(g.Home, supervision.Order{Target: r.Identity(), By: by, At: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// K.2: whoever asks, and however often, the process is asked once.
func TestRun_AskedByAll_TheProcessIsAskedOnce(t *testing.T) {
	for _, order := range [][]string{{"kubelet", "kubelet", "sidecar"}, {"sidecar", "kubelet", "kubelet"}} {
		g, _ := gateAt(t, opened)
		script, ready := trapping(t, "0")
		done := make(chan error, 1)
		go func() { done <- g.Run(t.Context(), []string{"sh", "-c", script}) }()
		awaitFile(t, ready)
		for _, by := range order {
			ask(t, g, by)
			awaitRecord(t, g, func(r supervision.Record) bool { return r.TermAt != nil || r.State != api.SeidRunning })
		}
		if got := codeOf(t, <-done); got != 0 {
			t.Errorf("%v: exit code %d, want 0", order, got)
		}
		if exit := record(t, g).LastExit; exit == nil || exit.Reason != api.ExitStopped {
			t.Errorf("%v: last exit %+v", order, exit)
		}
	}
}

func TestRun_OrderForAnotherProcess_IsVoid(t *testing.T) {
	g, _ := gateAt(t, opened)
	if err := supervision.GiveOrder(g.Home, supervision.Order{Target: "1@1", By: "stop-seid"}); err != nil {
		t.Fatal(err)
	}
	if got := codeOf(t, g.Run(t.Context(), []string{"sleep", "1"})); got != 0 {
		t.Errorf("exit code %d", got)
	}
}

func TestRun_Output_IsPassedOnUnchanged(t *testing.T) {
	g, _ := gateAt(t, opened)
	var out, errs bytes.Buffer
	g.Stdout, g.Stderr = &out, &errs
	long := strings.Repeat("x", 3*maxLine)
	err := g.Run(t.Context(), []string{"sh", "-c", "printf 'a\\n\\nb'; printf '" + long + "\\nend' >&2"})
	if err != nil || out.String() != "a\n\nb" || errs.String() != long+"\nend" {
		t.Errorf("%v: %q and %d bytes", err, out.String(), errs.Len())
	}
}

func TestRun_RecordsTheProcess(t *testing.T) {
	g, _ := gateAt(t, opened)
	g.Rules.ConfigHash = func() (string, error) { return "abc", nil }
	kept := false
	g.Rules.Starting = func() error { kept = true; return nil }
	ready := filepath.Join(t.TempDir(), "ready")
	script := "touch " + ready + "; while [ -e " + ready + " ]; do sleep 0.02; done; exit 3"
	done := make(chan error, 1)
	go func() { done <- g.Run(t.Context(), []string{"sh", "-c", script}) }()
	awaitFile(t, ready)
	r := awaitRecord(t, g, func(r supervision.Record) bool { return r.State == api.SeidRunning })
	if r.ConfigHash != "abc" || r.Starts != 1 || r.Process() == nil || r.BootID == "" || !kept || r.LastExit != nil {
		t.Errorf("while it runs: %+v", r)
	}
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	if got := codeOf(t, <-done); got != 3 {
		t.Errorf("exit code %d", got)
	}
	r = record(t, g)
	if r.State != api.SeidExited || r.ConfigHash != "" || r.LastExit == nil || r.LastExit.Code != 3 || r.LastExit.Reason != api.ExitCrash {
		t.Errorf("afterwards: %+v %+v", r, r.LastExit)
	}
	if err := g.Run(t.Context(), []string{"true"}); err != nil {
		t.Fatal(err)
	}
	if r = record(t, g); r.Starts != 2 || r.LastExit.Reason != api.ExitStopped {
		t.Errorf("after the second: %+v %+v", r, r.LastExit)
	}
}

// The container was killed with its gate.
func TestRun_ProcessThatNobodySawEnd_EndedForAnUnknownReason(t *testing.T) {
	g, _ := gateAt(t, opened)
	asked := time.Now()
	if err := supervision.Write(g.Home, supervision.Record{State: api.SeidRunning, PID: 1, StartTicks: "0", Starts: 4, TermAt: &asked}); err != nil {
		t.Fatal(err)
	}
	if r := record(t, g); r.State != api.SeidExited || r.LastExit.Reason != api.ExitUnknown {
		t.Errorf("before the next start: %+v", r)
	}
	g.Rules.Starting = func() error {
		if r := record(t, g); r.Starts != 4 || r.LastExit == nil || !strings.Contains(r.LastExit.Message, "had not when its container was killed") {
			t.Errorf("at the next start: %+v", r)
		}
		return nil
	}
	if err := g.Run(t.Context(), []string{"true"}); err != nil {
		t.Fatal(err)
	}
}

// S7: two processes on one home would damage it.
func TestRun_ProcessOfTheGateBefore_IsWaitedFor(t *testing.T) {
	first, _ := gateAt(t, opened)
	second, _ := gateAt(t, opened)
	second.Home = first.Home
	ready := filepath.Join(t.TempDir(), "ready")
	script := "touch " + ready + "; while [ -e " + ready + " ]; do sleep 0.02; done"
	done := make(chan error, 2)
	go func() { done <- first.Run(t.Context(), []string{"sh", "-c", script}) }()
	awaitFile(t, ready)
	second.Rules.Starting = func() error {
		if _, err := os.Stat(ready); err == nil {
			t.Error("the second was started beside the first")
		}
		return nil
	}
	go func() { done <- second.Run(t.Context(), []string{"true"}) }()
	select {
	case err := <-done:
		t.Fatalf("ended: %v", err)
	case <-time.After(3 * orderEvery):
	}
	if err := errors.Join(os.Remove(ready), <-done, <-done); err != nil {
		t.Error(err)
	}
}

func awaitRecord(t *testing.T, g Gate, is func(supervision.Record) bool) supervision.Record {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if r := record(t, g); is(r) {
			return r
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the record stays %+v", record(t, g))
		}
	}
}

func awaitFile(t *testing.T, file string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the command did not start")
		}
	}
}
