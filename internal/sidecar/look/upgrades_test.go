package look

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/upgrades"
)

// exited is a seid that has ended.
func (s *fakeSeid) exited(exit *api.Exit) {
	s.set(func() { s.state = api.Seid{State: api.SeidExited, Starts: 1, Since: &exit.At, LastExit: exit} })
}

// restarted is a new process of the same pod that does not answer yet.
func (s *fakeSeid) restarted() {
	s.set(func() {
		s.state.State, s.state.Starts, s.state.Since = api.SeidRunning, s.state.Starts+1, new(s.clock.Now())
	})
}

func (s *fakeSeid) record() *upgrades.Record {
	s.t.Helper()
	r, err := upgrades.Read(s.home)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func require(t *testing.T, what string, got, want *api.Upgrades) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// v7at is the exit of a seid that has stopped for v7.
func v7at(at time.Time) *api.Exit {
	return &api.Exit{At: at, Reason: api.ExitUpgradeNeeded, Code: 2, Message: "panic", Upgrade: &api.Upgrade{Name: "v7", Height: 1000}}
}

// What is known of upgrades outlives the process, the sidecar and the pod, and follows the chain
// through a halt.
func TestUpgrades_ThroughAHalt(t *testing.T) {
	s := newSeid(t)
	v6, v7 := api.AppliedUpgrade{Name: "v6", Height: 5}, api.AppliedUpgrade{Name: "v7", Height: 1000}
	s.plan, s.applied = "0a070a02763718e807", []upgrade.Applied{{Name: "v6", Height: 5}}
	l := s.look()
	require(t, "scheduled", l.Node(t.Context()).Upgrades, &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{v6}})

	s.write("data/upgrade-info.json", `{"name":"v7","height":1000}`)
	s.exited(v7at(s.clock.Now()))
	needed := &api.Upgrade{Name: "v7", Height: 1000}
	require(t, "halted", l.Node(t.Context()).Upgrades, &api.Upgrades{
		Known: true, Applied: []api.AppliedUpgrade{v6}, Needed: needed,
		Refusal: &api.UpgradeRefusal{Kind: api.RefusedNeeded, Name: "v7", Message: "panic"},
	})

	s.clock.Step(time.Minute)
	l = s.look() // another pod: what ended before is not its binary
	require(t, "in the next pod", l.Node(t.Context()).Upgrades, &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{v6}, Needed: needed})
	s.exited(&api.Exit{At: s.clock.Now(), Reason: api.ExitCrash})
	require(t, "after another crash", l.Node(t.Context()).Upgrades, &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{v6}, Needed: needed})

	s.restarted()
	s.set(func() {
		s.height, s.block, s.plan, s.applied = 1000, s.clock.Now(), "", append(s.applied, upgrade.Applied{Name: "v7", Height: 1000})
	})
	done := &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{v7, v6}}
	doc := l.Node(t.Context())
	require(t, "applied", doc.Upgrades, done)
	if doc.Upgrade != nil {
		t.Errorf("still planned: %+v", doc.Upgrade)
	}
	s.exited(&api.Exit{At: s.clock.Now(), Reason: api.ExitStopped})
	require(t, "stopped later", s.look().Node(t.Context()).Upgrades, done)
}

func TestUpgrades_SkippedUpgrade_IsNotNeededAnyMore(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	l.Node(t.Context())
	s.write("data/upgrade-info.json", `{"name":"v7","height":1000}`)
	s.exited(v7at(s.clock.Now()))
	if got := l.Node(t.Context()).Upgrades.Needed; got == nil {
		t.Fatal("not needed")
	}
	s.clock.Step(time.Second)
	s.restarted()
	s.set(func() { s.height, s.block = 1001, s.clock.Now() })
	l.Node(t.Context())
	s.exited(&api.Exit{At: s.clock.Now(), Reason: api.ExitStopped})
	if got := s.look().Node(t.Context()).Upgrades.Needed; got != nil || s.record().Passed != 1000 {
		t.Errorf("needed %+v, record %+v", got, s.record())
	}
}

