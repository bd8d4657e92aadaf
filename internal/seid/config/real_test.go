package config_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// seidBinary finds the real chain binary: SEID_BIN, or what hack/build-seid.sh
// built.
func seidBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SEID_BIN"); path != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("SEID_BIN: %v", err)
		}
		return path
	}
	built, err := filepath.Glob("../../../.cache/seid/*/seid")
	if err != nil {
		t.Fatal(err)
	}
	if len(built) == 0 {
		t.Skip("no chain binary: run hack/build-seid.sh, or set SEID_BIN")
	}
	path, err := filepath.Abs(built[len(built)-1])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRealSeid_InitFiles_AreTheRecordedOnes(t *testing.T) {
	binary := seidBinary(t)
	// These depend on the machine that init runs on, or name one.
	machine := []string{
		"config.toml:moniker", "client.toml:chain-id", "app.toml:concurrency-workers", "app.toml:evm.worker_pool_size",
		"app.toml:eth_replay.eth_data_dir", "app.toml:eth_replay.eth_rpc",
	}
	for _, mode := range []seid.Mode{seid.ModeFull, seid.ModeValidator} {
		files := newNode(t, binary, mode).files(t)
		for _, c := range config.Diff(initFiles(t, mode), files) {
			if !slices.Contains(machine, c.Place.String()) {
				t.Errorf("%s: %s was recorded as %v and is %v", mode, c.Place, c.Old, c.New)
			}
		}
	}
}

func TestRealSeid_FullApplyFromDefaults_IsStable(t *testing.T) {
	binary := seidBinary(t)
	for _, mode := range seid.Modes() {
		const times = 3
		results := make([]map[config.FileName]string, 0, times)
		files := newNode(t, binary, seid.ModeFull).files(t)
		for range times {
			defaults := newNode(t, binary, mode).files(t)
			files = apply(t, files, config.Intent{Mode: mode, Moniker: "n", Defaults: &defaults, Overrides: map[string]string{"evm.http_port": "9545"}})
			results = append(results, encode(t, files))
		}
		for _, again := range results[1:] {
			if diff := cmp.Diff(results[0], again); diff != "" {
				t.Errorf("%s: applied again it differs:\n%s", mode, diff)
			}
		}
	}
}

// TestRealSeid_EveryProfile_Runs is the proof that the real binary takes what the
// engine writes: a validator makes blocks, a full and an archive node follow it,
// a seed joins it. Afterwards the same homes show that the two combinations that
// Validate refuses are the ones on which seid panics.
func TestRealSeid_EveryProfile_Runs(t *testing.T) {
	binary := seidBinary(t)
	const height = 4
	validator := newNode(t, binary, seid.ModeValidator)
	validator.foundChain(t)
	validator.configure(t, nil)
	stopValidator := validator.start(t)
	validator.awaitHeight(t, height)

	modes := []seid.Mode{seid.ModeFull, seid.ModeArchive, seid.ModeSeed}
	stops := make([]func(), 0, len(modes)+1)
	followers := map[seid.Mode]*realNode{}
	for _, mode := range modes {
		n := newNode(t, binary, mode)
		n.joinChain(t, validator)
		n.configure(t, map[string]string{"network.p2p.persistent_peers": validator.peer()})
		stops = append(stops, n.start(t))
		followers[mode] = n
	}
	followers[seid.ModeFull].awaitHeight(t, height)
	followers[seid.ModeArchive].awaitHeight(t, height)
	validator.awaitPeer(t, followers[seid.ModeSeed])
	for _, stop := range append(stops, stopValidator) {
		stop()
	}

	t.Run("state store over state without one", func(t *testing.T) {
		wantRefusedAndPanics(t, validator, map[string]string{"storage.state_store.enable": "true"},
			"storage.state_store.enable", "Enabling SS store without state sync")
	})
	t.Run("snapshots without a state store", func(t *testing.T) {
		wantRefusedAndPanics(t, validator, map[string]string{"storage.snapshot_interval": "100"},
			"storage.snapshot_interval", "SS store needs to be enabled when snapshot interval")
	})
	t.Run("state store over state with one", func(t *testing.T) {
		for _, mode := range []seid.Mode{seid.ModeFull, seid.ModeArchive} {
			without, err := home.Dir(followers[mode].home).StateWithoutStore()
			if err != nil || without {
				t.Errorf("%s: state without store is %v, %v", mode, without, err)
			}
		}
	})
}

// wantRefusedAndPanics checks that the engine refuses overrides, and that seid
// would have panicked with them.
func wantRefusedAndPanics(t *testing.T, n *realNode, overrides map[string]string, field, panicText string) {
	t.Helper()
	without, err := home.Dir(n.home).StateWithoutStore()
	if err != nil || !without {
		t.Fatalf("state without store is %v, %v", without, err)
	}
	files := n.files(t)
	_, err = config.Apply(files, config.Intent{Incremental: true, Overrides: overrides, Facts: config.Facts{StateWithoutStore: without}})
	invalid, ok := errors.AsType[*config.ValidationError](err)
	if !ok || invalid.Diagnostics[0].Field != field {
		t.Fatalf("the engine says %v", err)
	}
	set := map[string]string{}
	for name, value := range overrides {
		key, err := config.KeyInfo(name)
		if err != nil {
			t.Fatal(err)
		}
		set[key.Places[0].String()] = value
	}
	if err := config.Write(n.configDir(), force(t, files, set)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := config.Write(n.configDir(), files); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	out, err := n.command(ctx, "start").CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("seid runs with %v", overrides)
	}
	if err == nil || !strings.Contains(string(out), "panic: ") || !strings.Contains(string(out), panicText) {
		t.Errorf("seid ended with %v, want a panic %q:\n%s", err, panicText, tail(string(out)))
	}
}
