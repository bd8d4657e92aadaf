package lifecycle_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/lifecycle"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// K.2: seid drops its handler at the first SIGTERM.
func TestStop_RetriedWhileTheNodeCloses_SendsNoSecondSignal(t *testing.T) {
	for name, behindAGate := range map[string]bool{"gate": true, "older pod": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.tasks.Timing.Stop = time.Millisecond
			var pid int
			var code func() int
			look := func() {} // without a gate nobody does
			if behindAGate {
				p := f.pod("closing")
				pid, look = p.running(1).PID, p.awaitLook
				code = func() int { return <-p.exits }
			} else {
				cmd := f.start("closing")
				pid = cmd.Process.Pid
				code = func() int { _ = cmd.Wait(); return cmd.ProcessState.ExitCode() }
			}
			for range 2 { // a second signal would end it
				_, err := f.Run(t, api.StopSeid, `{}`)
				handlertest.WantError(t, err, api.CodeUnavailable, "still running")
				f.awaitClosing(pid)
				look()
			}
			f.tasks.Timing.Stop = time.Minute
			f.Records.FailPut = func(string) error { return f.letClose() } // the task has found the node, and notes it
			if got := handlertest.Must[wire.Stopped](t, f.Harness, api.StopSeid, `{}`); !got.WasRunning {
				t.Errorf("stop = %+v, want that the node was running", got)
			}
			if got := code(); got != 0 {
				t.Errorf("the node ended with %d, want 0: it was cut off while it closed", got)
			}
		})
	}
}

func TestStop_ThenTheKubelet_AskOnceTogether(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stop = time.Millisecond
	p := f.pod("closing")
	pid := p.running(1).PID
	_, err := f.Run(t, api.StopSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "still running")
	f.awaitClosing(pid)
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	f.await("told that the kubelet asks, too", func() bool { return p.said("asked to end already") || p.record().PID != pid })
	if err := f.letClose(); err != nil {
		t.Fatal(err)
	}
	if code := <-p.exits; code != 0 {
		t.Errorf("the node ended with %d, want 0: it was cut off while it closed", code)
	}
}

// K.1: the retry of a restart has a new id.
func TestRestart_RetriedWhileTheNodeLoads_IsOneRestart(t *testing.T) {
	for name, params := range map[string]string{"with a configuration": `{"configHash":"B"}`, "without": `{}`} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.hash = "A"
			f.serve(true)
			p := f.pod("polite")
			p.running(1)
			f.setHash("B")
			t.Setenv("FAKE_NODE", "loading")
			f.while = func() bool { return p.record().Starts < 2 } // the new one does not answer
			giveUp, end := f.begin(uuid.NewString(), params)
			loading := p.running(2)
			giveUp()
			<-end
			f.Context = nil
			for range 3 {
				_, err := f.Run(t, api.RestartSeid, params)
				handlertest.WantError(t, err, api.CodeUnavailable, "made no progress")
			}
			if now := p.record(); now.Identity() != loading.Identity() || now.TermAt != nil {
				t.Errorf("the node that was loading was ended: %+v, want still %+v", now, loading)
			}
			f.while = nil
			if got := handlertest.Must[wire.Restarted](t, f.Harness, api.RestartSeid, `{"configHash":"B"}`); !got.AlreadyRunning || !got.RPCServing {
				t.Errorf("restart = %+v, want that it was running already and serves", got)
			}
		})
	}
}

// K.1 for the pod of an older operator, whose gate has become seid.
func TestRestart_RetriedInAnOlderPod_IsOneRestart(t *testing.T) {
	f := newFixture(t)
	f.hash = "B"
	f.serve(true)
	first := f.start("polite")
	if _, err := f.Run(t, api.RestartSeid, `{"configHash":"B"}`); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the node ended with %v, want a clean end", err)
	}
	second := f.start("loading")
	f.serve(false)
	for range 2 {
		_, err := f.Run(t, api.RestartSeid, `{"configHash":"B"}`)
		handlertest.WantError(t, err, api.CodeUnavailable, "made no progress")
	}
	if !alive(second) {
		t.Error("the node that was loading was ended")
	}
}

