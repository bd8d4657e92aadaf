package lifecycle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

const nothingSigned = "{\"height\":\"0\",\"round\":0,\"step\":0}\n"

func TestReset_SigningStateAndKeysUnderOtherNames_Stay(t *testing.T) {
	const config = "node-key-file = \"data/id.json\"\n[priv-validator]\nkey-file = \"data/keys/signing.json\"\nstate-file = \"data/keys/signed.json\"\n"
	for params, state := range map[string]string{`{}`: signed, `{"resetSigningState":true}`: nothingSigned} {
		f := newFixture(t)
		f.fill(map[string]string{
			"config/config.toml": config, "data/keys/signing.json": "key", "data/keys/signed.json": signed, "data/keys/other": "x",
			"data/id.json": "id", "data/priv_validator_state.json": "old", "data/application.db/1": "12345",
		})
		handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, params)
		want := map[string]string{
			"config/config.toml": config, "data/keys/signing.json": "key", "data/keys/signed.json": state,
			"data/id.json": "id", "data/priv_validator_state.json": "old",
		}
		if diff := cmp.Diff(want, f.files()); diff != "" {
			t.Errorf("%s: home (-want +got):\n%s", params, diff)
		}
	}
}

func TestReset_SigningStateReachedThroughALink_Stays(t *testing.T) {
	f := newFixture(t)
	home := string(f.home)
	f.fill(map[string]string{"data/state/signed.json": signed, "data/application.db/1": "12345"})
	if err := os.Symlink(home, home+"-link"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(home + "-link") })
	f.fill(map[string]string{"config/config.toml": fmt.Sprintf("[priv-validator]\nstate-file = %q\n", home+"-link/data/state/signed.json")})
	handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if got := f.files(); got["data/state/signed.json"] != signed || got["data/application.db/1"] != "" {
		t.Errorf("home is %v", got)
	}
}

func TestReset_ConfigurationThatCannotBeRead_DeletesNothing(t *testing.T) {
	f := newFixture(t)
	f.fill(map[string]string{"config/config.toml": "this is [not toml", "data/x.json": signed})
	before := f.files()
	_, err := f.Run(t, api.ResetData, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "finding out where the signing state is")
	if diff := cmp.Diff(before, f.files()); diff != "" {
		t.Errorf("home (-before +after):\n%s", diff)
	}
}

func TestReset_SnapshotsElsewhereAndNotesOnData_GoWithTheData(t *testing.T) {
	f := newFixture(t)
	volume := t.TempDir()
	snapshots := filepath.Join(volume, "snapshots")
	for _, name := range []string{"snapshots/200/1/0", "snapshots/metadata.db/CURRENT", "snapshots/README", ".sei-tmp-upload-1/200/1/0", ".sei-sidecar-download/archive"} {
		file := filepath.Join(volume, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("1234"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.fill(map[string]string{
		"config/app.toml":               fmt.Sprintf("[state-sync]\nsnapshot-directory = %q\n", snapshots),
		".sei-sidecar-last-upload.json": "{}", "tmp/tm-statesync123/0": "chunk", "tmp/other/0": "mine",
	})
	got := handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if got.WipedBytes != 12 {
		t.Errorf("wiped %d bytes, want those of the snapshots", got.WipedBytes)
	}
	if diff := cmp.Diff(map[string]string{"snapshots/README": "1234"}, handlertest.Files(t, volume)); diff != "" {
		t.Errorf("volume (-want +got):\n%s", diff)
	}
	home := f.files()
	delete(home, "config/app.toml")
	if diff := cmp.Diff(map[string]string{"data/priv_validator_state.json": nothingSigned, "tmp/other/0": "mine"}, home); diff != "" {
		t.Errorf("home (-want +got):\n%s", diff)
	}
}

// Data that was deleted in part never runs, whoever opens the gate, until the rest is gone too.
func TestReset_FailsMidway_SeidMayNotStartUntilItIsComplete(t *testing.T) {
	f := newFixture(t)
	elsewhere := filepath.Join(t.TempDir(), "snapshots")
	if err := os.WriteFile(elsewhere, []byte("no directory"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.fill(map[string]string{"config/app.toml": fmt.Sprintf("[state-sync]\nsnapshot-directory = %q\n", elsewhere), "data/application.db/1": "12345"})
	mayStart := func() error { return configstate.MayStart(string(f.home), "v6") }
	if err := mayStart(); err != nil {
		t.Fatalf("before the reset: %v", err)
	}
	if _, err := f.Run(t, api.ResetData, `{}`); err == nil {
		t.Fatal("the reset did not fail")
	}
	if err := mayStart(); err == nil || !strings.Contains(err.Error(), "run reset-data again") {
		t.Errorf("after half a reset: %v", err)
	}
	if err := os.Remove(elsewhere); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.WipedData](t, f.Harness, api.ResetData, `{}`)
	if err := mayStart(); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

// What depends on the data is forgotten before the data goes: after half a reset nothing says that it is there.
func TestReset_FailsMidway_WhatDependsOnTheDataIsForgotten(t *testing.T) {
	f := newFixture(t)
	elsewhere := filepath.Join(t.TempDir(), "snapshots")
	if err := os.WriteFile(elsewhere, []byte("no directory"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.fill(map[string]string{
		"config/app.toml":            fmt.Sprintf("[state-sync]\nsnapshot-directory = %q\n", elsewhere),
		".sei-sidecar-snapshot-done": "", ".sei-sidecar-statesync-done": "", ".sei-sidecar-last-upload.json": "{}",
	})
	if _, err := f.Run(t, api.ResetData, `{}`); err == nil {
		t.Fatal("the reset did not fail")
	}
	for _, name := range []string{".sei-sidecar-snapshot-done", ".sei-sidecar-statesync-done", ".sei-sidecar-last-upload.json"} {
		if _, there := f.files()[name]; there {
			t.Errorf("%s still says that the data is there", name)
		}
	}
}
