package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

const (
	peerA = "155540ad90b5eedab08f2b062dd92111287c5532@a.example:26656"
	peerB = "24ede832121020dad05b669d778e7447ad440ef6@198.18.0.7:26656"
)

func TestReload_ChangesHotKeysOnly(t *testing.T) {
	files := apply(t, initFiles(t, "full"), config.Intent{Mode: "full"})
	out, err := config.Reload(files, map[string]string{"logging.level": "debug", "mempool.size": "10", "evm.deny_list": "a,b"})
	if err != nil {
		t.Fatal(err)
	}
	changed := config.Diff(files, out)
	if len(changed) != 3 || config.NeedsRestart(changed) {
		t.Errorf("changed %+v, needs restart %v", changed, config.NeedsRestart(changed))
	}
	wantValues(t, out, map[string]any{"config.toml:log-level": "debug", "config.toml:mempool.size": int64(10)})
}

func TestReload_BadFields_AreErrors(t *testing.T) {
	files := apply(t, initFiles(t, "full"), config.Intent{Mode: "full"})
	_, err := config.Reload(files, map[string]string{"evm.http_port": "1", "chain.moniker": "x", "logging.level": "info"})
	wantErrorWith(t, err, "fields [chain.moniker evm.http_port] are not hot-reloadable and require a restart")
	if !errors.Is(err, config.ErrNotHotReloadable) {
		t.Errorf("got %v, want %v", err, config.ErrNotHotReloadable)
	}
	_, err = config.Reload(files, map[string]string{"logging.lvl": "info"})
	wantErrorWith(t, err, `unknown field "logging.lvl"`, `did you mean "logging.level"?`)
	_, err = config.Reload(files, map[string]string{"config.toml:log-level": "info"})
	wantErrorWith(t, err, `unknown field "config.toml:log-level"`)
	if !errors.Is(err, config.ErrUnknownKey) {
		t.Errorf("got %v, want %v", err, config.ErrUnknownKey)
	}
	_, err = config.Reload(files, map[string]string{"mempool.size": "-5"})
	if _, ok := errors.AsType[*config.ValidationError](err); !ok {
		t.Errorf("got %v, want a ValidationError", err)
	}
	_, err = config.Reload(files, map[string]string{"mempool.size": "5x"})
	wantErrorWith(t, err, `applying override "mempool.size"="5x"`)
}

