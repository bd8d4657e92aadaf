package sidecar_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
	"github.com/sei-operator/sei-operator/test/elapse"
)

// delayEnv is how long the slow node of these tests takes to start.
const delayEnv = "SEI_TEST_START_DELAY"

// slowSeid is a wrapper that takes its time before it becomes seid.
func slowSeid(t *testing.T) string {
	t.Helper()
	delay, err := time.ParseDuration(cmp.Or(os.Getenv(delayEnv), "10s"))
	if err != nil {
		t.Fatalf("%s: %v", delayEnv, err)
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = start ] && sleep %.3f\nexec %s \"$@\"\n", delay.Seconds(), handlertest.SeidPath(t))
	path := filepath.Join(t.TempDir(), "slow-seid")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func (n *node) named(hash, mode string, overrides map[string]string) {
	n.t.Helper()
	n.configureAs(hash, mode, overrides)
}

func (n *node) record() supervision.Record {
	n.t.Helper()
	r, err := supervision.Read(n.home)
	if err != nil {
		n.t.Fatal(err)
	}
	return r
}

func (n *node) awaitRecord(what string, is func(supervision.Record) bool) supervision.Record {
	n.t.Helper()
	deadline := time.After(3 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if r := n.record(); is(r) {
			return r
		}
		select {
		case <-tick.C:
		case <-deadline:
			n.t.Fatalf("%s: not %s: %+v", n.name, what, n.record())
		}
	}
}

func (n *node) log() string {
	n.t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(n.home), n.name+".log"))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(data)
}

// address is that of the node's consensus key.
func (n *node) address() string {
	n.t.Helper()
	key := supervision.ReadKey(home.Dir(n.home).ConsensusKey())
	if key.Address == "" {
		n.t.Fatal(key.Error)
	}
	return key.Address
}

// One validator serves all tests, each of which leaves it running.
func TestSupervision(t *testing.T) {
	t.Parallel()
	v := newNode(t, "watch-1", "v0", "")
	genesis := ceremony([]*node{v}, nil)
	v.named("A", "validator", nil)
	v.run(podSpec{restart: true, seid: slowSeid(t)})
	do[any](v, api.MarkReady, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "A", ConsensusAddress: v.address()}})
	seed := startSeed(t, v, genesis)
	v.awaitHeight(2)

	t.Run("a slow node is restarted once per configuration", func(t *testing.T) { restartsOnce(t, v) })
	v.pod.kill()
	v.run(podSpec{restart: true})
	v.heightSoon() // no further block: a lone validator may be killed between its vote and the block, which is then its last
	t.Run("a seed is restarted", func(t *testing.T) { restartsSeed(t, v, seed) })
	gate := latest(v.pod.starts)
	t.Logf("resident: gate %s, sidecar %s", resident(t, gate), resident(t, v.Pid()))
	t.Run("a node that is stopped by all closes cleanly", func(t *testing.T) { closesCleanly(t, v, gate) })
	t.Run("another key is not started", func(t *testing.T) { refusesKey(t, v) })
	t.Run("a panic is recorded", func(t *testing.T) { recordsPanic(t, v) })
	t.Run("a damaged peer store is moved aside", func(t *testing.T) { movesPeerStore(t, v) })
}

// heightSoon waits until the node answers.
func (n *node) heightSoon() int64 {
	n.t.Helper()
	n.awaitHeight(1)
	return n.height()
}

