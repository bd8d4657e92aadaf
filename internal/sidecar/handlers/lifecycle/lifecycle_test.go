package lifecycle_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/completion"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/lifecycle"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// fixture is a node whose process and RPC a test turns on and off.
type fixture struct {
	*handlertest.Harness
	t      *testing.T
	home   home.Dir
	tasks  *lifecycle.Tasks
	binary string
	out    io.Reader // of the node that was started last

	mu          sync.Mutex
	serving     bool
	height, lag int64
	noRPC       bool // a seed, or a node that syncs its state
	noLag       bool
	onStatus    func()
	while       func() bool // the RPC serves only while this holds
	hash        string      // of the configuration on disk
	due         []string    // what needs a restart
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, home: home.Dir(t.TempDir()), binary: filepath.Join(t.TempDir(), "seid"), height: 10}
	f.tasks = &lifecycle.Tasks{
		Node: &node.Node{Home: f.home, ChainID: "test-1"}, Processes: process.Table{Home: string(f.home)},
		Timing: lifecycle.Timing{
			Stop: 30 * time.Second, Stall: 300 * time.Millisecond, Closed: 300 * time.Millisecond, Alive: 300 * time.Millisecond, Poll: 5 * time.Millisecond,
		},
		RPC:        func() *rpc.Client { return rpc.New("http://seid", rpc.WithHTTPClient(&http.Client{Transport: f})) },
		OpensRPC:   func() (bool, error) { return !f.noRPC, nil },
		ConfigHash: func() (string, error) { return f.hash, nil },
		RestartDue: func() ([]string, error) { return f.due, nil },
	}
	f.Harness = handlertest.New(f.tasks.Handlers())
	return f
}

// RoundTrip implements http.RoundTripper for the node's RPC. It is no socket, so that tests can run
// in a bubble of synctest.
func (f *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	f.answer(w, r)
	return w.Result(), nil
}

func (f *fixture) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.serving || f.while != nil && !f.while():
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/lag_status" && f.noLag:
		_, _ = io.WriteString(w, `{"code":-32601,"message":"Method not found"}`)
	case r.URL.Path == "/lag_status":
		if f.lag > 300 {
			w.WriteHeader(http.StatusExpectationFailed)
		}
		_, _ = fmt.Fprintf(w, `{"current_height":"%d","max_peer_height":"%d","lag":"%d"}`, f.height, f.height+f.lag, f.lag)
	default:
		_, _ = fmt.Fprintf(w, `{"node_info":{"id":"n","network":"test-1"},"sync_info":{"latest_block_height":"%d","earliest_block_height":"1",
		  "latest_block_time":%q,"max_peer_block_height":"%d","catching_up":false}}`, f.height, time.Now().Format(time.RFC3339Nano), f.height+f.lag)
		if f.onStatus != nil {
			f.onStatus()
		}
	}
}

// start runs a node process.
func (f *fixture) start(behaviour string) *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command(f.copyOfThisTest(), "start", "--home", string(f.home))
	cmd.Env = []string{"FAKE_NODE=" + behaviour, "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	f.out = out
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		f.t.Fatal(err)
	}
	return cmd
}

func (f *fixture) serve(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serving = on
}