// A note of long ago on a volume whose state nobody has asked says nothing.
func TestUpgrades_OldNoteOnAnUnknownVolume_IsNotNeeded(t *testing.T) {
	s := newSeid(t)
	s.write("data/upgrade-info.json", `{"name":"v7","height":1000}`)
	s.exited(&api.Exit{At: s.clock.Now().Add(-time.Hour), Reason: api.ExitStopped})
	require(t, "unknown", s.look().Node(t.Context()).Upgrades, &api.Upgrades{})
	s.exited(v7at(s.clock.Now().Add(-time.Hour)))
	require(t, "its last process said so", s.look().Node(t.Context()).Upgrades, &api.Upgrades{Needed: &api.Upgrade{Name: "v7", Height: 1000}})
}

func TestUpgrades_WhatSeidSaysInTheEnd_IsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		exit api.Exit
		want *api.Upgrades
	}{
		"it lacks an applied one": {
			api.Exit{Reason: api.ExitUpgradeNeeded, Message: "panic: Wrong app version", Upgrade: &api.Upgrade{Name: "v8"}},
			&api.Upgrades{Applied: []api.AppliedUpgrade{{Name: "v8"}}, Refusal: &api.UpgradeRefusal{Kind: api.RefusedHandlerMissing, Name: "v8", Message: "panic: Wrong app version"}},
		},
		"it is too new": {
			api.Exit{Reason: api.ExitTooEarly, Message: "panic: BINARY UPDATED", Upgrade: &api.Upgrade{Name: "v8"}},
			&api.Upgrades{Refusal: &api.UpgradeRefusal{Kind: api.RefusedTooEarly, Name: "v8", Message: "panic: BINARY UPDATED"}},
		},
		"it has crashed": {api.Exit{Reason: api.ExitCrash, Message: "panic: x"}, &api.Upgrades{}},
	} {
		s := newSeid(t)
		tc.exit.At = s.clock.Now()
		s.exited(&tc.exit)
		require(t, name, s.look().Node(t.Context()).Upgrades, tc.want)
	}
}

// A refusal is over once a process has run for a while.
func TestUpgrades_Refusal_FadesWhenSeidRuns(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	s.set(func() {
		s.state.LastExit = &api.Exit{At: now, Reason: api.ExitTooEarly, Upgrade: &api.Upgrade{Name: "v8"}}
	})
	if got := l.Node(t.Context()).Upgrades.Refusal; got == nil {
		t.Error("a process that has just started clears it")
	}
	s.clock.Step(refusalFades)
	s.set(func() { s.block = s.clock.Now() })
	if got := l.Node(t.Context()).Upgrades.Refusal; got != nil {
		t.Errorf("it stays: %+v", got)
	}
}

// Nothing is written while nothing changes.
func TestUpgrades_Record_IsWrittenOnChangeOnly(t *testing.T) {
	s := newSeid(t)
	l := s.look()
	l.Node(t.Context())
	if s.record() == nil {
		t.Fatal("no record")
	}
	if err := os.Remove(upgrades.Path(s.home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(upgrades.Path(s.home), 0o750); err != nil { // a write would fail, and what is told stays
		t.Fatal(err)
	}
	require(t, "unwritable", l.Node(t.Context()).Upgrades, &api.Upgrades{Known: true, Applied: []api.AppliedUpgrade{}})
	if err := os.Remove(upgrades.Path(s.home)); err != nil {
		t.Fatal(err)
	}
	l.Node(t.Context())
	first := fingerprintOf(upgrades.Path(s.home))
	for range 3 {
		s.clock.Step(keepPlan)
		s.set(func() { s.height, s.block = s.height+30, s.clock.Now() })
		l.Node(t.Context())
	}
	if again := fingerprintOf(upgrades.Path(s.home)); again != first {
		t.Errorf("written again: %+v, %+v", first, again)
	}
}
