package look

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

func TestNode_PutsTheDocumentTogether(t *testing.T) {
	s := newSeid(t)
	s.plan, s.applied = "0a070a02763718e807", []upgrade.Applied{{Name: "v6", Height: 5}}
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
		Upgrades:  &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{{Name: "v6", Height: 5}}},
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
		if n := count.Load(); n != 1 && path != "POST /" {
			t.Errorf("%s was called %d times", path, n)
		}
	}
	for path, n := range s.queries {
		if n != 1 {
			t.Errorf("%s was asked %d times", path, n)
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
		if status, plan := s.calls["GET /status"].Load(), int64(s.queries[upgrade.CurrentPlanPath]); status != tc.status || plan != tc.plan {
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
		t.Errorf("%+v, want State %v and Stage %v", got, api.SyncInSync, api.HomeFirstSync)
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