// The gate notes when seid has used its CPU. A node that does is waited for however long it takes,
// and given up when it does nothing more.
func TestRestart_NodeThatUsesItsCPU_IsWaitedFor(t *testing.T) {
	for name, answers := range map[string]bool{"until it answers": true, "until it hangs": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.hash = "B"
				f.tasks.Timing = lifecycle.Timing{Stall: 10 * time.Minute, Poll: 10 * time.Second}
				f.loads("B")
				begin := time.Now()
				_, end := f.begin(uuid.NewString(), `{"configHash":"B"}`)
				for range 6 {
					elapse(9 * time.Minute)
					f.notes()
				}
				select {
				case got := <-end:
					t.Fatalf("gave up on a node that loads: %v after %s, want it to wait", got.err, time.Since(begin))
				default:
				}
				if answers {
					f.serve(true)
					if got := <-end; got.err != nil || string(got.result) != `{"rpcServing":true,"alreadyRunning":true}` {
						t.Errorf("restart = %s, %v; want the node that was loading", got.result, got.err)
					}
					return
				}
				got := <-end
				handlertest.WantError(t, got.err, api.CodeUnavailable, "made no progress for 10m0s")
				if idle := time.Since(begin) - 6*9*time.Minute; idle < 10*time.Minute || idle > 11*time.Minute {
					t.Errorf("it was given up after %s without progress, want 10m to 11m", idle)
				}
			})
		})
	}
}

// loads makes a gate that has started a node which does not answer yet.
func (f *fixture) loads(hash string) {
	f.t.Helper()
	release, err := supervision.Watch(string(f.home))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(release)
	running := supervision.Record{State: api.SeidRunning, PID: 7, StartTicks: "1", Since: time.Now().Add(-time.Minute), Starts: 1, ConfigHash: hash}
	if err := supervision.Write(string(f.home), running); err != nil {
		f.t.Fatal(err)
	}
	f.notes() // the first note is not given its time
	f.notes()
}

// notes makes the gate's note of progress.
func (f *fixture) notes() {
	f.t.Helper()
	if err := supervision.NoteProgress(string(f.home), time.Now()); err != nil {
		f.t.Fatal(err)
	}
}

// K.1: a seed opens no RPC, ever.
func TestRestart_OfANodeWithoutRPC_IsDoneWhenItLives(t *testing.T) {
	f := newFixture(t)
	f.noRPC = true
	f.tasks.Timing.Stall = time.Hour
	p := f.pod("polite")
	first := p.running(1)
	p.await("old enough", func(r supervision.Record) bool { return time.Since(r.Since) > f.tasks.Timing.Alive })
	raw, err := f.Run(t, api.RestartSeid, `{}`)
	if err != nil || string(raw) != `{"rpcServing":false}` {
		t.Errorf("restart = %s, %v, want a node that opens no RPC", raw, err)
	}
	if second := p.record(); second.Starts != 2 || second.Identity() == first.Identity() {
		t.Errorf("after %+v runs %+v, want another process, of the second start", first, second)
	}
}

// A request that had to wait for its turn while the node was started over.
func TestRestart_ProcessYoungerThanTheRequest_IsLeftAlone(t *testing.T) {
	for name, behindAGate := range map[string]bool{"gate": true, "older pod": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			id := uuid.NewString()
			f.Submitted(id, time.Now().Add(-time.Second))
			f.serve(true)
			f.due = []string{"app.toml:x"}
			var still func() bool
			if behindAGate {
				p := f.pod("polite")
				first := p.running(1)
				still = func() bool { return p.record().Identity() == first.Identity() && p.record().TermAt == nil }
			} else {
				cmd := f.start("polite")
				still = func() bool { return alive(cmd) }
			}
			raw, err := f.RunAs(t, id, api.RestartSeid, `{}`)
			if err != nil || string(raw) != `{"rpcServing":true,"alreadyRunning":true}` || !still() {
				t.Errorf("restart = %s, %v, left alone: %t; want that it was running already and was left alone", raw, err, still())
			}
		})
	}
}

