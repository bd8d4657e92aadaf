package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestApply_Validator_OverFilesOfAnyMode(t *testing.T) {
	for _, base := range []seid.Mode{"full", "validator"} {
		out := apply(t, initFiles(t, base), config.Intent{Mode: seid.ModeValidator, Moniker: "val-0", CPUs: 16})
		wantValues(t, out, map[string]any{
			"config.toml:mode":                             "validator",
			"config.toml:moniker":                          "val-0",
			"config.toml:rpc.laddr":                        "tcp://0.0.0.0:26657",
			"config.toml:p2p.laddr":                        "tcp://0.0.0.0:26656",
			"config.toml:tx-index.indexer":                 []any{"null"},
			"config.toml:instrumentation.prometheus":       true,
			"config.toml:rpc.lag-threshold":                int64(300),
			"app.toml:api.enable":                          false,
			"app.toml:grpc.enable":                         true,
			"app.toml:grpc-web.enable":                     false,
			"app.toml:evm.http_enabled":                    false,
			"app.toml:evm.ws_enabled":                      false,
			"app.toml:state-store.ss-enable":               false,
			"app.toml:state-store.evm-ss-split":            nil,
			"app.toml:state-commit.sc-async-commit-buffer": int64(0),
			"app.toml:min-retain-blocks":                   int64(0),
			"app.toml:concurrency-workers":                 int64(32),
			"app.toml:evm.worker_pool_size":                int64(32),
			"app.toml:iavl.pruning":                        "nothing",
			"app.toml:telemetry.enabled":                   true,
			"app.toml:sei.mode":                            "validator",
			"app.toml:sei.version":                         int64(2),
		})
	}
}

func TestApply_Seed_HasTheNewerLimits(t *testing.T) {
	out := apply(t, initFiles(t, "validator"), config.Intent{Mode: seid.ModeSeed})
	wantValues(t, out, map[string]any{
		"config.toml:mode":                                 "seed",
		"config.toml:rpc.laddr":                            "tcp://127.0.0.1:26657",
		"config.toml:p2p.laddr":                            "tcp://0.0.0.0:26656",
		"config.toml:p2p.max-connections":                  int64(1000),
		"config.toml:p2p.max-incoming-connection-attempts": int64(32),
		"config.toml:p2p.max-packet-msg-payload-size":      int64(102400),
		"config.toml:p2p.allow-duplicate-ip":               true,
		"app.toml:grpc.enable":                             false,
		"app.toml:iavl.pruning":                            "everything",
		"app.toml:sei.mode":                                "seed",
	})
}

func TestApply_Archive_IsAFullNodeToTheConsensusEngine(t *testing.T) {
	out := apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeArchive})
	wantValues(t, out, map[string]any{
		"config.toml:mode":                                    "full",
		"app.toml:sei.mode":                                   "archive",
		"app.toml:min-retain-blocks":                          int64(0),
		"app.toml:iavl.pruning":                               "nothing",
		"app.toml:state-store.ss-keep-recent":                 int64(0),
		"app.toml:receipt-store.keep-recent":                  int64(0),
		"app.toml:evm.max_trace_lookback_blocks":              int64(-1),
		"app.toml:state-commit.sc-keep-recent":                int64(1),
		"app.toml:state-commit.sc-snapshot-min-time-interval": int64(20000),
		"app.toml:concurrency-workers":                        int64(500),
		"app.toml:state-store.evm-ss-split":                   nil,
	})
}

