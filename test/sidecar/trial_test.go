package sidecar_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// bench starts the real seid on configurations for a moment.
type bench struct {
	home, binary, version string
	defaults              map[seid.Mode]config.Files
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{home: t.TempDir(), binary: handlertest.SeidPath(t), defaults: map[seid.Mode]config.Files{}}
	runner := seidcmd.Runner{Path: b.binary}
	var err error
	if b.version, err = runner.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, mode := range seid.Modes() {
		dir := filepath.Join(t.TempDir(), string(mode))
		if _, err := runner.Run(t.Context(), seidcmd.Call{Args: []string{"init", "x", "--chain-id", "x-1", "--home", dir, "--mode", string(mode.ConsensusEngineMode())}}); err != nil {
			t.Fatal(err)
		}
		if b.defaults[mode], err = config.Read(filepath.Join(dir, "config")); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// files are those of a mode with raw keys set past every check.
func (b *bench) files(t *testing.T, mode seid.Mode, patch string) config.Files {
	t.Helper()
	defaults := b.defaults[mode]
	files, err := config.Apply(defaults, config.Intent{Mode: mode, Defaults: &defaults})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range splitPatch(patch) {
		tree, err := config.ParsePatch([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if files, err = config.Patch(files, map[string]map[string]any{file: tree}); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// splitPatch reads `config {"a":1} app {"b":2}`.
func splitPatch(patch string) map[string]string {
	found := map[string]string{}
	for part := range strings.SplitSeq(patch, "; ") {
		name, text, ok := strings.Cut(part, " ")
		if ok {
			found[name+".toml"] = text
		}
	}
	return found
}

func (b *bench) try(ctx context.Context, t *testing.T, files config.Files) trial.Result {
	t.Helper()
	got, err := trial.Try(ctx, b.home, []string{b.binary}, b.version, files)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(b.home, "tmp")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
	return got
}

const (
	aPeer  = "abababababababababababababababababababab@seed.example:26656"
	aSync  = `"enable":true,"rpc-servers":"127.0.0.1:1,127.0.0.1:2","trust-height":5,"trust-hash":"abababababababababababababababababababababababababababababababab"`
	anID   = "abababababababababababababababababababab"
	notOne = "ABABABABABABABABABABABABABABABABABABABAB"
)

// Every value that the static rules refuse because seid ends over it is given to the real
// seid, and so is what they let pass.
func TestTrialStart_TheRealSeid_AgreesWithTheStaticRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	began := time.Now()
	for _, tc := range []struct {
		name  string
		mode  seid.Mode
		patch string
		// words are seid's own; empty: seid starts.
		words string
	}{
		{"full", seid.ModeFull, "", ""},
		{"validator", seid.ModeValidator, "", ""},
		{"seed", seid.ModeSeed, "", ""},
		{"archive", seid.ModeArchive, "", ""},
		{"no gas price", seid.ModeValidator, `app {"minimum-gas-prices":""}`, ""},
		{"good values", seid.ModeFull, `config {"p2p":{"persistent-peers":"` + aPeer + `, mconn://` + notOne + `@b.example","unconditional-peer-ids":"` + anID + `","private-peer-ids":"` + anID +
			`","external-address":"tcp://node.example:26656"},"statesync":{` + aSync + `,"discovery-time":"4s","chunk-request-timeout":"4s"},"log-level":"WARN","tx-index":{"indexer":["KV"]},"db-backend":"memdb"}; ` +
			`app {"minimum-gas-prices":"0usei,0.5uatom","receipt-store":{"rs-backend":"Pebble"},"grpc":{"address":":9090"}}`, ""},
		{"directories of the node", seid.ModeFull, `config {"db-dir":"/nonexistent/data"}; app {"state-store":{"ss-db-directory":"/nonexistent/ss"}}`, ""},
		{"gas price", seid.ModeValidator, `app {"minimum-gas-prices":"0.01"}`, "invalid decimal coin expression: 0.01"},
		{"gas prices apart", seid.ModeValidator, `app {"minimum-gas-prices":"1usei;2uatom"}`, "invalid decimal coin expression"},
		{"gas price twice", seid.ModeValidator, `app {"minimum-gas-prices":"1usei,2usei"}`, "duplicate"},
		{"peer", seid.ModeValidator, `config {"p2p":{"persistent-peers":"seed.example:26656"}}`, "invalid peer address"},
		{"peer port", seid.ModeValidator, `config {"p2p":{"persistent-peers":"` + anID + `@a:99999"}}`, "invalid port"},
		{"unconditional peer", seid.ModeValidator, `config {"p2p":{"unconditional-peer-ids":"abc"}}`, "invalid node ID length"},
		{"unconditional peer in capitals", seid.ModeValidator, `config {"p2p":{"unconditional-peer-ids":"` + notOne + `"}}`, "lowercased hex"},
		{"private peer", seid.ModeValidator, `config {"p2p":{"private-peer-ids":"abc"}}`, "invalid node ID length"},
		{"external address", seid.ModeValidator, `config {"p2p":{"external-address":":26656"}}`, "ExternalAddress"},
		{"RPC address", seid.ModeValidator, `config {"rpc":{"laddr":"0.0.0.0:26657"}}`, "invalid listening address"},
		{"RPC port", seid.ModeValidator, `config {"rpc":{"laddr":"tcp://0.0.0.0"}}`, "missing port"},
		{"P2P address", seid.ModeValidator, `config {"p2p":{"laddr":"tcp://0.0.0.0:x"}}`, "unknown port"},
		{"P2P port 0", seid.ModeValidator, `config {"p2p":{"laddr":"tcp://127.0.0.1:0"}}`, "listening on anyport (i.e. 0) is not allowed"},
		{"no P2P address", seid.ModeValidator, `config {"p2p":{"laddr":""}}`, "seid"},
		{"gRPC address", seid.ModeValidator, `app {"grpc":{"address":"tcp://0.0.0.0:9090"}}`, "too many colons"},
		{"log level", seid.ModeValidator, `config {"log-level":"trace"}`, "failed to parse log level (trace)"},
		{"no log level", seid.ModeValidator, `config {"log-level":""}`, "failed to parse log level"},
		{"indexer", seid.ModeValidator, `config {"tx-index":{"indexer":["sqlite"]}}`, "unsupported event sink type"},
		{"indexer twice", seid.ModeValidator, `config {"tx-index":{"indexer":["kv","kv"]}}`, "duplicated sinks"},
		{"psql without a connection", seid.ModeValidator, `config {"tx-index":{"indexer":["psql"]}}`, "psql connection settings cannot be empty"},
		{"database", seid.ModeValidator, `config {"db-backend":"leveldb"}`, "unknown db_backend leveldb"},
		{"database of another build", seid.ModeValidator, `config {"db-backend":"rocksdb"}`, "unknown db_backend rocksdb"},
		{"receipts", seid.ModeValidator, `app {"receipt-store":{"rs-backend":"rocksdb"}}`, "unsupported receipt-store backend"},
		{"no receipts", seid.ModeValidator, `app {"receipt-store":{"rs-backend":""}}`, "unsupported receipt-store backend"},
		{"state store", seid.ModeFull, `app {"state-store":{"ss-backend":"rocksdb"}}`, "rocksdb"},
		{"write mode", seid.ModeValidator, `app {"state-commit":{"sc-write-mode":"memiavl_only"}}`, "invalid write"},
		{"seed with gRPC", seid.ModeSeed, `app {"grpc":{"enable":true,"address":"127.0.0.1:0"}}`, ""},
	} {
		files := b.files(t, tc.mode, tc.patch)
		facts := config.Facts{Defaults: new(b.defaults[tc.mode]), BuildTags: []string{"netgo"}}
		static := config.Validate(files, facts)
		moment := time.Now()
		got := b.try(t.Context(), t, files)
		t.Logf("%5dms %-30s %s%s", time.Since(moment).Milliseconds(), tc.name, got.Refused, got.Skipped)
		if static.HasErrors() != (tc.words != "") {
			t.Errorf("%s: the static rules say %s", tc.name, static.JSON())
		}
		if !got.Tried || (got.Refused == "") != (tc.words == "") || !strings.Contains(got.Refused, tc.words) {
			t.Errorf("%s: the trial says %+v, want %q", tc.name, got, tc.words)
		}
	}
	t.Logf("all trials took %s", time.Since(began).Round(time.Second))
}