func TestRestart_OfALoadingNode_OnlyForAnotherConfiguration(t *testing.T) {
	f := newFixture(t)
	f.hash = "A"
	p := f.pod("loading")
	first := p.running(1)
	_, err := f.Run(t, api.RestartSeid, `{"configHash":"A"}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "made no progress")
	if starts := p.record().Starts; starts != 1 {
		t.Fatalf("%d starts, want one: it was restarted for the configuration it has", starts)
	}
	f.setHash("B")
	f.while = func() bool { return p.record().Starts > 1 }
	f.serve(true)
	f.tasks.Timing.Stall, f.tasks.Timing.Alive = time.Hour, 2*time.Second
	handlertest.Must[wire.Restarted](t, f.Harness, api.RestartSeid, `{"configHash":"B"}`)
	if age := p.record().LastExit.At.Sub(first.Since); age < f.tasks.Timing.Alive {
		t.Errorf("it was ended when it was %s old, want at least %s: it may have made its databases", age, f.tasks.Timing.Alive)
	}
	if code := <-p.exits; code != 143 {
		t.Errorf("ended with %d, want 143", code)
	}
	if now := p.running(2); now.ConfigHash != "B" {
		t.Errorf("runs with configuration %q, want B", now.ConfigHash)
	}
}

func TestRestart_ForAConfigurationThatIsNotOnDisk_IsRefused(t *testing.T) {
	f := newFixture(t)
	f.hash = "A"
	p := f.pod("polite")
	p.running(1)
	_, err := f.Run(t, api.RestartSeid, `{"configHash":"B"}`)
	handlertest.WantError(t, err, api.CodePrecondition, `the configuration on disk is "A", and the restart is for "B"`)
	if r := p.record(); r.TermAt != nil || !api.DetailOf(err).Terminal {
		t.Errorf("asked to end at %v, terminal: %t; want a node that was not asked, and an error that is", r.TermAt, api.DetailOf(err).Terminal)
	}
}

func TestRestart_BehindAClosedGate_SaysSo(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	p := f.pod("polite")
	p.running(1)
	p.closed.Store(true)
	f.while = func() bool { return p.record().State == api.SeidRunning }
	f.tasks.Timing.Stall = time.Hour
	_, err := f.Run(t, api.RestartSeid, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "seid is waiting for the start gate to open: the gate is held")
}

func TestRestart_NodeThatKeepsEnding_SaysHow(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stall, f.tasks.Timing.Closed = time.Hour, time.Hour
	if err := supervision.Write(string(f.home), supervision.Record{State: api.SeidExited, Starts: 5}); err != nil {
		t.Fatal(err)
	}
	p := f.pod("crashing", func(p *podOf) { p.closed.Store(true); p.lives = 3 })
	// The third time that the task asks for the node it has begun to count starts.
	asked := 0
	f.serve(true)
	f.while = func() bool {
		if asked++; asked == 3 {
			p.closed.Store(false)
		}
		return false
	}
	_, err := f.Run(t, api.RestartSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "is crash-looping: 3 starts, last exit code 2 (crash): panic: no such table")
}

func TestAwait_WithAction_AsksThroughTheGate(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	p := f.pod("polite")
	p.running(1)
	if _, err := f.Run(t, api.AwaitCondition, `{"condition":"height","targetHeight":10,"action":"SIGTERM_SEID"}`); err != nil {
		t.Fatal(err)
	}
	exit := p.await("ended", func(r supervision.Record) bool { return r.LastExit != nil }).LastExit
	if exit.Reason != api.ExitStopped || exit.Code != 0 || exit.Signal != "" {
		t.Errorf("exit = %+v, want %s with code 0 and no signal", exit, api.ExitStopped)
	}
}

func TestReset_WhileAWrapperHasNotBecomeSeid_IsRefused(t *testing.T) {
	f := newFixture(t)
	f.binary = filepath.Join(t.TempDir(), "wrapper")
	f.pod("polite").running(1)
	_, err := f.Run(t, api.ResetData, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "node is not held")
}
