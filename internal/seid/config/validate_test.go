package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestValidate_EveryProfile_IsClean(t *testing.T) {
	for _, mode := range seid.Modes() {
		out := apply(t, initFiles(t, "full"), config.Intent{Mode: mode})
		if d := config.Validate(out, config.Facts{}); len(d) != 0 {
			t.Errorf("%s: %s, want none", mode, d.JSON())
		}
	}
}

func TestValidate_FilesStraightFromInit_AreClean(t *testing.T) {
	for _, mode := range []seid.Mode{"full", "validator"} {
		if d := config.Validate(initFiles(t, mode), config.Facts{}); len(d) != 0 {
			t.Errorf("%s: %s, want none", mode, d.JSON())
		}
	}
}

// Each case breaks one rule over a clean profile.
func TestValidate_Rules(t *testing.T) {
	stateSync := func(key, value string) map[string]string {
		return merged(map[string]string{
			"config.toml:statesync.enable": "true", "config.toml:statesync.rpc-servers": "a:1,b:1", "config.toml:statesync.trust-height": "10",
			"config.toml:statesync.trust-hash": strings.Repeat("ab", 32),
		}, map[string]string{"config.toml:" + key: value})
	}
	tests := map[string]struct {
		mode     seid.Mode
		set      map[string]string // raw places
		facts    config.Facts
		severity config.Severity
		field    string
	}{
		"mode unknown":              {"full", map[string]string{"app.toml:sei.mode": "light", "config.toml:mode": "light"}, config.Facts{}, "ERROR", "mode"},
		"modes differ":              {"full", map[string]string{"config.toml:mode": "seed"}, config.Facts{}, "ERROR", "mode"},
		"version":                   {"full", map[string]string{"app.toml:sei.version": "9"}, config.Facts{}, "ERROR", "version"},
		"workers":                   {"full", map[string]string{"app.toml:concurrency-workers": "-2"}, config.Facts{}, "ERROR", "chain.concurrency_workers"},
		"negative connections":      {"full", map[string]string{"config.toml:rpc.max-open-connections": "-1"}, config.Facts{}, "ERROR", "network.rpc.max_open_connections"},
		"negative rate":             {"full", map[string]string{"config.toml:p2p.send-rate": "-1"}, config.Facts{}, "ERROR", "network.p2p.send_rate"},
		"negative dial timeout":     {"full", map[string]string{"config.toml:p2p.dial-timeout": "-3s"}, config.Facts{}, "ERROR", "network.p2p.dial_timeout"},
		"negative gossip sleep":     {"full", map[string]string{"config.toml:consensus.peer-gossip-sleep-duration": "-1ms"}, config.Facts{}, "ERROR", "consensus.peer_gossip_sleep_duration"},
		"negative mempool":          {"full", map[string]string{"config.toml:mempool.size": "-1"}, config.Facts{}, "ERROR", "mempool.size"},
		"negative threshold":        {"full", map[string]string{"config.toml:mempool.drop-utilisation-threshold": "-0.5"}, config.Facts{}, "ERROR", "mempool.drop_utilisation_threshold"},
		"threshold above 1":         {"full", map[string]string{"config.toml:mempool.drop-utilisation-threshold": "1.5"}, config.Facts{}, "ERROR", "mempool.drop_utilisation_threshold"},
		"log format":                {"full", map[string]string{"config.toml:log-format": "xml"}, config.Facts{}, "ERROR", "logging.format"},
		"one witness":               {"full", stateSync("statesync.rpc-servers", "a:1"), config.Facts{}, "ERROR", "state_sync.rpc_servers"},
		"trust period":              {"full", stateSync("statesync.trust-period", "0s"), config.Facts{}, "ERROR", "state_sync.trust_period"},
		"trust height":              {"full", stateSync("statesync.trust-height", "0"), config.Facts{}, "ERROR", "state_sync.trust_height"},
		"trust hash empty":          {"full", stateSync("statesync.trust-hash", ""), config.Facts{}, "ERROR", "state_sync.trust_hash"},
		"trust hash not hex":        {"full", stateSync("statesync.trust-hash", strings.Repeat("zz", 32)), config.Facts{}, "ERROR", "state_sync.trust_hash"},
		"fetchers":                  {"full", stateSync("statesync.fetchers", "0"), config.Facts{}, "ERROR", "state_sync.fetchers"},
		"backfill":                  {"full", map[string]string{"config.toml:statesync.backfill-blocks": "-1"}, config.Facts{}, "ERROR", "state_sync.backfill_blocks"},
		"pruning":                   {"full", map[string]string{"app.toml:iavl.pruning": "some"}, config.Facts{}, "ERROR", "storage.pruning"},
		"custom, no interval":       {"full", map[string]string{"app.toml:iavl.pruning-interval": "0"}, config.Facts{}, "ERROR", "storage.pruning_interval"},
		"custom, keep every 1":      {"full", map[string]string{"app.toml:iavl.pruning-keep-every": "1"}, config.Facts{}, "ERROR", "storage.pruning_interval"},
		"write mode":                {"full", map[string]string{"app.toml:state-commit.sc-write-mode": "x"}, config.Facts{}, "ERROR", "storage.state_commit.write_mode"},
		"read mode":                 {"full", map[string]string{"app.toml:state-commit.sc-read-mode": "x"}, config.Facts{}, "ERROR", "storage.state_commit.read_mode"},
		"store write mode":          {"full", map[string]string{"app.toml:state-store.evm-ss-write-mode": "x"}, config.Facts{}, "ERROR", "storage.state_store.write_mode"},
		"test write mode":           {"full", map[string]string{"app.toml:state-commit.sc-write-mode": "test_only_dual_write"}, config.Facts{}, "WARNING", "storage.state_commit.write_mode"},
		"backend":                   {"full", map[string]string{"app.toml:state-store.ss-backend": "sqlite"}, config.Facts{}, "WARNING", "storage.state_store.backend"},
		"split without store":       {"validator", map[string]string{"app.toml:state-store.evm-ss-split": "true"}, config.Facts{}, "ERROR", "storage.state_store.evm_ss_split"},
		"store over bare state":     {"full", nil, config.Facts{StateWithoutStore: true}, "ERROR", "storage.state_store.enable"},
		"snapshots without store":   {"validator", map[string]string{"app.toml:state-sync.snapshot-interval": "2000"}, config.Facts{}, "ERROR", "storage.snapshot_interval"},
		"snapshots, all is pruned":  {"full", map[string]string{"app.toml:state-sync.snapshot-interval": "2000", "app.toml:iavl.pruning": "everything"}, config.Facts{}, "ERROR", "storage.snapshot_interval"},
		"evm port":                  {"full", map[string]string{"app.toml:evm.http_port": "0"}, config.Facts{}, "ERROR", "evm.http_port"},
		"evm ws port":               {"full", map[string]string{"app.toml:evm.ws_port": "70000"}, config.Facts{}, "ERROR", "evm.ws_port"},
		"evm on a validator":        {"validator", map[string]string{"app.toml:evm.http_enabled": "true"}, config.Facts{}, "WARNING", "evm.http_enabled"},
		"seed without pex":          {"seed", map[string]string{"config.toml:p2p.pex": "false"}, config.Facts{}, "ERROR", "network.p2p.pex"},
		"number that is none":       {"full", map[string]string{"config.toml:mempool.size": `"many"`}, config.Facts{}, "ERROR", "mempool.size"},
		"empty text for a number":   {"full", map[string]string{"config.toml:mempool.size": `""`}, config.Facts{}, "ERROR", "mempool.size"},
		"duration that is none":     {"full", map[string]string{"app.toml:evm.read_timeout": "soon"}, config.Facts{}, "ERROR", "evm.read_timeout"},
		"boolean for a number":      {"full", map[string]string{"app.toml:evm.http_port": "true"}, config.Facts{}, "ERROR", "evm.http_port"},
		"negative in quotes":        {"full", map[string]string{"app.toml:halt-height": `"-4"`}, config.Facts{}, "ERROR", "chain.halt_height"},
		"text for a list":           {"full", map[string]string{"config.toml:tx-index.indexer": "kv"}, config.Facts{}, "ERROR", "tx_index.indexer"},
		"pruning number not a text": {"full", map[string]string{"app.toml:iavl.pruning-keep-every": "x"}, config.Facts{}, "ERROR", "storage.pruning_keep_every"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: tc.mode}), tc.set)
			d := config.Validate(files, tc.facts)
			if len(d) == 0 {
				t.Fatal("nothing was found")
			}
			if d[0].Severity != tc.severity || d[0].Field != tc.field || d[0].Message == "" {
				t.Errorf("got %s, want Severity %v, Field %v and Message not empty", d.JSON(), tc.severity, tc.field)
			}
			if d.HasErrors() != (tc.severity == config.SeverityError) {
				t.Errorf("HasErrors is %v", d.HasErrors())
			}
		})
	}
}