// Every published default is either what a node gets from us or a difference
// that somebody decided on.
func TestApply_EveryMode_MatchesThePublishedDefaults(t *testing.T) {
	decided := map[string]string{
		"config.toml:log-format":                               "seid's own spelling of plain",
		"config.toml:p2p.laddr":                                "a seed listens on all addresses since v0.0.24",
		"config.toml:p2p.max-incoming-connection-attempts":     "32 for seeds since v0.0.25",
		"config.toml:p2p.max-packet-msg-payload-size":          "102400 for seeds since v0.0.24",
		"app.toml:evm.enabled_legacy_sei_apis":                 "an empty list would switch off what seid init switches on",
		"app.toml:eth_replay.eth_data_dir":                     "seid init writes the path of its own machine; unused on nodes",
		"app.toml:state-commit.sc-snapshot-interval":           "0 means the value that seid init writes out",
		"app.toml:state-commit.sc-snapshot-min-time-interval":  "0 means the value that seid init writes out",
		"app.toml:state-commit.sc-snapshot-prefetch-threshold": "0 means the value that seid init writes out",
		"app.toml:wasm.lru_size":                               "not read by seid",
	}
	moved := map[string]string{
		"app.toml:pruning": "app.toml:iavl.pruning", "app.toml:pruning-keep-recent": "app.toml:iavl.pruning-keep-recent",
		"app.toml:pruning-keep-every": "app.toml:iavl.pruning-keep-every", "app.toml:pruning-interval": "app.toml:iavl.pruning-interval",
	}
	used := map[string]bool{}
	for _, mode := range seid.Modes() {
		base := seid.ModeFull
		if mode == seid.ModeValidator {
			base = seid.ModeValidator
		}
		before := initFiles(t, base)
		out := apply(t, before, config.Intent{Mode: mode, CPUs: 2})
		for _, row := range rows(t, "published-defaults.tsv") {
			place, want := row["place"], row[string(mode)]
			got := show(at(out, place))
			if to, ok := moved[place]; ok {
				got = show(at(out, to))
			}
			if got == want {
				continue
			}
			if _, ok := decided[place]; ok {
				used[place] = true
				continue
			}
			if at(before, place) == nil && got == "-" {
				continue // this version of seid does not write the key
			}
			t.Errorf("%s, %s: got %s, published %s", mode, place, got, want)
		}
	}
	for place := range decided {
		if !used[place] {
			t.Errorf("%s is listed as a difference but is none", place)
		}
	}
}

func TestApply_SameInputTwice_GivesTheSameBytes(t *testing.T) {
	for _, mode := range seid.Modes() {
		intent := config.Intent{Mode: mode, Moniker: "n", CPUs: 4, Overrides: map[string]string{
			"evm.http_port": "9545", "config.toml:p2p.pex": "true", "app.toml:brand.new": "1", "storage.pruning": "nothing",
		}}
		first := apply(t, initFiles(t, "full"), intent)
		again := apply(t, initFiles(t, "full"), intent)
		over := apply(t, first, intent)
		if diff := cmp.Diff(encode(t, first), encode(t, again)); diff != "" {
			t.Errorf("%s: two runs differ:\n%s", mode, diff)
		}
		if diff := cmp.Diff(encode(t, first), encode(t, over)); diff != "" {
			t.Errorf("%s: applied to its own result it differs:\n%s", mode, diff)
		}
	}
}