// An operator that gives up on a task and tries again, with an id of its own each time.
func restartsOnce(t *testing.T, v *node) {
	t.Helper()
	before := v.record()
	v.named("B", "validator", map[string]string{"mempool.cache_size": "9000"})
	begin := time.Now()
	for range 3 {
		id := v.Submit(api.RestartSeid, uuid.NewString(), wire.RestartSeid{ConfigHash: "B"})
		v.awaitRecord("restarted", func(r supervision.Record) bool { return r.State == api.SeidRunning && r.Starts == before.Starts+1 })
		if err := v.Client().Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	restarted := do[wire.Restarted](v, api.RestartSeid, wire.RestartSeid{ConfigHash: "B"})
	after := v.record()
	t.Logf("4 requests, %d restart, answers after %s: %+v", after.Starts-before.Starts, time.Since(begin).Round(time.Second), restarted)
	if after.Starts != before.Starts+1 || after.ConfigHash != "B" || !restarted.RPCServing || !restarted.AlreadyRunning {
		t.Errorf("%+v; record %+v, then %+v", restarted, before, after)
	}
	if exit := after.LastExit; exit == nil || exit.Reason != api.ExitStopped || exit.Code != 0 {
		t.Errorf("the first process ended with %+v", exit)
	}
}

// startSeed starts one early: until it is half a minute old a restart lets it settle.
func startSeed(t *testing.T, v *node, genesis wire.AssembledGenesis) *node {
	t.Helper()
	s := newNode(t, v.chainID, "seed", "")
	s.identity()
	s.join(genesis)
	s.named("A", "seed", map[string]string{"network.p2p.persistent_peers": v.peer()})
	s.start()
	return s
}

func restartsSeed(t *testing.T, v, s *node) {
	t.Helper()
	s.awaitRecord("running", func(r supervision.Record) bool { return r.State == api.SeidRunning })
	s.named("B", "seed", map[string]string{"network.p2p.persistent_peers": v.peer(), "network.p2p.max_connections": "77"})
	begin := time.Now()
	restarted := do[wire.Restarted](s, api.RestartSeid, wire.RestartSeid{ConfigHash: "B"})
	r := s.record()
	t.Logf("after %s: %+v, %d starts", time.Since(begin).Round(time.Second), restarted, r.Starts)
	if restarted.RPCServing || r.Starts != 2 || r.ConfigHash != "B" || r.State != api.SeidRunning {
		t.Errorf("%+v; record %+v", restarted, r)
	}
	s.pod.kill()
}

// K.2: a second SIGTERM would kill seid while it closes its databases.
func closesCleanly(t *testing.T, v *node, gate int) {
	t.Helper()
	// Behind a closed gate the container starts no other seid, which the last request would end.
	do[any](v, api.MarkNotReady, nil)
	before, closed := v.record(), strings.Count(v.log(), "Closed memiavl db")
	first := v.Submit(api.StopSeid, uuid.NewString(), nil)
	// A small node may close within milliseconds, so that the record is read without a pause.
	for r := v.record(); r.TermAt == nil && r.Starts == before.Starts && r.State == api.SeidRunning; r = v.record() {
		runtime.Gosched()
	}
	signals := 0
	for v.record().State == api.SeidRunning && signals < 50 {
		if syscall.Kill(gate, syscall.SIGTERM) != nil {
			break
		}
		signals++
		elapse.For(v.t.Context(), 5*time.Millisecond)
	}
	do[any](v, api.StopSeid, nil)
	decode[wire.Stopped](v, v.Await(first))
	r := v.awaitRecord("ended", func(r supervision.Record) bool { return r.LastExit != nil && r.LastExit.At.After(before.Since) })
	t.Logf("asked once by stop-seid and %d times by the kubelet: %+v", signals, *r.LastExit)
	if exit := r.LastExit; exit.Reason != api.ExitStopped || exit.Code != 0 || exit.Signal != "" {
		t.Errorf("ended with %+v after %d signals", exit, signals)
	}
	if got := strings.Count(v.log(), "Closed memiavl db"); got != closed+1 {
		t.Errorf("the log says %d times that the database was closed, want %d", got, closed+1)
	}
}

// resident is the memory of a process as the kernel counts it.
func resident(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "RssAnon:") {
			sizes = append(sizes, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(sizes, ", ")
}

func latest(starts <-chan int) int {
	pid := <-starts
	for {
		select {
		case pid = <-starts:
		default:
			return pid
		}
	}
}

// The key is exchanged under a node whose gate is open, and its container starts again.
func refusesKey(t *testing.T, v *node) {
	t.Helper()
	own := v.address()
	do[any](v, api.MarkReady, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "B", ConsensusAddress: own}})
	v.awaitRecord("running", func(r supervision.Record) bool { return r.State == api.SeidRunning })
	path := home.Dir(v.home).ConsensusKey()
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(foreignKey), 0o600); err != nil {
		t.Fatal(err)
	}
	starts := v.record().Starts
	do[any](v, api.StopSeid, nil)
	r := v.awaitRecord("refused", func(r supervision.Record) bool { return r.Refusal != "" })
	want := "the key is for address " + foreignAddress + "; the gate was opened for " + own
	if r.Refusal != want || r.State != api.SeidWaiting || r.Starts != starts {
		t.Errorf("record %+v, want refusal %q", r, want)
	}
	got := v.Run(api.MarkReady, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: "B", ConsensusAddress: own}})
	if got.Status != api.TaskFailed || got.ErrorDetail.Code != api.CodePrecondition || !strings.Contains(got.Error, "the key on the node signs as "+foreignAddress) {
		t.Errorf("mark-ready for the old key: %s %s", got.Status, got.Error)
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	v.awaitRecord("running again", func(r supervision.Record) bool { return r.State == api.SeidRunning && r.ConsensusAddress == own })
	v.heightSoon()
}

