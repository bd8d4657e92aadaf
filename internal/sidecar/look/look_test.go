package look

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// fakeSeid is a seid: its RPC, its process and its home.
type fakeSeid struct {
	t     *testing.T
	home  string
	clock *clocktesting.FakeClock
	url   string
	calls map[string]*atomic.Int64

	mu     sync.Mutex
	state  api.Seid
	height int64
	lag    int64
	peers  int
	block  time.Time
	plan   string // hex
	// threshold is the lag above which the node calls itself behind.
	threshold int64
	open      map[int]bool
	// held keeps answers back until it is closed.
	held chan struct{}
}

const genesis = `{"chain_id":"x"}`

func newSeid(t *testing.T) *fakeSeid {
	t.Helper()
	s := &fakeSeid{
		t: t, home: t.TempDir(), clock: clocktesting.NewFakeClock(now), calls: map[string]*atomic.Int64{},
		state: api.Seid{State: api.SeidRunning, Starts: 1, Since: new(now)}, height: 10, peers: 2, block: now, threshold: 300,
		open: map[int]bool{26656: true, 26657: true},
	}
	mux := http.NewServeMux()
	for path, answer := range map[string]func() string{
		"GET /status": func() string {
			return fmt.Sprintf(`{"node_info":{"id":"aa"},"sync_info":{"latest_block_height":"%d","latest_block_time":%q,"max_peer_block_height":"%d"}}`,
				s.height, s.block.Format(time.RFC3339), s.height+s.lag)
		},
		"GET /lag_status": func() string { return fmt.Sprintf(`{"current_height":"%d","lag":"%d"}`, s.height, s.lag) },
		"GET /net_info": func() string {
			connection := map[string]string{"node_id": "bb", "state": "ready,connected"}
			list := make([]map[string]string, 0, s.peers)
			for range s.peers {
				list = append(list, connection)
			}
			raw, err := json.Marshal(map[string]any{"peer_connections": list})
			if err != nil {
				t.Error(err)
			}
			return string(raw)
		},
		"POST /": func() string {
			raw, err := hex.DecodeString(s.plan)
			if err != nil {
				t.Error(err)
			}
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"response":{"code":0,"height":"1","value":%q}}}`, base64.StdEncoding.EncodeToString(raw))
		},
	} {
		count := &atomic.Int64{}
		s.calls[path] = count
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			count.Add(1)
			s.mu.Lock()
			held := s.held
			s.mu.Unlock()
			if held != nil {
				select {
				case <-held:
				case <-r.Context().Done():
					return
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if path == "GET /lag_status" && s.lag > s.threshold {
				w.WriteHeader(http.StatusExpectationFailed)
			}
			_, _ = w.Write([]byte(answer()))
		})
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	s.write("config/genesis.json", genesis)
	s.write("config/config.toml", "mode = \"full\"\n[rpc]\nladdr = \"tcp://0.0.0.0:26657\"\n[p2p]\nladdr = \"tcp://0.0.0.0:26656\"\n")
	return s
}

func (s *fakeSeid) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fakeSeid) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeSeid) look(change ...func(*Config)) *Look {
	cfg := Config{
		Home: s.home, Clock: s.clock, Log: slog.New(slog.DiscardHandler),
		RPC: func() *rpc.Client { return rpc.New(s.url) },
		Seid: func() api.Seid {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.state
		},
		Gate: func() api.Gate { return api.Gate{State: api.GateOpen} },
		Listeners: func() (map[int]bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.open, nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	l := New(cfg)
	l.bound, l.wait, l.answers.bound, l.plan.bound = time.Hour, time.Hour, time.Hour, time.Hour
	return l
}

// hasty looks with the bounds of the product.
func (s *fakeSeid) hasty() *Look {
	l := s.look()
	l.bound, l.wait, l.answers.bound, l.plan.bound = Bound, askWait, askBound, askBound
	return l
}

func TestNode_PutsTheDocumentTogether(t *testing.T) {
	s := newSeid(t)
	s.plan = "0a070a02763718e807"
	verdict := &api.Validation{Valid: true, SeidVersion: "v6"}
	refusal := &api.Refusal{Error: "no"}
	l := s.look(func(c *Config) {
		c.Configuration = func() Configuration {
			return Configuration{ConfigHash: "cafe", Validation: verdict, Refused: refusal}
		}
		c.RestartDue = func(inSync bool) []string { return []string{fmt.Sprint("config.toml:x ", inSync)} }
		c.ConsensusAddress = func() (string, bool) { return "AB", true }
		c.Version = func(context.Context) (string, error) { return "v6.4", nil }
	})
	l.Node(t.Context()) // the version comes in the background
	awaitValue(t, func() bool { return l.Node(t.Context()).Seid.Version == "v6.4" && l.disk().Used > 0 })
	got := l.Node(t.Context())
	if got.Disk == nil || got.Disk.Size < got.Disk.Free || got.Disk.Free < 1 {
		t.Errorf("disk %+v", got.Disk)
	}
	got.Disk = nil
	want := api.Node{
		APILevel: api.Level, Gate: api.Gate{State: api.GateOpen},
		Home: api.Home{
			Stage: api.HomeSynced, GenesisHash: fmt.Sprintf("%x", sha256.Sum256([]byte(genesis))),
			ConfigHash: "cafe", Validation: verdict, Refused: refusal, ConsensusAddress: "AB",
		},
		Seid:      api.Seid{State: api.SeidRunning, Starts: 1, Since: new(now), Version: "v6.4", RestartDue: []string{"config.toml:x true"}},
		Sync:      api.Sync{State: api.SyncInSync, Message: sayInSync, Height: 10, Peers: 2, BlockTime: new(now)},
		Upgrade:   &api.Upgrade{Name: "v7", Height: 1000},
		Snapshots: []api.Snapshot{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// awaitValue waits for what is found in the background.
func awaitValue(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it did not come")
		}
	}
}

func TestNode_ManyAtOnce_AskTheNodeOnce(t *testing.T) {
	s := newSeid(t)
	s.held = make(chan struct{})
	l := s.look()
	var all sync.WaitGroup
	states := make([]api.SyncState, 50)
	for i := range states {
		all.Go(func() { states[i] = l.Node(t.Context()).Sync.State })
	}
	awaitValue(t, func() bool { return s.calls["GET /status"].Load() > 0 })
	close(s.held)
	all.Wait()
	for _, state := range states {
		if state != api.SyncInSync {
			t.Errorf("one look saw %s", state)
		}
	}
	for path, count := range s.calls {
		if n := count.Load(); n != 1 {
			t.Errorf("%s was called %d times", path, n)
		}
	}
}

func TestNode_AsksAgainAfterASecondAndForThePlanAfterHalfAMinute(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	for _, tc := range []struct {
		step         time.Duration
		status, plan int64
	}{
		{0, 1, 1}, {900 * time.Millisecond, 1, 1}, {200 * time.Millisecond, 2, 1}, {time.Second, 3, 1}, {29 * time.Second, 4, 2},
	} {
		s.clock.Step(tc.step)
		l.Node(t.Context())
		if status, plan := s.calls["GET /status"].Load(), s.calls["POST /"].Load(); status != tc.status || plan != tc.plan {
			t.Errorf("after %s more: %d and %d calls, want %d and %d", tc.step, status, plan, tc.status, tc.plan)
		}
	}
}

func TestNode_AnEndedProcess_IsNotJudgedByWhatItSaid(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	if got := l.Node(t.Context()).Sync.State; got != api.SyncInSync {
		t.Fatal(got)
	}
	s.set(func() { s.state.State = api.SeidExited })
	s.clock.Step(2 * time.Second)
	if got := l.Node(t.Context()).Sync; got.State != api.SyncNotRunning || got.Height != 0 || s.calls["GET /status"].Load() != 1 {
		t.Errorf("%+v after %d calls", got, s.calls["GET /status"].Load())
	}
	s.set(func() {
		s.state = api.Seid{State: api.SeidRunning, Starts: 2, Since: new(now.Add(time.Second))}
		s.height = 11
	})
	if got := l.Node(t.Context()).Sync; got.Height != 11 {
		t.Errorf("the next process: %+v", got)
	}
}

// blackHole takes connections and never answers.
func blackHole(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

func TestNode_ABlackHoleAsRPC_AnswersWithinTheBound(t *testing.T) {
	for name, tc := range map[string]struct {
		open     map[int]bool
		answered bool
		want     api.SyncState
	}{
		"starting":            {map[int]bool{}, false, api.SyncStarting},
		"the port is open":    {map[int]bool{26656: true, 26657: true}, false, api.SyncNotAnswering},
		"it answered before":  {map[int]bool{}, true, api.SyncNotAnswering},
		"the ports are a lie": {nil, false, api.SyncStarting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeid(t)
			l := s.hasty()
			if tc.answered {
				l.Node(t.Context())
				awaitValue(t, l.answers.idle)
				s.clock.Step(2 * time.Second)
			}
			s.set(func() { s.url, s.open = blackHole(t), tc.open })
			// The caller's patience is the operator's, which is more than the bound.
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			start := time.Now()
			got := l.Node(ctx)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if tc.answered && got.Sync.State != api.SyncInSync {
				t.Errorf("a slow node is judged by what it said before, not %s", got.Sync.State)
			}
			// The second look comes when asking has been given up.
			awaitValue(t, l.answers.idle)
			got = l.Node(ctx)
			if got.Sync.State != tc.want || got.Home.Stage == "" || got.Disk == nil || ctx.Err() != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// idle reports whether no answer is on its way.
func (s *shared[T]) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flight == nil
}

func TestNode_ASlowNode_IsJudgedByItsLastAnswerForAWhile(t *testing.T) {
	for name, tc := range map[string]struct {
		age  time.Duration
		want api.SyncState
	}{
		"recent": {Every, api.SyncInSync},
		"old":    {time.Minute, api.SyncNotAnswering},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeid(t)
			l := s.hasty()
			l.Node(t.Context())
			awaitValue(t, l.answers.idle)
			s.clock.Step(tc.age)
			held := make(chan struct{})
			s.set(func() { s.held, s.block, s.height = held, s.clock.Now(), 99 })
			if got := l.Node(t.Context()).Sync; got.State != tc.want {
				t.Errorf("while it is slow: %+v", got)
			}
			close(held)
			awaitValue(t, l.answers.idle)
			if got := l.Node(t.Context()).Sync; got.State != api.SyncInSync || got.Height != 99 {
				t.Errorf("when it has answered: %+v", got)
			}
		})
	}
}

func TestNode_ACallerThatLeaves_DoesNotSpoilTheAnswerOfOthers(t *testing.T) {
	s := newSeid(t)
	s.held = make(chan struct{})
	l := s.look()
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan api.Node, 1)
	go func() { first <- l.Node(ctx) }()
	awaitValue(t, func() bool { return s.calls["GET /status"].Load() > 0 })
	leave()
	if got := <-first; got.Sync.State == api.SyncInSync {
		t.Errorf("whoever left saw %s", got.Sync.State)
	}
	close(s.held)
	if got := l.Node(t.Context()); got.Sync.State != api.SyncInSync || s.calls["GET /status"].Load() != 1 {
		t.Errorf("the next saw %s after %d calls", got.Sync.State, s.calls["GET /status"].Load())
	}
}

func TestNode_TheFirstTimeInSync_LeavesAMark(t *testing.T) {
	s := newSeid(t)
	s.lag = 5000
	l := s.look()
	if got := l.Node(t.Context()).Home.Stage; got != api.HomeFirstSync {
		t.Errorf("while it catches up: %s", got)
	}
	s.clock.Step(2 * time.Second)
	s.set(func() { s.lag = 0 })
	if got := l.Node(t.Context()).Home.Stage; got != api.HomeSynced {
		t.Errorf("in sync: %s", got)
	}
	mark, err := stage.Read(s.home)
	if want := (&stage.Mark{Time: now.Add(2 * time.Second), Height: 10}); err != nil || !cmp.Equal(want, mark) {
		t.Errorf("mark %+v, %v", mark, err)
	}
	s.clock.Step(2 * time.Second)
	s.set(func() { s.lag = 5000 })
	if got := s.look().Node(t.Context()).Home.Stage; got != api.HomeSynced {
		t.Errorf("behind again, with a new sidecar: %s", got)
	}
}

func TestNode_AProcessThatEndsDuringTheLook_LeavesNoMark(t *testing.T) {
	s := newSeid(t)
	looks := 0
	l := s.look(func(c *Config) {
		c.Seid = func() api.Seid {
			if looks++; looks > 1 {
				return api.Seid{State: api.SeidExited}
			}
			return s.state
		}
	})
	if got := l.Node(t.Context()); got.Sync.State != api.SyncInSync || got.Home.Stage != api.HomeFirstSync {
		t.Errorf("%+v", got)
	}
	if synced, err := stage.Synced(s.home); synced || err != nil {
		t.Errorf("mark %v, %v", synced, err)
	}
}

func TestInSync_GivesTheSentenceOfTheLook(t *testing.T) {
	s := newSeid(t)
	draining := false
	l := s.look(func(c *Config) { c.Draining = func() bool { return draining } })
	for _, tc := range []struct {
		name   string
		change func()
		want   string
	}{
		{"keeps up", func() {}, ""},
		{"far behind", func() { s.lag = 5000 }, sayCatchingUp},
		{"behind by its own measure", func() { s.lag, s.threshold = 50, 20 }, sayCatchingUp},
		{"not behind by its own measure", func() { s.lag, s.threshold = 5000, 9000 }, ""},
		{"alone with an old block", func() { s.lag, s.peers, s.block = 0, 0, now.Add(-time.Hour) }, sayNoPeers},
		{"a chain that stands still", func() { s.peers = 2 }, ""},
		{"about to restart", func() { draining = true }, sayDraining},
		{"ended", func() { draining, s.state.State = false, api.SeidExited }, sayEnded},
	} {
		s.clock.Step(2 * time.Second)
		s.set(tc.change)
		var got string
		if err := l.InSync(t.Context()); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNode_ThePlanOutlivesAnAnswer_AndTheStopNoteComesFirst(t *testing.T) {
	s := newSeid(t)
	s.plan = "0a070a02763718e807"
	l := s.look()
	l.Node(t.Context())
	s.set(func() { s.state.State = api.SeidExited })
	if got := l.Node(t.Context()).Upgrade; got == nil || got.Name != "v7" {
		t.Errorf("after the end: %+v", got)
	}
	s.write("data/upgrade-info.json", `{"name":"v8","height":2000}`)
	s.set(func() { s.state.LastExit = &api.Exit{Reason: api.ExitUpgradeNeeded, At: now} })
	got := l.Node(t.Context())
	if got.Sync.State != api.SyncUpgradeNeeded || got.Upgrade == nil || got.Upgrade.Name != "v8" {
		t.Errorf("stopped for an upgrade: %+v, %+v", got.Sync, got.Upgrade)
	}
}

func TestRun_LooksEvenIfNobodyAsks(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.Run(ctx)
	}()
	awaitValue(t, func() bool { // the first look is over when it has left its mark
		synced, err := stage.Synced(s.home)
		return synced && err == nil && s.clock.HasWaiters()
	})
	s.clock.Step(Every)
	awaitValue(t, func() bool { return s.calls["GET /status"].Load() == 2 })
	stop()
	<-ended
}
