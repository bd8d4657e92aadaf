package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// errKilled ends a run the way the end of the sidecar does.
var errKilled = errors.New("killed")

// ended is how a task ended.
type ended struct {
	result json.RawMessage
	err    error
}

// begin runs restart-seid beside the test until it ends or kill is called.
func (f *fixture) begin(id, params string) (kill func(), end <-chan ended) {
	f.t.Helper()
	ctx, cancel := context.WithCancelCause(f.t.Context())
	f.Context = ctx
	f.t.Cleanup(func() { cancel(nil) })
	done := make(chan ended, 1)
	go func() {
		result, err := f.RunAs(f.t, id, api.RestartSeid, params)
		done <- ended{result, err}
	}()
	return func() { cancel(errKilled) }, done
}

// awaitAnswer waits until probes hear why; empty means that all is well.
func (f *fixture) awaitAnswer(why string) {
	f.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for f.answerToProbes() != why {
		select {
		case <-tick.C:
		case <-f.t.Context().Done():
			f.t.Fatalf("probes hear %q, want %q", f.answerToProbes(), why)
		}
	}
}

func (f *fixture) answerToProbes() string {
	if err := f.tasks.InSync(f.t.Context()); err != nil {
		return err.Error()
	}
	return ""
}

func alive(cmd *exec.Cmd) bool { return cmd.Process.Signal(syscall.Signal(0)) == nil }

const leaving = "the node is about to be restarted"

func TestRestart_ThatDrains_SaysSoBeforeTheNodeEnds(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	cmd := f.start("polite")
	f.awaitAnswer("")
	kill, end := f.begin(uuid.NewString(), `{"farewell":"10m"}`)
	f.awaitAnswer(leaving)
	if !alive(cmd) {
		t.Error("the node was ended before it had drained")
	}
	kill()
	if got := <-end; !errors.Is(got.err, errKilled) {
		t.Errorf("restart = %s, %v, want %v", got.result, got.err, errKilled)
	}
	if got := f.answerToProbes(); got != "" || !alive(cmd) {
		t.Errorf("after the task was called off probes hear %q, and the node lives: %t; want nothing, and that it does", got, alive(cmd))
	}
	if f.Progress != 1 {
		t.Errorf("%d reports of progress, want one", f.Progress)
	}
}

func TestRestart_KilledWhileItDrains_EndsThatNodeOnceAndNoOther(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	first := f.start("polite")
	id := uuid.NewString()
	kill, end := f.begin(id, `{"farewell":"10m"}`)
	f.awaitAnswer(leaving)
	kill()
	<-end
	f.Context = nil
	if raw, err := f.RunAs(t, id, api.RestartSeid, `{"farewell":"1ms"}`); err != nil || string(raw) != `{"rpcServing":true}` {
		t.Errorf("restart = %s, %v, want a node that serves", raw, err)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the node ended with %v, want a clean end", err)
	}
	// Killed once more before its result was stored, it leaves the next node alone, and does not drain it.
	second := f.start("polite")
	bound, cancel := context.WithTimeout(t.Context(), time.Minute) // not ten, should it drain
	defer cancel()
	f.Context = bound
	if raw, err := f.RunAs(t, id, api.RestartSeid, `{"farewell":"10m"}`); err != nil || string(raw) != `{"rpcServing":true}` {
		t.Errorf("restart again = %s, %v, want a node that serves", raw, err)
	}
	if got := f.answerToProbes(); got != "" || !alive(second) {
		t.Errorf("probes hear %q, and the new node lives: %t; want nothing, and that it does", got, alive(second))
	}
}

func TestRestart_NodeThatAnswersWhileItEnds_GetsNoClientsBack(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stop = time.Hour
	f.serve(true)
	f.start("stubborn")
	kill, end := f.begin(uuid.NewString(), `{"farewell":"1ms"}`)
	if _, err := io.ReadFull(f.out, make([]byte, len("told\n"))); err != nil {
		t.Fatal(err)
	}
	if got := f.answerToProbes(); got != leaving {
		t.Errorf("while the node ends probes hear %q, want %q", got, leaving)
	}
	kill()
	<-end
	if got := f.answerToProbes(); got != "" {
		t.Errorf("afterwards probes hear %q, want nothing", got)
	}
}

func TestRestart_NodeThatEndsByItselfWhileItDrains_IsNotWaitedFor(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	cmd := f.start("polite")
	_, end := f.begin(uuid.NewString(), `{"farewell":"10m"}`)
	f.awaitAnswer(leaving)
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if got := <-end; got.err != nil {
		t.Errorf("restart = %s, %v, want no error", got.result, got.err)
	}
	f.awaitAnswer("")
}

func TestRestart_WithoutANode_DoesNotDrain(t *testing.T) {
	f := newFixture(t)
	_, err := f.Run(t, api.RestartSeid, `{"farewell":"10m"}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "did not come back")
}

func TestInSync_SaysWhyTheNodeDoesNotKeepUp(t *testing.T) {
	f := newFixture(t)
	if got := f.answerToProbes(); got == "" {
		t.Error("a node that does not answer is in sync")
	}
	f.serve(true)
	f.lag = 400
	if got := f.answerToProbes(); !strings.Contains(got, "height is 10 of 410") {
		t.Errorf("probes hear %q, want the heights", got)
	}
}