func TestDiff_TellsPlacesKeysAndValues(t *testing.T) {
	before := parse(t, "a = 1\nlog-level = 'info'\n[mempool]\nsize = \"10\"\n[p2p]\npex = true\n", "halt-height = 0\n")
	after := parse(t, "log-level = 'debug'\n[mempool]\nsize = 10\n[p2p]\npex = false\n", "halt-height = 0\n[new]\nx = 'y'\n")
	want := []config.ChangedKey{
		{Place: config.Place{File: "config.toml", Path: "a"}, Old: int64(1)},
		{Place: config.Place{File: "config.toml", Path: "log-level"}, Key: "logging.level", Old: "info", New: "debug"},
		{Place: config.Place{File: "config.toml", Path: "p2p.pex"}, Key: "network.p2p.pex", Old: true, New: false},
		{Place: config.Place{File: "app.toml", Path: "new.x"}, New: "y"},
	}
	if diff := cmp.Diff(want, config.Diff(before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if changed := config.Diff(after, after); len(changed) != 0 {
		t.Errorf("the same files differ: %+v", changed)
	}
}

func TestNeedsRestart_UnlessEveryChangeIsHarmless(t *testing.T) {
	place := func(file config.FileName, path, key string) config.ChangedKey {
		return config.ChangedKey{Place: config.Place{File: file, Path: path}, Key: key}
	}
	harmless := []config.ChangedKey{
		place("config.toml", "p2p.persistent-peers", "network.p2p.persistent_peers"),
		place("config.toml", "log-level", "logging.level"),
		place("app.toml", "sei.version", "version"),
		place("app.toml", "sei.raw-overrides", ""),
		place("client.toml", "output", ""),
	}
	if config.NeedsRestart(harmless) || config.NeedsRestart(nil) {
		t.Error("harmless changes need a restart")
	}
	for _, c := range []config.ChangedKey{
		place("config.toml", "p2p.pex", "network.p2p.pex"),
		place("config.toml", "mode", "mode"),
		place("app.toml", "unheard-of", ""),
	} {
		if !config.NeedsRestart(slices.Concat(harmless, []config.ChangedKey{c})) {
			t.Errorf("%s needs no restart", c.Place)
		}
	}
}

func TestNeedsRestart_ForTheFirstPeersOnly(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now any
		want     bool
	}{
		{"first peers", "", peerA, true},
		{"first peers of a new key", nil, peerA, true},
		{"another peer", peerA, peerA + "," + peerB, false},
		{"no peer left", peerA, "", false},
	} {
		place := config.Place{File: "config.toml", Path: "p2p.persistent-peers"}
		changed := []config.ChangedKey{{Place: place, Key: "network.p2p.persistent_peers", Old: c.old, New: c.now}}
		if got := config.NeedsRestart(changed); got != c.want {
			t.Errorf("%s: needs restart %t, want %t", c.name, got, c.want)
		}
	}
}

func TestSetPeers_ReplacesAndRemovesDoubles(t *testing.T) {
	out, err := config.SetPeers(initFiles(t, "full"), []string{peerB, peerA, peerB})
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, out, map[string]any{"config.toml:p2p.persistent-peers": peerB + "," + peerA})
	if diff := cmp.Diff([]string{peerB, peerA}, config.Peers(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none, err := config.SetPeers(out, nil)
	if err != nil || len(config.Peers(none)) != 0 || at(none, "config.toml:p2p.persistent-peers") != "" {
		t.Errorf("got %v, %v", config.Peers(none), err)
	}
}

func TestSetPeers_BadAddresses_AreErrors(t *testing.T) {
	id := strings.Repeat("a", 40)
	for peer, want := range map[string]string{
		"a.example:26656":                "want nodeid@host:port",
		"xyz@a.example:26656":            "node id of 40",
		strings.ToUpper(id) + "@a:1":     "node id of 40",
		id + "@a.example":                "is not host:port",
		id + "@:26656":                   "is not host:port",
		id + "@a:99999":                  "is not a port",
		id + "@a:0":                      "is not a port",
		id + "@a:1," + peerA:             "is not",
		"":                               "want nodeid@host:port",
		id + "@[2001:db8::1]:26656/path": "is not a port",
	} {
		_, err := config.SetPeers(initFiles(t, "full"), []string{peerA, peer})
		wantErrorWith(t, err, want)
	}
	if err := config.CheckPeer(id + "@[2001:db8::1]:26656"); err != nil {
		t.Errorf("an IPv6 peer: %v", err)
	}
}

func TestSetStateSync_MergesIntoTheFile(t *testing.T) {
	files := apply(t, initFiles(t, "full"), config.Intent{Mode: "full"})
	sync := config.StateSync{RPCServers: []string{"a:26657", "b:26657"}, TrustHeight: 2000, TrustHash: strings.Repeat("AB", 32), UseLocalSnapshot: true}
	out, err := config.SetStateSync(files, sync)
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, out, map[string]any{
		"config.toml:statesync.enable":             true,
		"config.toml:statesync.trust-height":       int64(2000),
		"config.toml:statesync.trust-hash":         strings.Repeat("AB", 32),
		"config.toml:statesync.rpc-servers":        "a:26657,b:26657",
		"config.toml:statesync.use-local-snapshot": true,
		"config.toml:statesync.trust-period":       "168h0m0s",
		"config.toml:statesync.backfill-blocks":    "0",
		"config.toml:statesync.discovery-time":     "15s",
	})
	sync.TrustPeriod, sync.BackfillBlocks = 48*time.Hour, 7
	if out, err = config.SetStateSync(out, sync); err != nil {
		t.Fatal(err)
	}
	wantValues(t, out, map[string]any{"config.toml:statesync.trust-period": "48h0m0s", "config.toml:statesync.backfill-blocks": int64(7)})
}

func TestSetStateSync_WhatSeidWouldRefuse_IsAnError(t *testing.T) {
	good := config.StateSync{RPCServers: []string{"a:1", "b:1"}, TrustHeight: 1, TrustHash: strings.Repeat("AB", 32)}
	one, noHash, noHeight := good, good, good
	one.RPCServers = []string{"a:1"}
	noHash.TrustHash = "AB"
	noHeight.TrustHeight = 0
	for field, sync := range map[string]config.StateSync{
		"state_sync.rpc_servers": one, "state_sync.trust_hash": noHash, "state_sync.trust_height": noHeight,
	} {
		_, err := config.SetStateSync(initFiles(t, "full"), sync)
		wantErrorWith(t, err, "config validation failed", field)
	}
}