func TestValidate_WhatIsAllowed(t *testing.T) {
	tests := map[string]struct {
		mode  seid.Mode
		set   map[string]string
		facts config.Facts
	}{
		"state sync by p2p needs no servers": {"full", map[string]string{
			"config.toml:statesync.enable": "true", "config.toml:statesync.use-p2p": "true", "config.toml:statesync.trust-height": "10",
			"config.toml:statesync.trust-hash": strings.Repeat("ab", 32),
		}, config.Facts{}},
		"no gas price":                           {"full", map[string]string{"app.toml:minimum-gas-prices": ""}, config.Facts{}},
		"no limit on workers":                    {"full", map[string]string{"app.toml:concurrency-workers": "-1"}, config.Facts{}},
		"store in a place of its own":            {"full", map[string]string{"app.toml:state-store.ss-db-directory": "/elsewhere"}, config.Facts{StateWithoutStore: true}},
		"bare state with the store off":          {"validator", nil, config.Facts{StateWithoutStore: true}},
		"snapshots on the old store":             {"validator", map[string]string{"app.toml:state-sync.snapshot-interval": "10", "app.toml:state-commit.sc-enable": "false"}, config.Facts{}},
		"quoted numbers, as seid init does":      {"full", map[string]string{"config.toml:mempool.size": `"77"`}, config.Facts{}},
		"whole floats, as older patches wrote":   {"full", map[string]string{"config.toml:mempool.size": "77.0"}, config.Facts{}},
		"disabled servers may have odd ports":    {"validator", map[string]string{"app.toml:evm.http_port": "0"}, config.Facts{}},
		"custom pruning that keeps every height": {"full", map[string]string{"app.toml:iavl.pruning-keep-every": "1", "app.toml:iavl.pruning-interval": "0"}, config.Facts{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: tc.mode}), tc.set)
			if d := config.Validate(files, tc.facts); len(d) != 0 {
				t.Errorf("got %s, want none", d.JSON())
			}
		})
	}
}

