package lifecycle_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// K.2: seid drops its handler at the first SIGTERM.
func TestStop_RetriedWhileTheNodeCloses_SendsNoSecondSignal(t *testing.T) {
	for name, behindAGate := range map[string]bool{"gate": true, "older pod": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.tasks.Timing.Stop = closing / 4
			var code func() int
			if behindAGate {
				p := f.pod("closing")
				p.running(1)
				code = func() int { return <-p.exits }
			} else {
				cmd := f.start("closing")
				code = func() int { _ = cmd.Wait(); return cmd.ProcessState.ExitCode() }
			}
			_, err := f.Run(t, api.StopSeid, `{}`)
			handlertest.WantError(t, err, api.CodeUnavailable, "still running")
			f.tasks.Timing.Stop = 30 * time.Second
			if got := handlertest.Must[wire.Stopped](t, f.Harness, api.StopSeid, `{}`); !got.WasRunning {
				t.Errorf("stop = %+v", got)
			}
			if got := code(); got != 0 {
				t.Errorf("the node ended with %d: it was cut off while it closed", got)
			}
		})
	}
}

func TestStop_ThenTheKubelet_AskOnceTogether(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stop = closing / 4
	p := f.pod("closing")
	p.running(1)
	_, err := f.Run(t, api.StopSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "still running")
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := <-p.exits; code != 0 {
		t.Errorf("the node ended with %d: it was cut off while it closed", code)
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
				t.Errorf("the node that was loading was ended: %+v, then %+v", loading, now)
			}
			f.while = nil
			if got := handlertest.Must[wire.Restarted](t, f.Harness, api.RestartSeid, `{"configHash":"B"}`); !got.AlreadyRunning || !got.RPCServing {
				t.Errorf("restart = %+v", got)
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
		t.Errorf("the node ended with %v", err)
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

func TestRestart_NodeThatUsesItsCPU_IsWaitedFor(t *testing.T) {
	f := newFixture(t)
	f.hash = "B"
	p := f.pod("busy")
	p.running(1)
	f.tasks.Timing.Stall = 2 * time.Second
	_, end := f.begin(uuid.NewString(), `{"configHash":"B"}`)
	select {
	case got := <-end:
		t.Fatalf("gave up on a node that loads: %v", got.err)
	case <-time.After(5 * time.Second):
	}
	f.serve(true)
	if got := <-end; got.err != nil {
		t.Error(got.err)
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
		t.Errorf("restart = %s, %v", raw, err)
	}
	if second := p.record(); second.Starts != 2 || second.Identity() == first.Identity() {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// A request that had to wait for its turn while the node was started anew.
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
				t.Errorf("restart = %s, %v; left alone: %t", raw, err, still())
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
	if p.record().Starts != 1 {
		t.Fatal("it was restarted for the configuration it has")
	}
	f.setHash("B")
	f.while = func() bool { return p.record().Starts > 1 }
	f.serve(true)
	f.tasks.Timing.Stall, f.tasks.Timing.Alive = time.Hour, 2*time.Second
	handlertest.Must[wire.Restarted](t, f.Harness, api.RestartSeid, `{"configHash":"B"}`)
	if age := p.record().LastExit.At.Sub(first.Since); age < f.tasks.Timing.Alive {
		t.Errorf("it was ended when it was %s old, while it may have made its databases", age)
	}
	if code := <-p.exits; code != 143 {
		t.Errorf("ended with %d", code)
	}
	if now := p.running(2); now.ConfigHash != "B" {
		t.Errorf("runs with %q", now.ConfigHash)
	}
}

func TestRestart_ForAConfigurationThatIsNotOnDisk_IsRefused(t *testing.T) {
	f := newFixture(t)
	f.hash = "A"
	p := f.pod("polite")
	p.running(1)
	_, err := f.Run(t, api.RestartSeid, `{"configHash":"B"}`)
	handlertest.WantError(t, err, api.CodePrecondition, `the configuration on disk is "A", and the restart is for "B"`)
	if p.record().TermAt != nil || !api.DetailOf(err).Terminal {
		t.Errorf("%+v", p.record())
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
	handlertest.WantError(t, err, api.CodePrecondition, "seid waits behind the gate: the gate is held")
}

func TestRestart_NodeThatKeepsEnding_SaysHow(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stall = time.Hour
	f.pod("crashing")
	_, err := f.Run(t, api.RestartSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "ended each time, last with code 2 (crash): panic: no such table")
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
		t.Errorf("%+v", exit)
	}
}

func TestReset_WhileAWrapperHasNotBecomeSeid_IsRefused(t *testing.T) {
	f := newFixture(t)
	f.binary = filepath.Join(t.TempDir(), "wrapper")
	f.pod("polite").running(1)
	_, err := f.Run(t, api.ResetData, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "node is not held")
}
