package config_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// What the rules of a starting seid refuse, and what they let pass. That seid itself does
// the same is shown by the trial starts in test/sidecar.
func TestValidate_WhatSeidEndsOver(t *testing.T) {
	id := strings.Repeat("ab", 20)
	without := config.Facts{BuildTags: []string{"netgo"}}
	older := config.Facts{Defaults: new(initFiles(t, "full"))}
	for key, tc := range map[string]struct {
		place     string
		facts     config.Facts
		also      map[string]string
		bad, good []string
	}{
		"chain.min_gas_prices": {
			place: "app.toml:minimum-gas-prices",
			bad:   []string{"0.01", "usei", "-1usei", "0.01usei;1uatom", "0.01usei,", "1usei,2usei", "0.1234567890123456789usei", "1us", ".5usei"},
			good:  []string{"''", "0.01usei", "0usei", "1 usei", "0.02usei,1ibc/ABC"},
		},
		"network.p2p.persistent_peers": {
			place: "config.toml:p2p.persistent-peers",
			bad:   []string{"a.example:26656", "xyz@a.example:26656", id + "@", id + "@:26656", id + "@a:99999", id + "@a:1," + id},
			good:  []string{"''", id + "@a.example:26656", id + "@[2001:db8::1]:26656", id + "@a", "mconn://" + id + "@a:1", strings.ToUpper(id) + "@a:1, ," + id + "@b:2"},
		},
		"network.p2p.unconditional_peer_ids": {
			place: "config.toml:p2p.unconditional-peer-ids", bad: []string{"abc", strings.ToUpper(id), id + "@a:1"}, good: []string{"''", id, id + ", " + id},
		},
		"network.p2p.private_peer_ids": {
			place: "config.toml:p2p.private-peer-ids", bad: []string{"abc", id + "00"}, good: []string{"''", id},
		},
		"network.p2p.external_address": {
			place: "config.toml:p2p.external-address", bad: []string{":26656", "a:b", "a b:1"}, good: []string{"''", "a.example:26656", "tcp://1.2.3.4:1", "[::1]:1", "a"},
		},
		"network.rpc.listen_address": {
			place: "config.toml:rpc.laddr", bad: []string{"0.0.0.0:26657", "tcp://nonsense", "tcp://:99999", "tcp://0.0.0.0", "http://a:1"},
			good: []string{"''", "tcp://0.0.0.0:26657", "tcp://:26657", "unix:///tmp/x.sock", "tcp://[::]:1"},
		},
		"network.p2p.listen_address": {
			place: "config.toml:p2p.laddr", bad: []string{"''", "tcp://nonsense", "tcp://0.0.0.0:x", "26656", "tcp://0.0.0.0:0"}, good: []string{"tcp://0.0.0.0:26656", "0.0.0.0:26656", "tcp://:1"},
		},
		"api.grpc.address": {
			place: "app.toml:grpc.address", bad: []string{"tcp://0.0.0.0:9090", "9090", "0.0.0.0:port"}, good: []string{"0.0.0.0:9090", ":9090"},
		},
		"logging.level": {
			place: "config.toml:log-level", bad: []string{"trace", "fatal", "''", "verbose"}, good: []string{"info", "DEBUG", "warn", "error", "info+1"},
		},
		"tx_index.indexer": {
			place: "config.toml:tx-index.indexer", bad: []string{`["sqlite"]`, `["kv","kv"]`}, good: []string{`["kv"]`, `["null"]`, `[]`, `["KV"]`},
		},
		"tx_index.psql_conn": {
			place: "config.toml:tx-index.psql-conn", also: map[string]string{"config.toml:tx-index.indexer": `["psql"]`}, bad: []string{"''"}, good: []string{"postgresql://a/b"},
		},
		"storage.db_backend": {
			place: "config.toml:db-backend", facts: without, bad: []string{"leveldb", "rocksdb", "pebbledb"}, good: []string{"goleveldb", "memdb"},
		},
		"storage.receipt_store.backend": {
			place: "app.toml:receipt-store.rs-backend", bad: []string{"rocksdb", "''"}, good: []string{"pebbledb", "parquet", "Pebble"},
		},
		"storage.state_store.backend": {
			place: "app.toml:state-store.ss-backend", facts: without, bad: []string{"rocksdb"}, good: []string{"pebbledb"},
		},
		"storage.state_commit.write_mode": {
			place: "app.toml:state-commit.sc-write-mode", facts: older, bad: []string{"memiavl_only", "flatkv_only"}, good: []string{"cosmos_only"},
		},
		"state_sync.chunk_request_timeout": {
			place: "config.toml:statesync.chunk-request-timeout", also: stateSyncOn(), bad: []string{"0s", "-1s"}, good: []string{"5s", "4s"},
		},
	} {
		check := func(value string, wantBad bool) {
			t.Helper()
			files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), merged(map[string]string{tc.place: value}, tc.also))
			d := config.Validate(files, tc.facts)
			if d.HasErrors() != wantBad {
				t.Errorf("%s = %s: got %s", key, value, d.JSON())
				return
			}
			shown := strings.Trim(value, `'[]"`)
			if wantBad && (d[0].Field != key || !strings.Contains(d[0].Message, "want") && !strings.Contains(d[0].Message, "such as") && !strings.Contains(d[0].Message, "is not")) {
				t.Errorf("%s = %s: message does not say what is allowed: %s", key, shown, d.JSON())
			}
		}
		for _, value := range tc.bad {
			check(value, true)
		}
		for _, value := range tc.good {
			check(value, false)
		}
	}
}

// seid starts with these: they are worth a word and no more.
func TestValidate_ShortStateSyncTimes_AreWarnings(t *testing.T) {
	for key, place := range map[string]string{
		"state_sync.discovery_time": "config.toml:statesync.discovery-time", "state_sync.chunk_request_timeout": "config.toml:statesync.chunk-request-timeout",
	} {
		for value, want := range map[string]bool{"4s": true, "5s": false} {
			files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), merged(map[string]string{place: value}, stateSyncOn()))
			d := config.Validate(files, config.Facts{})
			warned := strings.Contains(d.JSON(), key)
			if d.HasErrors() || warned != want {
				t.Errorf("%s = %s: %s", key, value, d.JSON())
			}
		}
	}
}

func stateSyncOn() map[string]string {
	return map[string]string{
		"config.toml:statesync.enable": "true", "config.toml:statesync.rpc-servers": "a:1,b:1", "config.toml:statesync.trust-height": "10",
		"config.toml:statesync.trust-hash": strings.Repeat("ab", 32),
	}
}

// What cannot be known from the files alone is not refused without the knowledge.
func TestValidate_WithoutFacts_LeavesBuildsAndVersionsAlone(t *testing.T) {
	for place, value := range map[string]string{
		"config.toml:db-backend": "rocksdb", "app.toml:state-store.ss-backend": "rocksdb", "app.toml:state-commit.sc-write-mode": "memiavl_only",
	} {
		files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), map[string]string{place: value})
		if d := config.Validate(files, config.Facts{}); d.HasErrors() {
			t.Errorf("%s = %s: %s", place, value, d.JSON())
		}
	}
	files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), map[string]string{"app.toml:state-store.ss-backend": "rocksdb"})
	if d := config.Validate(files, config.Facts{BuildTags: []string{"rocksdbBackend"}}); d.HasErrors() {
		t.Errorf("a build with RocksDB: %s", d.JSON())
	}
}
