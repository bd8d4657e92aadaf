package gate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// trapping is a command that ends with a code when it is asked to. Asked a second time, it ends
// with 9.
type trapping struct{ script, ready, asked, mayEnd string }

func newTrapping(t *testing.T, code string) trapping {
	t.Helper()
	dir := t.TempDir()
	c := trapping{ready: filepath.Join(dir, "ready"), asked: filepath.Join(dir, "asked"), mayEnd: filepath.Join(dir, "may-end")}
	end := "trap \"exit 9\" TERM INT; touch " + c.asked + "; while [ ! -e " + c.mayEnd + " ]; do sleep 0.02; done; exit " + code
	c.script = "trap '" + end + "' TERM INT; touch " + c.ready + "; while :; do sleep 0.05; done"
	return c
}

// until is a command that makes a file and ends with a code when the file is removed.
func until(file, code string) []string {
	return []string{"sh", "-c", "touch " + file + "; while [ -e " + file + " ]; do sleep 0.02; done; exit " + code}
}

func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A Job that is told to stop has not reached its height, whatever seid's exit code says and
// whoever told it (K.13).
func TestRun_AnEndThatSomebodyAskedFor_IsNoSuccessOfAJob(t *testing.T) {
	for code, want := range map[string]int{"130": 130, "0": 143} {
		for _, by := range []string{"kubelet", "sidecar"} {
			g, _ := gateAt(t, opened)
			command := newTrapping(t, code)
			touch(t, command.mayEnd)
			done := make(chan error, 1)
			go func() { done <- g.Run(t.Context(), []string{"sh", "-c", command.script}, 130) }()
			awaitFile(t, command.ready)
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
		seen := observe(&g)
		command := newTrapping(t, "0")
		done := make(chan error, 1)
		go func() { done <- g.Run(t.Context(), []string{"sh", "-c", command.script}) }()
		awaitFile(t, command.ready)
		// The process does not end before the gate has dealt with all of them.
		signals := 0
		for i, by := range order {
			ask(t, g, by)
			switch {
			case i == 0:
				awaitFile(t, command.asked)
			case by == "kubelet":
				signals++
				await(t, "the gate takes the signal", done, func() bool { return seen.said("asked to end already") == signals })
			default:
				seen.awaitLook(t, done)
			}
		}
		touch(t, command.mayEnd)
		if got := codeOf(t, <-done); got != 0 {
			t.Errorf("%v: exit code %d, want 0", order, got)
		}
		if exit := record(t, g).LastExit; exit == nil || exit.Reason != api.ExitStopped {
			t.Errorf("%v: last exit %+v, want the reason %s", order, exit, api.ExitStopped)
		}
	}
}

func TestRun_OrderForAnotherProcess_IsVoid(t *testing.T) {
	g, _ := gateAt(t, opened)
	seen := observe(&g)
	if err := supervision.GiveOrder(g.Home, supervision.Order{Target: "1@1", By: "stop-seid"}); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(t.TempDir(), "ready")
	done := make(chan error, 1)
	go func() { done <- g.Run(t.Context(), until(ready, "0")) }()
	awaitFile(t, ready)
	seen.awaitLook(t, done)
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	if got := codeOf(t, <-done); got != 0 {
		t.Errorf("exit code %d, want 0", got)
	}
}

func TestRun_Output_IsPassedOnUnchanged(t *testing.T) {
	g, _ := gateAt(t, opened)
	var out, errs bytes.Buffer
	g.Stdout, g.Stderr = &out, &errs
	long := strings.Repeat("x", 3*maxLine)
	err := g.Run(t.Context(), []string{"sh", "-c", "printf 'a\\n\\nb'; printf '" + long + "\\nend' >&2"})
	if err != nil || out.String() != "a\n\nb" || errs.String() != long+"\nend" {
		t.Errorf("%v: %q and %d bytes, want %q and %d bytes", err, out.String(), errs.Len(), "a\n\nb", len(long+"\nend"))
	}
}

func TestRun_RecordsTheProcess(t *testing.T) {
	g, _ := gateAt(t, opened)
	g.Rules.ConfigHash = func() (string, error) { return "abc", nil }
	kept := false
	g.Rules.Starting = func() error { kept = true; return nil }
	ready := filepath.Join(t.TempDir(), "ready")
	done := make(chan error, 1)
	go func() { done <- g.Run(t.Context(), until(ready, "3")) }()
	awaitFile(t, ready)
	r := awaitRecord(t, g, func(r supervision.Record) bool { return r.State == api.SeidRunning })
	if r.ConfigHash != "abc" || r.Starts != 1 || r.Process() == nil || r.BootID == "" || !kept || r.LastExit != nil {
		t.Errorf("while it runs: %+v, files kept: %t; want the first start, with configuration abc, kept", r, kept)
	}
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	if got := codeOf(t, <-done); got != 3 {
		t.Errorf("exit code %d, want 3", got)
	}
	r = record(t, g)
	if r.State != api.SeidExited || r.ConfigHash != "" || r.LastExit == nil || r.LastExit.Code != 3 || r.LastExit.Reason != api.ExitCrash {
		t.Errorf("afterwards: %+v, last exit %+v; want %s with code 3, a %s", r, r.LastExit, api.SeidExited, api.ExitCrash)
	}
	if err := g.Run(t.Context(), []string{"true"}); err != nil {
		t.Fatal(err)
	}
	if r = record(t, g); r.Starts != 2 || r.LastExit.Reason != api.ExitStopped {
		t.Errorf("after the second: %+v, last exit %+v; want 2 starts, and %s", r, r.LastExit, api.ExitStopped)
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
		t.Errorf("before the next start: %+v, last exit %+v; want %s, %s", r, r.LastExit, api.SeidExited, api.ExitUnknown)
	}
	g.Rules.Starting = func() error {
		if r := record(t, g); r.Starts != 4 || r.LastExit == nil || !strings.Contains(r.LastExit.Message, "had not when its container was killed") {
			t.Errorf("at the next start: %+v, last exit %+v; want 4 starts, and that it was asked to end", r, r.LastExit)
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
	second, sidecar := gateAt(t, opened)
	second.Home = first.Home
	seen, patient := observe(&second), &counted{Context: t.Context()}
	ready := filepath.Join(t.TempDir(), "ready")
	done := make(chan error, 2)
	go func() { done <- first.Run(t.Context(), until(ready, "0")) }()
	running := awaitRecord(t, first, func(r supervision.Record) bool { return r.State == api.SeidRunning }).PID
	awaitFile(t, ready)
	second.Rules.Starting = func() error {
		if err := syscall.Kill(running, 0); err == nil {
			t.Errorf("the second is started beside process %d of the first, want that one gone", running)
		}
		return nil
	}
	go func() { done <- second.Run(patient, []string{"true"}) }()
	await(t, "the second waits", done, func() bool { return seen.said(supervision.ErrWatched.Error()) > 0 })
	before := patient.waits.Load()
	await(t, "the second has looked three times more", done, func() bool { return patient.waits.Load() >= before+3 })
	if asked := sidecar.questions(); len(asked) > 0 {
		t.Errorf("the second has asked whether it may start %d times, want that after the end of the first", len(asked))
	}
	if err := errors.Join(os.Remove(ready), <-done, <-done); err != nil {
		t.Error(err)
	}
}

// counted counts how often somebody begins to wait for its end, as a gate does after each look.
type counted struct {
	context.Context //nolint:containedctx // it is one
	waits           atomic.Int64
}

// Done implements context.Context.
func (c *counted) Done() <-chan struct{} {
	c.waits.Add(1)
	return c.Context.Done()
}
