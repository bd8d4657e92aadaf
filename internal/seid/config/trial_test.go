package config_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func scratch() config.Scratch {
	next := 40000
	return config.Scratch{Dir: "/scratch", Home: "/home/nonroot/.sei", Listen: func() (string, error) {
		next++
		return fmt.Sprintf("127.0.0.1:%d", next), nil
	}}
}

func forTrial(t *testing.T, files config.Files) config.Trial {
	t.Helper()
	trial, err := config.ForTrial(files, scratch())
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

func TestForTrial_NothingLeadsOutOfTheScratchHome(t *testing.T) {
	set := map[string]string{
		"config.toml:p2p.persistent-peers": peerA + "," + peerB, "config.toml:p2p.external-address": "node.example:1", "config.toml:db-dir": "/home/nonroot/.sei/data", "config.toml:consensus.wal-file": "../wal",
		"config.toml:priv-validator.key-file": "/keys/pv.json", "config.toml:priv-validator.laddr": "tcp://0.0.0.0:26659", "config.toml:genesis-file": "/g.json",
		"app.toml:state-store.ss-db-directory": "/home/nonroot/.sei/ss", "app.toml:state-sync.snapshot-directory": "data/../../x",
		"config.toml:tx-index.indexer": `["psql"]`, "config.toml:tx-index.psql-conn": "postgresql://db/x",
	}
	maps.Copy(set, stateSyncOn())
	files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), set)
	trial := forTrial(t, files)
	for name, text := range encode(t, trial.Files) {
		for line := range strings.Lines(text) {
			_, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
			value = strings.Trim(value, "'")
			outside := strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "/scratch/")
			if outside || strings.Contains(value, "..") || strings.Contains(value, "0.0.0.0") || strings.Contains(value, "example") || strings.Contains(value, "postgres") && !strings.HasPrefix(line, "psql-conn") {
				t.Errorf("%s: %s, want nothing outside of /scratch, open to the network or for example only", name, line)
			}
		}
	}
	wantValues(t, trial.Files, map[string]any{
		"config.toml:statesync.enable": false, "config.toml:priv-validator.laddr": "", "config.toml:genesis-file": "config/genesis.json",
		"config.toml:p2p.persistent-peers": strings.Repeat("0", 40) + "@127.0.0.1:1", "app.toml:grpc.address": trial.Ready, "app.toml:api.enable": false,
	})
	if !strings.HasPrefix(trial.Ready, "127.0.0.1:") || trial.Settle > time.Second {
		t.Errorf("trial is ready at %q, after %s", trial.Ready, trial.Settle)
	}
}

// What is malformed must reach seid as it is.
func TestForTrial_WhatIsMalformed_Stays(t *testing.T) {
	for place, value := range map[string]string{
		"config.toml:p2p.persistent-peers": "nobody@", "config.toml:rpc.laddr": "0.0.0.0:26657", "config.toml:p2p.laddr": "tcp://x",
		"app.toml:grpc.address": "tcp://0.0.0.0:9090", "app.toml:api.address": "x", "app.toml:evm.http_port": "70000",
		"config.toml:p2p.external-address": ":1", "app.toml:minimum-gas-prices": "0.01x;", "config.toml:log-level": "loud",
	} {
		files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), map[string]string{place: value})
		if got, want := at(forTrial(t, files).Files, place), at(files, place); got != want {
			t.Errorf("%s is %v, want %v", place, got, want)
		}
	}
}

// A certificate is only read, and found wherever the node has it.
func TestForTrial_Certificates_AreThoseOfTheNode(t *testing.T) {
	files := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeFull}), map[string]string{
		"config.toml:rpc.tls-cert-file": "rpc.pem", "config.toml:rpc.tls-key-file": "/tls/rpc.key", "config.toml:node-key-file": "keys/node.json",
	})
	wantValues(t, forTrial(t, files).Files, map[string]any{
		"config.toml:rpc.tls-cert-file": "/home/nonroot/.sei/config/rpc.pem", "config.toml:rpc.tls-key-file": "/tls/rpc.key",
		"config.toml:node-key-file": "config/node_key.json",
	})
}

func TestForTrial_Seed_IsReadyWhenItsPeersCanReachIt(t *testing.T) {
	trial := forTrial(t, apply(t, initFiles(t, "full"), config.Intent{Mode: seid.ModeSeed}))
	wantValues(t, trial.Files, map[string]any{"config.toml:p2p.laddr": "tcp://" + trial.Ready, "app.toml:grpc.enable": false})
	if trial.Settle == 0 {
		t.Error("a seed that ends right after it listens would pass")
	}
}

func TestTrialDigest_IsThatOfWhatATrialJudges(t *testing.T) {
	digest := func(mode seid.Mode, set map[string]string) string {
		t.Helper()
		got, err := force(t, apply(t, initFiles(t, "full"), config.Intent{Mode: mode}), set).TrialDigest()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := digest("full", nil)
	for place, value := range map[string]string{
		"config.toml:p2p.persistent-peers": peerA, "config.toml:moniker": "other", "config.toml:p2p.external-address": "a.example:1",
		"config.toml:rpc.laddr": "tcp://0.0.0.0:1", "config.toml:statesync.trust-height": "9", "app.toml:sei.version": "1",
	} {
		if digest("full", map[string]string{place: value}) != plain {
			t.Errorf("%s = %s calls for another trial", place, value)
		}
	}
	for place, value := range map[string]string{
		"config.toml:p2p.persistent-peers": "nobody@", "config.toml:p2p.external-address": ":1", "config.toml:mempool.size": "9", "config.toml:rpc.laddr": "x",
	} {
		if digest("full", map[string]string{place: value}) == plain {
			t.Errorf("%s = %s would never be tried", place, value)
		}
	}
}