// The configuration is fine and passes its trial; what is on the volume is not.
func recordsPanic(t *testing.T, v *node) {
	t.Helper()
	do[any](v, api.MarkNotReady, nil)
	do[any](v, api.StopSeid, nil)
	store := home.Dir(v.home).Path("data", "receipt.db")
	if err := errors.Join(os.Rename(store, store+".kept"), os.WriteFile(store, []byte("no directory"), 0o600)); err != nil {
		t.Fatal(err)
	}
	do[any](v, api.MarkReady, nil)
	exit := v.awaitRecord("crashed", func(r supervision.Record) bool { return r.LastExit != nil && r.LastExit.Reason == api.ExitCrash }).LastExit
	t.Logf("%+v", *exit)
	if exit.Code != 2 || !strings.HasPrefix(exit.Message, "panic: ") {
		t.Errorf("%+v, want code 2 and the panic", exit)
	}
	if err := errors.Join(os.Remove(store), os.Rename(store+".kept", store)); err != nil {
		t.Fatal(err)
	}
	v.heightSoon()
}

// A seid that is killed while it makes its peer store leaves it without an entry point.
func movesPeerStore(t *testing.T, v *node) {
	t.Helper()
	before := v.record()
	do[any](v, api.MarkNotReady, nil)
	do[any](v, api.StopSeid, nil)
	store := home.Dir(v.home).Path("data", "peerstore.db")
	for _, name := range []string{"CURRENT", "CURRENT.bak"} {
		if err := os.RemoveAll(filepath.Join(store, name)); err != nil {
			t.Fatal(err)
		}
	}
	do[any](v, api.MarkReady, nil)
	r := v.awaitRecord("running on a new store", func(r supervision.Record) bool { return r.State == api.SeidRunning && r.Starts == before.Starts+2 })
	if exit := r.LastExit; exit == nil || !strings.Contains(exit.Message, "unable to initialize peer store") {
		t.Errorf("the start between ended with %+v", exit)
	}
	v.heightSoon()
	if _, err := os.Stat(store + ".damaged"); err != nil {
		t.Error(err)
	}
}

// A key that no node has.
const (
	foreignAddress = "220642DF18497C96D079B701C72C1DBF802E3A9B"
	foreignKey     = `{
  "address": "220642DF18497C96D079B701C72C1DBF802E3A9B",
  "pub_key": {"type": "tendermint/PubKeyEd25519", "value": "vdFS80rF/2hD/PZCXEDcDHnfDo8f5zN3A0XumT3i8jU="},
  "priv_key": {"type": "tendermint/PrivKeyEd25519",
    "value": "qEQ4U9VQMt1H07vsmxks16cjxXm0bHL75GMpGRTkxdS90VLzSsX/aEP89kJcQNwMed8Ojx/nM3cDRe6ZPeLyNQ=="}
}`
)
