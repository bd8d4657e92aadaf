package sidecar_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// waitingGate does what a gate does while seid does not run.
func (n *node) waitingGate(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	argv := []string{handlertest.SeidPath(t), "start", "--home", n.home}
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := trial.Serve(ctx, n.home, argv); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func (n *node) state() configstate.State {
	n.t.Helper()
	state, err := configstate.Read(n.home)
	if err != nil {
		n.t.Fatal(err)
	}
	return state
}

// applied is a configuration by name; its mempool tells it from others.
func applied(hash, size string, more ...string) wire.ConfigApply {
	p := wire.ConfigApply{Mode: "full", ConfigHash: hash, Overrides: map[string]string{"mempool.size": size}}
	for i := 0; i+1 < len(more); i += 2 {
		p.Overrides[more[i]] = more[i+1]
	}
	return p
}

func TestConfigValidate_BehindTheGate_StartsTheRealSeid(t *testing.T) {
	n := newNode(t, "proven-1", "n", "")
	n.identity()
	n.waitingGate(t)
	validate := func(hash string, p wire.ConfigApply) (api.TaskResult, time.Duration) {
		t.Helper()
		do[wire.ConfigChanges](n, api.ConfigApply, p)
		if got := n.state().ConfigHash; got != hash {
			t.Fatalf("the configuration is called %q, want %q", got, hash)
		}
		began := time.Now()
		return n.Run(api.ConfigValidate, nil), time.Since(began)
	}
	first, took := validate("one", applied("one", "1000"))
	if got := decode[wire.ConfigTrial](n, first); !got.Tried {
		t.Fatalf("the configuration was not tried: %s", first.Result)
	}
	t.Logf("the first config-validate took %s", took.Round(10*time.Millisecond))

	bad := applied("two", "2000", "app.toml:admin_server.admin_enabled", "true", "app.toml:admin_server.admin_address", "0.0.0.0:9095")
	second, took := validate("two", bad)
	t.Logf("the second took %s: %s", took.Round(10*time.Millisecond), second.Error)
	if second.Status != api.TaskFailed || !second.ErrorDetail.Terminal || !strings.Contains(second.Error, "loopback") {
		t.Errorf("config-validate: %+v", second)
	}
	if !strings.Contains(second.ErrorDetail.Hint, "the last good configuration stays active") {
		t.Errorf("hint is %q", second.ErrorDetail.Hint)
	}
	if got := n.state(); got.ConfigHash != "one" || got.Refused == nil || got.Refused.ConfigHash != "two" || !got.Validation.Tried {
		t.Errorf("state is %+v", got)
	}
	third, took := validate("three", applied("three", "1000", "network.p2p.persistent_peers", aPeer))
	t.Logf("with other peers it took %s", took.Round(10*time.Millisecond))
	decode[wire.ConfigTrial](n, third)
	data, err := os.ReadFile(filepath.Join(n.home, ".sei-sidecar", "trial", "verdicts.json"))
	if err != nil || strings.Count(string(data), "digest") != 2 {
		t.Errorf("other peers were tried: %s, %v", data, err)
	}
}

// Whatever the moment of the kill, the name on disk is that of the files.
func TestConfigApply_KilledAtRandom_TheNameIsThatOfTheFiles(t *testing.T) {
	n := newNode(t, "names-1", "n", "")
	n.identity()
	sizes := map[string]int64{"one": 1111, "two": 2222}
	rng := rand.New(rand.NewPCG(1, 2))
	check := func() {
		files, err := config.Read(filepath.Join(n.home, "config"))
		if err != nil {
			t.Fatal(err)
		}
		name := n.state().ConfigHash
		size := files.Config["mempool"].(map[string]any)["size"]
		if name != "" && size != sizes[name] {
			t.Fatalf("files with size %v are called %q", size, name)
		}
	}
	for round := range 12 {
		hash, size := "one", "1111"
		if round%2 == 1 {
			hash, size = "two", "2222"
		}
		got := n.RunKilled(api.ConfigApply, applied(hash, size), crashtest.Kills{Number: 4, Within: 300 * time.Millisecond, Rand: rng, Restarted: check})
		if got.Status != api.TaskCompleted || n.state().ConfigHash != hash {
			t.Fatalf("%+v, called %q", got, n.state().ConfigHash)
		}
		check()
	}
	t.Logf("%d kills hit", len(n.Interrupted()))
}

func TestConfigValidate_KilledWhileItPutsTheLastGoodFilesBack_EndsAsIfUndisturbed(t *testing.T) {
	n := newNode(t, "back-1", "n", "")
	n.identity()
	do[any](n, api.ConfigApply, applied("one", "1111"))
	do[any](n, api.ConfigValidate, nil)
	do[any](n, api.ConfigApply, applied("two", "2222"))
	patch := wire.ConfigPatch{Files: map[string]json.RawMessage{"app.toml": json.RawMessage(`{"state-store":{"ss-enable":false},"state-sync":{"snapshot-interval":10}}`)}}
	do[any](n, api.ConfigPatch, patch)
	n.Kill()
	template := filepath.Join(t.TempDir(), "template")
	copyTree(t, n.home, template)
	rng := rand.New(rand.NewPCG(3, 4))
	var want outcome
	for round := range 8 {
		n.Kill()
		if err := os.RemoveAll(n.home); err != nil {
			t.Fatal(err)
		}
		copyTree(t, template, n.home)
		n.Restart()
		got := n.RunKilled(api.ConfigValidate, nil, crashtest.Kills{Number: min(round, 1) * 5, Within: 200 * time.Millisecond, Rand: rng})
		if got.Status != api.TaskFailed || !strings.Contains(got.ErrorDetail.Hint, "the last good configuration stays active") {
			t.Fatalf("round %d: %+v", round, got)
		}
		end := outcome{Result: got.Result, Home: homeFiles(t, n.home)}
		if round == 0 {
			want = end
		}
		if diff := cmp.Diff(want, end, cmp.AllowUnexported(outcome{}), cmp.FilterPath(ignoreTook, cmp.Ignore())); diff != "" {
			t.Fatalf("round %d (-undisturbed +killed):\n%s", round, diff)
		}
	}
	if got := n.state(); got.ConfigHash != "one" || got.Refused == nil {
		t.Errorf("state is %+v", got)
	}
	t.Logf("%d kills hit", len(n.Interrupted()))
}
