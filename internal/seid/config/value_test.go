package config_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestApply_OverrideValues_AreWrittenInTheirOwnType(t *testing.T) {
	tests := map[string]struct {
		key, value, place string
		want              any
	}{
		"bool":                {"evm.slow", "yes", "app.toml:evm.slow", true},
		"bool as digit":       {"evm.slow", "0", "app.toml:evm.slow", false},
		"int":                 {"mempool.size", "5000", "config.toml:mempool.size", int64(5000)},
		"negative int":        {"evm.max_trace_lookback_blocks", "-1", "app.toml:evm.max_trace_lookback_blocks", int64(-1)},
		"uint":                {"chain.halt_height", "12345678901", "app.toml:halt-height", int64(12345678901)},
		"float":               {"mempool.drop_priority_threshold", "0.25", "config.toml:mempool.drop-priority-threshold", 0.25},
		"whole float":         {"mempool.drop_utilisation_threshold", "1", "config.toml:mempool.drop-utilisation-threshold", 1.0},
		"duration":            {"evm.read_timeout", "90s", "app.toml:evm.read_timeout", "1m30s"},
		"text":                {"logging.level", "error", "config.toml:log-level", "error"},
		"text like a number":  {"chain.moniker", "007", "config.toml:moniker", "007"},
		"list":                {"evm.deny_list", "a, b", "app.toml:evm.deny_list", []any{"a", "b"}},
		"empty list":          {"network.rpc.cors_allowed_origins", "", "config.toml:rpc.cors-allowed-origins", []any{}},
		"comma list":          {"state_sync.rpc_servers", "a:1, b:2", "config.toml:statesync.rpc-servers", "a:1,b:2"},
		"digits":              {"storage.pruning_keep_recent", "50000", "app.toml:iavl.pruning-keep-recent", "50000"},
		"labels":              {"metrics.global_labels", "chain=x,zone=y", "app.toml:telemetry.global-labels", []any{[]any{"chain", "x"}, []any{"zone", "y"}}},
		"pointer to bool":     {"consensus.unsafe_bypass_commit_timeout_override", "true", "config.toml:consensus.unsafe-bypass-commit-timeout-override", true},
		"raw, unified place":  {"config.toml:p2p.max-connections", "7", "config.toml:p2p.max-connections", int64(7)},
		"raw, typed by file":  {"app.toml:rosetta.retries", "9", "app.toml:rosetta.retries", int64(9)},
		"raw, text by file":   {"app.toml:rosetta.network", "9", "app.toml:rosetta.network", "9"},
		"raw, bool by file":   {"app.toml:rosetta.offline", "true", "app.toml:rosetta.offline", true},
		"raw, new number":     {"app.toml:brand.new-key", "12", "app.toml:brand.new-key", int64(12)},
		"raw, new bool":       {"app.toml:brand.new-key", "true", "app.toml:brand.new-key", true},
		"raw, new list":       {"app.toml:brand.new-key", `["a"]`, "app.toml:brand.new-key", []any{"a"}},
		"raw, new text":       {"app.toml:brand.new-key", "tcp://x", "app.toml:brand.new-key", "tcp://x"},
		"raw, new quoted":     {"app.toml:brand.new-key", `"12"`, "app.toml:brand.new-key", "12"},
		"raw, not a document": {"app.toml:brand.new-key", "1\nx = 2", "app.toml:brand.new-key", "1\nx = 2"},
		"raw, client":         {"client.toml:output", "json", "client.toml:output", "json"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := apply(t, initFiles(t, "full"), config.Intent{Incremental: true, Overrides: map[string]string{tc.key: tc.value}})
			wantValues(t, out, map[string]any{tc.place: tc.want})
		})
	}
}

func TestApply_BadOverrideValues_AreErrorsThatNameKeyAndValue(t *testing.T) {
	tests := map[string]struct{ key, value, want string }{
		"digits then letters": {"mempool.size", "10abc", `"10abc" is not a whole number`},
		"fraction":            {"mempool.size", "1.5", "not a whole number"},
		"empty number":        {"mempool.size", "", "not a whole number"},
		"too large":           {"chain.halt_height", "9223372036854775808", "not a whole number of at least 0"},
		"negative uint":       {"chain.halt_height", "-1", "not a whole number of at least 0"},
		"not a bool":          {"evm.slow", "maybe", "want true or false"},
		"not a float":         {"mempool.drop_priority_threshold", "NaN", "not a number"},
		"duration, no unit":   {"evm.read_timeout", "30", "is not a duration"},
		"list with a gap":     {"evm.deny_list", "a,,b", "has an empty entry"},
		"letters in digits":   {"storage.pruning_interval", "1x", "not a whole number"},
		"label without value": {"metrics.global_labels", "chain", "want name=value"},
		"raw bool":            {"app.toml:rosetta.offline", "perhaps", "want true or false"},
		"raw number":          {"app.toml:rosetta.retries", "three", "not a whole number"},
		"raw, section":        {"app.toml:rosetta", "x", "rosetta is a section"},
		"raw, below a value":  {"app.toml:rosetta.network.x", "x", "rosetta.network is a value"},
		"version":             {"version", "1", "set by the intent"},
		"mode":                {"mode", "seed", "set by the intent"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := apply(t, initFiles(t, "full"), config.Intent{Mode: "full"})
			_, err := config.Apply(files, config.Intent{Incremental: true, Overrides: map[string]string{tc.key: tc.value}})
			wantErrorWith(t, err, `applying override "`+tc.key+`"=`, tc.want)
		})
	}
}