func TestNewReport_HasTheFormOfTheWireContract(t *testing.T) {
	good := config.NewReport(apply(t, initFiles(t, "full"), config.Intent{Mode: "archive"}), config.Facts{})
	data, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"valid":true,"version":2,"mode":"archive","diagnostics":[]}`, string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	bad := config.NewReport(parse(t, "", "[sei]\nversion = 1\n"), config.Facts{})
	if bad.Valid || bad.Version != 1 || bad.Mode != "" || bad.Diagnostics[0].Field != "mode" {
		t.Errorf("got %+v, want Valid false, Version 1, Mode empty and Field %q", bad, "mode")
	}
}

// force writes raw values into files without any check: TOML literals where
// they are, text otherwise.
func force(t *testing.T, files config.Files, set map[string]string) config.Files {
	t.Helper()
	contents := encode(t, files)
	data := map[config.FileName][]byte{}
	for name, text := range contents {
		data[name] = []byte(text)
	}
	out, err := config.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for place, value := range set {
		file, path, _ := strings.Cut(place, ":")
		tree := map[string]any(out.Config)
		if file == "app.toml" {
			tree = map[string]any(out.App)
		}
		steps := strings.Split(path, ".")
		for _, step := range steps[:len(steps)-1] {
			tree = tree[step].(map[string]any)
		}
		literal, err := config.Parse(map[config.FileName][]byte{config.ConfigToml: []byte("v = " + value + "\n")})
		if err != nil {
			tree[steps[len(steps)-1]] = value
			continue
		}
		tree[steps[len(steps)-1]] = literal.Config["v"]
	}
	return out
}
