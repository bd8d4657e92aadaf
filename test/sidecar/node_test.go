// Package sidecar_test runs real nodes under real sidecars: the chain binary of
// tools/seid, started by the gate, steered by HTTP tasks alone. Everything listens
// on loopback.
package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// node is a home, its sidecar and, once started, its pod.
type node struct {
	*crashtest.Sidecar
	t       testing.TB
	name    string
	chainID string
	home    string
	port    int // of the sidecar
	rpcPort int
	p2pPort int
	pod     *pod
	nodeID  string
}

// freePort finds a port below those the kernel gives to outgoing connections: it
// is free now and nobody gets it by chance before the node does.
func freePort(tb testing.TB) int {
	tb.Helper()
	const lowest, highest = 20000, 32000
	for range 100 {
		port := lowest + rand.IntN(highest-lowest)
		l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		_ = l.Close()
		return port
	}
	tb.Fatal("no free port")
	return 0
}

// newNode makes an empty home with a sidecar over it. Bucket addresses are
// optional; more environment is added to the sidecar's.
func newNode(tb testing.TB, chainID, name, bucket string, more ...string) *node {
	tb.Helper()
	n := &node{
		t: tb, name: name, chainID: chainID, home: filepath.Join(tb.TempDir(), name),
		port: freePort(tb), rpcPort: freePort(tb), p2pPort: freePort(tb),
	}
	if err := os.MkdirAll(n.home, 0o750); err != nil {
		tb.Fatal(err)
	}
	env := []string{
		"SEI_CHAIN_ID=" + chainID, "SEI_SEID_BINARY=" + handlertest.SeidPath(tb), "SEI_SIDECAR_PORT=" + strconv.Itoa(n.port),
		"SEI_KEYRING_BACKEND=test", "SEI_KEYRING_DIR=" + n.home,
	}
	if bucket != "" {
		env = append(env, "SEI_GENESIS_BUCKET_URL="+bucket, "SEI_SNAPSHOT_BUCKET_URL="+bucket)
	}
	n.Sidecar = crashtest.Start(tb, n.home, append(env, more...)...)
	return n
}

// do runs a task that has to work and decodes its result.
func do[R any](n *node, task api.TaskType, params any) R {
	n.t.Helper()
	return decode[R](n, n.Run(task, params))
}

func decode[R any](n *node, done api.TaskResult) R {
	n.t.Helper()
	if done.Status != api.TaskCompleted {
		n.t.Fatalf("%s: %s is %s: %s", n.name, done.Type, done.Status, done.Error)
	}
	var result R
	if len(done.Result) > 0 {
		if err := json.Unmarshal(done.Result, &result); err != nil {
			n.t.Fatalf("%s: decoding the result of %s: %v", n.name, done.Type, err)
		}
	}
	return result
}

func (n *node) rpc() *rpc.Client { return rpc.New(fmt.Sprintf("127.0.0.1:%d", n.rpcPort)) }

func (n *node) witness() string { return fmt.Sprintf("127.0.0.1:%d", n.rpcPort) }

func (n *node) peer() string { return fmt.Sprintf("%s@127.0.0.1:%d", n.nodeID, n.p2pPort) }

// configure applies a mode with the addresses of this node.
func (n *node) configure(mode string, overrides map[string]string) {
	n.t.Helper()
	n.configureAs("", mode, overrides)
}

// configureAs is configure for a configuration with a name.
func (n *node) configureAs(hash, mode string, overrides map[string]string) {
	n.t.Helper()
	all := map[string]string{
		"network.rpc.listen_address":     fmt.Sprintf("tcp://127.0.0.1:%d", n.rpcPort),
		"network.p2p.listen_address":     fmt.Sprintf("tcp://127.0.0.1:%d", n.p2pPort),
		"network.p2p.allow_duplicate_ip": "true",
		"api.rest.enable":                "false",
		"api.grpc.enable":                "false",
		"api.grpc_web.enable":            "false",
		"evm.http_enabled":               "false",
		"evm.ws_enabled":                 "false",
		"metrics.enabled":                "false",
		"logging.level":                  "info",
	}
	maps.Copy(all, overrides)
	do[wire.ConfigChanges](n, api.ConfigApply, wire.ConfigApply{Mode: mode, Overrides: all, Moniker: n.name, ConfigHash: hash})
	do[any](n, api.ConfigValidate, nil)
}

// identity gives the node its keys.
func (n *node) identity() {
	n.t.Helper()
	n.nodeID = do[wire.Identity](n, api.GenerateIdentity, wire.GenerateIdentity{ChainID: n.chainID, Moniker: n.name}).NodeID
}

const (
	stake   = "100000000usei"
	balance = "1000000000000usei"
)

func (n *node) gentx() wire.Gentx {
	n.t.Helper()
	do[any](n, api.GenerateGentx, wire.GenerateGentx{ChainID: n.chainID, StakingAmount: stake, AccountBalance: balance})
	return do[wire.Gentx](n, api.ExportGentx, nil)
}

func (n *node) awaitHeight(height int64) {
	n.t.Helper()
	do[wire.ConditionMet](n, api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: height, Timeout: "240s"})
}

// awaitInSync waits until the sidecar tells the kubelet a status for a reason.
func (n *node) awaitInSync(status int, reason string) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Minute)
	defer cancel()
	var last string
	for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URL()+api.PathInSync, nil)
		if err != nil {
			n.t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			n.t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil && resp.StatusCode == status && strings.Contains(string(body), reason) {
			return
		}
		last = fmt.Sprintf("%s %s", resp.Status, body)
	}
	n.t.Fatalf("%s answers %s, want %d %s", n.name, last, status, reason)
}

func (n *node) height() int64 {
	n.t.Helper()
	status, err := n.rpc().Status(n.t.Context())
	if err != nil {
		n.t.Fatalf("%s: %v", n.name, err)
	}
	return status.SyncInfo.LatestBlockHeight
}

// slowChain are genesis overrides that make one block a second, and governance
// that a test can wait for.
var slowChain = map[string]json.RawMessage{
	"consensus_params.timeout.commit": json.RawMessage(`"1000000000"`),
	"gov.voting_params.voting_period": json.RawMessage(`"600s"`),
	"gov.deposit_params.min_deposit":  json.RawMessage(`[{"denom":"usei","amount":"1000000"}]`),
}

// ceremony makes the validators of one chain without a bucket: gentxs go from
// task results into task parameters, and the genesis comes back the same way.
func ceremony(validators []*node, overrides map[string]string) (genesis wire.AssembledGenesis) {
	leader := validators[0]
	assemble := wire.AssembleGenesis{AccountBalance: balance, Overrides: slowChain}
	for _, v := range validators {
		v.identity()
		assemble.Gentxs = append(assemble.Gentxs, v.gentx().Gentx)
	}
	genesis = do[wire.AssembledGenesis](leader, api.AssembleGenesis, assemble)
	for _, v := range validators {
		v.join(genesis)
		v.configure("validator", overrides)
		v.connect(validators)
	}
	return genesis
}

// join takes a genesis that was handed over.
func (n *node) join(genesis wire.AssembledGenesis) {
	n.t.Helper()
	do[wire.ConfiguredGenesis](n, api.ConfigureGenesis, wire.ConfigureGenesis{Genesis: genesis.Genesis, ExpectedGenesisHash: genesis.GenesisHash})
}

func (n *node) connect(others []*node) {
	n.t.Helper()
	var peers wire.SetGenesisPeers
	for _, other := range others {
		peers.Peers = append(peers.Peers, other.peer())
	}
	do[wire.Peers](n, api.SetGenesisPeers, peers)
}