func TestStop_EndsTheNodeAndIsContentWithoutOne(t *testing.T) {
	f := newFixture(t)
	cmd := f.start("polite")
	if got := handlertest.Must[wire.Stopped](t, f.Harness, api.StopSeid, `{}`); !got.WasRunning {
		t.Errorf("stop = %+v, want that the node was running", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the node ended with %v, want a clean end", err)
	}
	if got := handlertest.Must[wire.Stopped](t, f.Harness, api.StopSeid, `{}`); got.WasRunning {
		t.Errorf("second stop = %+v, want that nothing was running", got)
	}
}

func TestStop_NeverKillsANodeThatTakesItsTime(t *testing.T) {
	f := newFixture(t)
	f.tasks.Timing.Stop = 200 * time.Millisecond
	cmd := f.start("stubborn")
	_, err := f.Run(t, api.StopSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "still running")
	if !api.DetailOf(err).Retryable || !alive(cmd) {
		t.Errorf("retryable: %t, and the node lives: %t; want both", api.DetailOf(err).Retryable, alive(cmd))
	}
}

func TestStop_RPCWithoutAProcess_IsAnError(t *testing.T) {
	f := newFixture(t)
	f.serve(true)
	_, err := f.Run(t, api.StopSeid, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "seid RPC is serving but its process was not found in /proc")
}

func TestRestart_RunAgainAfterACrash_DoesNotEndTheNewNode(t *testing.T) {
	f := newFixture(t)
	first := f.start("polite")
	f.due = []string{"app.toml:x"}
	id := uuid.NewString()
	// The first run ends the node and then finds nobody who answers.
	_, err := f.RunAs(t, id, api.RestartSeid, `{}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "did not come back")
	_ = first.Wait()
	second := f.start("polite")
	f.serve(true)
	raw, err := f.RunAs(t, id, api.RestartSeid, `{}`)
	if err != nil || string(raw) != `{"rpcServing":true}` {
		t.Errorf("restart = %s, %v, want a node that serves", raw, err)
	}
	if !alive(second) {
		t.Error("the new node was ended, want it left alone")
	}
}

func TestAwait_Height(t *testing.T) {
	f := newFixture(t)
	f.serving = true
	f.onStatus = func() { f.height++ }
	got := handlertest.Must[wire.ConditionMet](t, f.Harness, api.AwaitCondition, `{"condition":"height","targetHeight":15}`)
	if got.Height != 15 || f.Progress == 0 {
		t.Errorf("await = %+v with %d reports of progress, want height 15 with at least one", got, f.Progress)
	}
}

func TestAwait_CaughtUp_BelievesTheLagAndNotTheFlag(t *testing.T) {
	for name, noLag := range map[string]bool{"lag_status": false, "without lag_status": true} {
		f := newFixture(t)
		f.serving, f.lag, f.noLag = true, 400, noLag
		_, err := f.Run(t, api.AwaitCondition, `{"condition":"catchingUp","timeout":"50ms"}`)
		handlertest.WantError(t, err, api.CodeUnavailable, "height is 10 of 410")
		f.lag = 3
		if got := handlertest.Must[wire.ConditionMet](t, f.Harness, api.AwaitCondition, `{"condition":"catchingUp"}`); got.Height != 10 {
			t.Errorf("%s: await = %+v, want height 10", name, got)
		}
	}
}

func TestAwait_WithAction_RunAgainAfterACrash_RemembersThatItWasMet(t *testing.T) {
	f := newFixture(t)
	f.serving = true
	cmd := f.start("polite")
	id := uuid.NewString()
	params := `{"condition":"height","targetHeight":10,"action":"SIGTERM_SEID"}`
	if _, err := f.RunAs(t, id, api.AwaitCondition, params); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the node ended with %v, want a clean end", err)
	}
	// The node is gone and cannot be asked; the next one is not this task's.
	f.serve(false)
	next := f.start("polite")
	raw, err := f.RunAs(t, id, api.AwaitCondition, params)
	if err != nil || string(raw) != `{"height":10}` || !alive(next) {
		t.Errorf("await = %s, %v, and the next node lives: %t; want height 10, and that it does", raw, err, alive(next))
	}
}

func TestAwait_FailedIDWithOtherParameters_IsJudgedByThese(t *testing.T) {
	f := newFixture(t)
	f.serving = true
	id := uuid.NewString()
	if raw, err := f.RunAs(t, id, api.AwaitCondition, `{"condition":"height","targetHeight":5}`); err != nil || string(raw) != `{"height":10}` {
		t.Fatalf("await = %s, %v, want height 10", raw, err)
	}
	_, err := f.RunAs(t, id, api.AwaitCondition, `{"condition":"height","targetHeight":1000,"timeout":"1ms"}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "height is 10")
}

func TestAwait_RefusesWhatItDoesNotKnow(t *testing.T) {
	f := newFixture(t)
	for params, text := range map[string]string{
		`{}`: "condition is required", `{"condition":"x"}`: `unknown condition "x"`, `{"condition":"height"}`: "targetHeight",
		`{"condition":"catchingUp","action":"x"}`: `unknown action "x"`, `{"condition":"catchingUp","timeout":"-1s"}`: "timeout",
	} {
		_, err := f.Run(t, api.AwaitCondition, params)
		handlertest.WantError(t, err, api.CodeInvalidParams, text)
	}
}

func (f *fixture) fill(files map[string]string) {
	f.t.Helper()
	for name, content := range files {
		file := f.home.Path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// files are those of the home, without the record of a reset.
func (f *fixture) files() map[string]string {
	f.t.Helper()
	found := handlertest.Files(f.t, string(f.home))
	delete(found, ".sei-sidecar/reset")
	return found
}

const signed = `{"height":"77","round":0,"step":3}`

func TestReset_EmptiesTheDataAndKeepsWhatWasSigned(t *testing.T) {
	for _, tc := range []struct{ params, state string }{
		{`{}`, signed},
		{`{"resetSigningState":true}`, "{\"height\":\"0\",\"round\":0,\"step\":0}\n"},
	} {
		f := newFixture(t)
		f.fill(map[string]string{
			"data/application.db/1": "12345", "data/priv_validator_state.json": signed, "data/.sei-tmp-snapshot-1/x": "rest",
			"wasm/code": "678", "config/genesis.json": "{}", "config/priv_validator_key.json": "key",
			".sei-sidecar-snapshot-done": "", ".sei-sidecar-statesync-done": "", ".sei-sidecar-snapshot-height": "5", ".sei-sidecar-gentx-done": "",
		})
		for _, task := range []api.TaskType{api.SnapshotRestore, api.ConfigureStateSync, api.GenerateGentx} {
			if err := completion.Save(f.Records, task, 1, 1); err != nil {
				t.Fatal(err)
			}
		}
		got := handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, tc.params)
		if want := int64(5 + 4 + 3 + len(signed)); got.WipedBytes != want {
			t.Errorf("wiped %d bytes, want %d", got.WipedBytes, want)
		}
		want := map[string]string{
			"data/priv_validator_state.json": tc.state, "config/genesis.json": "{}", "config/priv_validator_key.json": "key", ".sei-sidecar-gentx-done": "",
		}
		if diff := cmp.Diff(want, f.files()); diff != "" {
			t.Errorf("home (-want +got):\n%s", diff)
		}
		for task, kept := range map[api.TaskType]bool{api.SnapshotRestore: false, api.ConfigureStateSync: false, api.GenerateGentx: true} {
			if rec, err := completion.Find(f.Records, task); err != nil || (rec != nil) != kept {
				t.Errorf("record of %s: %v, %v; want one: %t", task, rec, err, kept)
			}
		}
	}
}

func TestReset_WithoutSigningState_WritesAnEmptyOne(t *testing.T) {
	f := newFixture(t)
	handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if got := f.files()["data/priv_validator_state.json"]; got != nothingSigned {
		t.Errorf("signing state is %q, want %q", got, nothingSigned)
	}
}

func TestReset_RunAgainAfterACrash_GivesTheSizeOfTheFirstRun(t *testing.T) {
	f := newFixture(t)
	f.fill(map[string]string{"data/application.db/1": "12345"})
	id := uuid.NewString()
	for range 2 {
		raw, err := f.RunAs(t, id, api.ResetData, `{}`)
		if err != nil || string(raw) != `{"wipedBytes":5}` {
			t.Errorf("reset = %s, %v, want 5 bytes", raw, err)
		}
	}
}

func TestReset_WhileTheNodeRuns_TouchesNothing(t *testing.T) {
	f := newFixture(t)
	f.fill(map[string]string{"data/application.db/1": "12345", ".sei-sidecar-snapshot-done": ""})
	before := f.files()
	f.serve(true)
	_, err := f.Run(t, api.ResetData, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "seid RPC is serving; node is not held")
	f.serve(false)
	f.start("polite")
	_, err = f.Run(t, api.ResetData, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "node is not held")
	if diff := cmp.Diff(before, f.files()); diff != "" {
		t.Errorf("home (-before +after):\n%s", diff)
	}
}
