package supervision_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/process"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// self is the record of a process that runs: this one.
func self(t *testing.T) supervision.Record {
	t.Helper()
	me := process.Table{}.At(os.Getpid())
	if me == nil {
		t.Fatal("this process is not in the process table")
	}
	return supervision.Record{
		State: api.SeidRunning, Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Starts: 3,
		PID: me.PID, StartTicks: me.StartTicks(), BootID: process.BootID(), PIDNamespace: process.Namespace(), ConfigHash: "A", ConsensusAddress: "ADDR",
	}
}

func read(t *testing.T, home string) supervision.Record {
	t.Helper()
	r, err := supervision.Read(home)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRead_NoRecord_IsZero(t *testing.T) {
	if diff := cmp.Diff(supervision.Record{}, read(t, t.TempDir())); diff != "" {
		t.Error(diff)
	}
}

func TestRead_RunningProcess_IsShown(t *testing.T) {
	home, want := t.TempDir(), self(t)
	if err := supervision.Write(home, want); err != nil {
		t.Fatal(err)
	}
	got := read(t, home)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	seid := got.Seid(time.Now())
	if diff := cmp.Diff(api.Seid{State: api.SeidRunning, Since: &want.Since, ConfigHash: "A", ConsensusAddress: "ADDR", Starts: 3}, seid); diff != "" {
		t.Error(diff)
	}
	if me := (process.Table{}).At(want.PID); got.Identity() != me.Identity() {
		t.Errorf("identity %s, want %s", got.Identity(), me.Identity())
	}
}

func TestRead_ProcessThatIsGone_HasEndedForAnUnknownReason(t *testing.T) {
	for name, change := range map[string]func(*supervision.Record){
		"other process of that number": func(r *supervision.Record) { r.StartTicks = "1" },
		"machine started anew":         func(r *supervision.Record) { r.BootID = "another" },
		"process of another container": func(r *supervision.Record) { r.PIDNamespace = "pid:[1]" },
	} {
		home, record := t.TempDir(), self(t)
		change(&record)
		if err := supervision.Write(home, record); err != nil {
			t.Fatal(err)
		}
		wrote := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		if err := errors.Join(supervision.NoteProgress(home, wrote), supervision.NoteProgress(home, wrote)); err != nil {
			t.Fatal(err)
		}
		got := read(t, home)
		if !got.Since.Equal(wrote) {
			t.Errorf("%s: ended at %s, want the time of its last output", name, got.Since)
		}
		if got.State != api.SeidExited || got.Starts != 3 || got.LastExit == nil || got.LastExit.Reason != api.ExitUnknown || got.Seid(time.Now()).ConfigHash != "" {
			t.Errorf("%s: %+v, want State %v, Starts 3, LastExit not nil, Reason %v and ConfigHash empty", name, got, api.SeidExited, api.ExitUnknown)
		}
		// A gate that is there says otherwise, also where its process cannot be seen.
		release, err := supervision.Watch(home)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, home); got.State != api.SeidRunning {
			t.Errorf("%s, watched: %+v", name, got)
		}
		release()
	}
}

func TestRead_UpgradeOfALostProcess_IsKept(t *testing.T) {
	record := self(t)
	record.Upgrade = &api.Upgrade{Name: "v9", Height: 7}
	if got := record.Lost(time.Now()).LastExit; got.Reason != api.ExitUpgradeNeeded || got.Upgrade.Name != "v9" {
		t.Errorf("%+v, want Reason %v and Name %q", got, api.ExitUpgradeNeeded, "v9")
	}
}

func TestWatch_OneGateAtATime(t *testing.T) {
	home := t.TempDir()
	if watched, err := supervision.Watched(home); watched || err != nil {
		t.Errorf("nobody watches: %t, %v", watched, err)
	}
	release, err := supervision.Watch(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := supervision.Watch(home); !errors.Is(err, supervision.ErrWatched) {
		t.Errorf("a second gate: %v", err)
	}
	release()
	if watched, err := supervision.Watched(home); watched || err != nil {
		t.Errorf("after its end: %t, %v", watched, err)
	}
}

func TestRead_Damaged_IsAnError(t *testing.T) {
	home := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Dir(supervision.Path(home, "x")), 0o750), os.WriteFile(supervision.Path(home, "process.json"), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := supervision.Read(home); err == nil {
		t.Error("no error")
	}
}

func TestSignerOf_ReadsModeKeyFileAndRemoteSigner(t *testing.T) {
	for name, tc := range map[string]struct {
		toml string
		want supervision.Signer
	}{
		"none":          {"", supervision.Signer{KeyFile: "config/priv_validator_key.json"}},
		"full":          {`mode = "full"`, supervision.Signer{KeyFile: "config/priv_validator_key.json"}},
		"validator":     {`mode = "validator"`, supervision.Signer{Signs: true, KeyFile: "config/priv_validator_key.json"}},
		"other file":    {"mode = \"validator\"\n[priv-validator]\nkey-file = \"keys/k.json\"", supervision.Signer{Signs: true, KeyFile: "keys/k.json"}},
		"remote signer": {"mode = \"validator\"\n[priv-validator]\nladdr = \"tcp://s:1\"", supervision.Signer{Signs: true, Remote: "tcp://s:1", KeyFile: "config/priv_validator_key.json"}},
	} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, "config"), 0o750); err != nil {
			t.Fatal(err)
		}
		if tc.toml != "" {
			if err := os.WriteFile(filepath.Join(home, "config", "config.toml"), []byte(tc.toml), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tc.want.KeyFile = filepath.Join(home, tc.want.KeyFile)
		if got, err := supervision.SignerOf(home); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want no error and %v", name, got, err, tc.want)
		}
	}
}
