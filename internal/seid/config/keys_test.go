package config_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestKeys_CoverEveryPublishedKeyAndNoOther(t *testing.T) {
	published := rows(t, "unified-keys.tsv")
	want := make([]string, 0, len(published))
	for _, row := range published {
		want = append(want, row["key"])
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, config.Keys()); diff != "" {
		t.Errorf("(-published +table):\n%s", diff)
	}
}

func TestKeyInfo_TypesAndHotReload_AreThePublishedOnes(t *testing.T) {
	// Kinds that say more than the published type does.
	finer := map[config.Kind]string{
		config.KindDigits: "string", config.KindCommaList: "[]string", config.KindLabels: "other",
	}
	var hot []string
	for _, row := range rows(t, "unified-keys.tsv") {
		key, err := config.KeyInfo(row["key"])
		if err != nil {
			t.Error(err)
			continue
		}
		got := string(key.Kind)
		if published, ok := finer[key.Kind]; ok {
			got = published
		}
		if got != row["type"] {
			t.Errorf("%s: kind %s, published type %s", key.Name, key.Kind, row["type"])
		}
		if key.HotReload {
			hot = append(hot, key.Name)
		}
		if key.HotReload != (row["hotreload"] == "true") {
			t.Errorf("%s: hot reload is %v", key.Name, key.HotReload)
		}
	}
	slices.Sort(hot)
	if diff := cmp.Diff(config.HotReloadable(), hot); diff != "" {
		t.Errorf("hot-reloadable keys (-list +table):\n%s", diff)
	}
}

func TestKeyInfo_EveryPlaceBelongsToOneKey(t *testing.T) {
	owner := map[config.Place]string{}
	for _, name := range config.Keys() {
		key, _ := config.KeyInfo(name)
		if len(key.Places) == 0 && name != "chain.chain_id" {
			t.Errorf("%s is written nowhere", name)
		}
		for _, p := range slices.Concat(key.Places, key.Variants) {
			if other, taken := owner[p]; taken {
				t.Errorf("%s belongs to %s and to %s", p, other, name)
			}
			owner[p] = name
			if p.File != config.ConfigToml && p.File != config.AppToml || p.Path == "" {
				t.Errorf("%s: bad place %q", name, p)
			}
		}
	}
}

func TestKeyInfo_PlacesExistInTheRealFilesOrInThePublishedOnes(t *testing.T) {
	known := map[string]bool{
		// Read by seid, printed by no version.
		"config.toml:consensus.unsafe-bypass-commit-timeout-override": true,
		"app.toml:state-store.evm-ss-db-directory":                    true,
		"app.toml:state-store.evm-ss-write-mode":                      true,
		"app.toml:state-store.evm-ss-read-mode":                       true,
		// What later versions call them.
		"app.toml:state-store.ss-write-mode": true,
		"app.toml:state-store.ss-read-mode":  true,
		// Left out of the published table because it names a machine.
		"app.toml:eth_replay.eth_rpc": true,
	}
	for _, row := range rows(t, "published-defaults.tsv") {
		known[row["place"]] = true
	}
	files := initFiles(t, "full")
	for _, name := range config.Keys() {
		key, _ := config.KeyInfo(name)
		for _, p := range slices.Concat(key.Places, key.Variants) {
			if !known[p.String()] && at(files, p.String()) == nil {
				t.Errorf("%s: nothing is at %s", name, p)
			}
		}
	}
}

func TestKeyInfo_IrregularNames(t *testing.T) {
	tests := map[string]string{
		"network.rpc.listen_address":                               "config.toml:rpc.laddr",
		"network.rpc.pprof_listen_address":                         "config.toml:rpc.pprof-laddr",
		"network.p2p.listen_address":                               "config.toml:p2p.laddr",
		"consensus.wal_path":                                       "config.toml:consensus.wal-file",
		"consensus.gossip_transaction_key_only":                    "config.toml:consensus.gossip-tx-key-only",
		"state_sync.rpc_servers":                                   "config.toml:statesync.rpc-servers",
		"priv_validator.listen_addr":                               "config.toml:priv-validator.laddr",
		"self_remediation.p2p_no_peers_restart_window_seconds":     "config.toml:self-remediation.p2p-no-peers-available-window-seconds",
		"chain.min_gas_prices":                                     "app.toml:minimum-gas-prices",
		"api.rest.enable_unsafe_cors":                              "app.toml:api.enabled-unsafe-cors",
		"storage.iavl_disable_fast_node":                           "app.toml:iavl-disable-fastnode",
		"storage.snapshot_interval":                                "app.toml:state-sync.snapshot-interval",
		"storage.state_commit.memiavl.snapshot_keep_recent":        "app.toml:state-commit.sc-keep-recent",
		"storage.state_store.prune_interval_seconds":               "app.toml:state-store.ss-prune-interval",
		"storage.state_store.evm_ss_split":                         "app.toml:state-store.evm-ss-split",
		"storage.receipt_store.backend":                            "app.toml:receipt-store.rs-backend",
		"evm.query.gas_limit":                                      "app.toml:evm_query.evm_query_gas_limit",
		"evm.replay.contract_state_checks":                         "app.toml:eth_replay.eth_replay_contract_state_checks",
		"metrics.prometheus_retention_time":                        "app.toml:telemetry.prometheus-retention-time",
		"storage.state_commit.memiavl.snapshot_min_time_interval":  "app.toml:state-commit.sc-snapshot-min-time-interval",
		"self_remediation.blocks_behind_check_interval_seconds":    "config.toml:self-remediation.blocks-behind-check-interval",
		"storage.db_path":                                          "config.toml:db-dir",
		"network.rpc.experimental_disable_websocket":               "config.toml:rpc.experimental-disable-websocket",
		"storage.state_commit.memiavl.snapshot_prefetch_threshold": "app.toml:state-commit.sc-snapshot-prefetch-threshold",
	}
	for name, want := range tests {
		key, err := config.KeyInfo(name)
		if err != nil || len(key.Places) == 0 || key.Places[0].String() != want {
			t.Errorf("%s: got %v, %v, want %s", name, key.Places, err, want)
		}
	}
}

func TestKeyInfo_UnknownKey_SuggestsTheNearest(t *testing.T) {
	tests := map[string]string{
		"evm.htp_port":             `did you mean "evm.http_port"?`,
		"evm.http-port":            `did you mean "evm.http_port"?`,
		"network.p2p.persistent":   `did you mean "network.p2p.persistent_peers"?`,
		"logging.levl":             `did you mean "logging.level"?`,
		"storage.state_store.enab": `did you mean "storage.state_store.enable"?`,
		"zzz":                      "neither a unified key nor a raw one",
		"":                         "neither a unified key nor a raw one",
	}
	for name, want := range tests {
		_, err := config.KeyInfo(name)
		if !errors.Is(err, config.ErrUnknownKey) {
			t.Errorf("%q: got %v", name, err)
		}
		wantErrorWith(t, err, want)
	}
}