func TestApply_DoesNotChangeItsInput(t *testing.T) {
	files, defaults := initFiles(t, "full"), initFiles(t, "validator")
	before, beforeDefaults := encode(t, files), encode(t, defaults)
	apply(t, files, config.Intent{Mode: "validator", Defaults: &defaults, Overrides: map[string]string{"evm.deny_list": "a", "app.toml:x.y": "1"}})
	if diff := cmp.Diff(before, encode(t, files)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
	if diff := cmp.Diff(beforeDefaults, encode(t, defaults)); diff != "" {
		t.Errorf("defaults changed:\n%s", diff)
	}
}

func TestApply_UnknownKeys_AreKept(t *testing.T) {
	files := parse(t, "mode='full'\nfuture='x'\n[rpc]\nnew-thing=3\n", "minimum-gas-prices='1usei'\n[unheard-of]\na=[1,2]\n")
	out := apply(t, files, config.Intent{Mode: "full"})
	wantValues(t, out, map[string]any{
		"config.toml:future": "x", "config.toml:rpc.new-thing": int64(3), "app.toml:unheard-of.a": []any{int64(1), int64(2)},
	})
}

func TestApply_WithDefaults_ForgetsOldOverridesAndKeepsUnmodelledKeys(t *testing.T) {
	defaults := initFiles(t, "full")
	first := apply(t, defaults, config.Intent{Mode: "full", Moniker: "n0", Defaults: &defaults, Overrides: map[string]string{
		"evm.http_port": "9999", "app.toml:rosetta.retries": "8", "app.toml:brand.new": "1",
	}})
	first, err := config.SetStateSync(first, config.StateSync{RPCServers: []string{"a:1", "b:1"}, TrustHeight: 5, TrustHash: strings.Repeat("AB", 32)})
	if err != nil {
		t.Fatal(err)
	}
	first, err = config.Patch(first, map[string]map[string]any{
		"app.toml": {"admin_server": map[string]any{"admin_enabled": true}}, "client.toml": {"keyring-backend": "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	second := apply(t, first, config.Intent{Mode: "full", Defaults: &defaults, Overrides: map[string]string{"logging.level": "error"}})
	wantValues(t, second, map[string]any{
		"app.toml:evm.http_port":              int64(8545), // the override is gone
		"app.toml:rosetta.retries":            int64(3),    // so is the raw one
		"app.toml:brand.new":                  nil,
		"app.toml:sei.raw-overrides":          nil,
		"config.toml:statesync.enable":        false, // a full apply comes before state sync
		"app.toml:admin_server.admin_enabled": true,  // patched, not modelled: kept
		"client.toml:keyring-backend":         "test",
		"config.toml:moniker":                 "n0",
		"config.toml:log-level":               "error",
	})
}

func TestApply_Pruning_GoesWhereSeidReadsIt(t *testing.T) {
	const minimal = "minimum-gas-prices='1usei'\n"
	intent := config.Intent{Mode: "full"}
	tests := map[string]struct {
		app  string
		want map[string]any
	}{
		"older seid": {minimal, map[string]any{"app.toml:pruning": "custom", "app.toml:iavl.pruning": nil}},
		"newer seid": {minimal + "[iavl]\npruning='nothing'\n", map[string]any{"app.toml:pruning": nil, "app.toml:iavl.pruning": "custom"}},
		"both":       {minimal + "pruning='default'\n[iavl]\npruning='nothing'\n", map[string]any{"app.toml:pruning": "custom", "app.toml:iavl.pruning": "custom"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := parse(t, "mode='full'\n", tc.app)
			wantValues(t, apply(t, files, intent), tc.want)
		})
	}
}

func TestApply_Incremental_ChangesOnlyWhatItNames(t *testing.T) {
	files := initFiles(t, "full")
	out := apply(t, files, config.Intent{Incremental: true, Overrides: map[string]string{"logging.level": "debug"}})
	changed := config.Diff(files, out)
	places := make([]string, 0, len(changed))
	for _, c := range changed {
		places = append(places, c.Place.String())
	}
	if diff := cmp.Diff([]string{"config.toml:log-level"}, places); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestApply_BadIntents_AreErrors(t *testing.T) {
	files := initFiles(t, "full")
	tests := map[string]struct {
		files  config.Files
		intent config.Intent
		want   []string
	}{
		"no mode":        {files, config.Intent{}, []string{"mode is required for non-incremental config resolution"}},
		"unknown mode":   {files, config.Intent{Mode: "light"}, []string{`invalid mode "light"`}},
		"old version":    {files, config.Intent{Mode: "full", TargetVersion: -1}, []string{"targetVersion -1 is not supported: want 1 to 2"}},
		"future version": {files, config.Intent{Mode: "full", TargetVersion: 3}, []string{"want 1 to 2"}},
		"no config.toml": {config.Files{App: files.App}, config.Intent{Mode: "full"}, []string{"config.toml is missing"}},
		"no app.toml":    {config.Files{Config: files.Config}, config.Intent{Mode: "full"}, []string{"app.toml is missing"}},
		"several bad keys": {files, config.Intent{Mode: "full", Overrides: map[string]string{"evm.htp_port": "1", "mempool.size": "x"}}, []string{
			`applying overrides: unknown override key "evm.htp_port": did you mean "evm.http_port"?`, `applying override "mempool.size"="x"`,
		}},
		"raw key, other file": {files, config.Intent{Mode: "full", Overrides: map[string]string{"genesis.json:x": "1"}}, []string{`unknown file "genesis.json"`}},
		"raw key, path":       {files, config.Intent{Mode: "full", Overrides: map[string]string{"../config.toml:x": "1"}}, []string{"is a path"}},
		"raw key, no key":     {files, config.Intent{Mode: "full", Overrides: map[string]string{"app.toml:": "1"}}, []string{"not a dotted path"}},
		"raw key, bad key":    {files, config.Intent{Mode: "full", Overrides: map[string]string{"app.toml:a..b": "1"}}, []string{"not a dotted path"}},
		"contradiction": {files, config.Intent{Mode: "full", Overrides: map[string]string{"network.p2p.pex": "true", "config.toml:p2p.pex": "false"}}, []string{
			`override "config.toml:p2p.pex" sets config.toml:p2p.pex to something else`,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := config.Apply(tc.files, tc.intent)
			wantErrorWith(t, err, tc.want...)
		})
	}
}

func TestApply_UnknownOverride_IsFoundByErrorsIs(t *testing.T) {
	_, err := config.Apply(initFiles(t, "full"), config.Intent{Mode: "full", Overrides: map[string]string{"nope": "1"}})
	if !errors.Is(err, config.ErrUnknownKey) {
		t.Errorf("got %v, want %v", err, config.ErrUnknownKey)
	}
}

func TestApply_ResultThatBreaksARule_IsAValidationError(t *testing.T) {
	_, err := config.Apply(initFiles(t, "validator"), config.Intent{Mode: "validator", Overrides: map[string]string{"storage.snapshot_interval": "2000"}})
	invalid, ok := errors.AsType[*config.ValidationError](err)
	if !ok || len(invalid.Diagnostics) != 1 || invalid.Diagnostics[0].Field != "storage.snapshot_interval" {
		t.Fatalf("got %v, want a ValidationError with one diagnostic, about %q", err, "storage.snapshot_interval")
	}
	wantErrorWith(t, err, `config validation failed: [{"severity":"ERROR","field":"storage.snapshot_interval","message":"`)
}

func TestApply_SameValueTwice_IsNoContradiction(t *testing.T) {
	apply(t, initFiles(t, "full"), config.Intent{Mode: "full", Overrides: map[string]string{
		"network.p2p.pex": "true", "config.toml:p2p.pex": "1", "mode": "full", "version": "2", "chain.chain_id": "x-1",
	}})
}

func TestApply_SnapshotsOnAFullNode_AreAccepted(t *testing.T) {
	out := apply(t, initFiles(t, "full"), config.Intent{Mode: "full", Overrides: map[string]string{
		"storage.snapshot_interval": "2000", "storage.snapshot_keep_recent": "3",
		"storage.pruning_keep_recent": "50000", "storage.pruning_keep_every": "0", "chain.min_retain_blocks": "50000",
	}})
	wantValues(t, out, map[string]any{
		"app.toml:state-sync.snapshot-interval":    int64(2000),
		"app.toml:state-sync.snapshot-keep-recent": int64(3),
		"app.toml:iavl.pruning-keep-recent":        "50000",
		"app.toml:iavl.pruning-keep-every":         "0",
		"app.toml:min-retain-blocks":               int64(50000),
	})
}

func TestApply_WorkerPools_FollowTheCPUsOfTheNode(t *testing.T) {
	tests := []struct {
		mode             seid.Mode
		cpus             int
		workers, evmPool int64
	}{
		{"validator", 0, 10, 4}, // as seid init sized them
		{"validator", 1, 10, 2},
		{"validator", 32, 64, 64},
		{"validator", 96, 128, 64},
		{"full", 0, 500, 4},
		{"full", 8, 500, 16},
	}
	for _, tc := range tests {
		out := apply(t, initFiles(t, "full"), config.Intent{Mode: tc.mode, CPUs: tc.cpus})
		wantValues(t, out, map[string]any{"app.toml:concurrency-workers": tc.workers, "app.toml:evm.worker_pool_size": tc.evmPool})
	}
}
