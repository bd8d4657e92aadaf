package config_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

const (
	testChain    = "profiles-1"
	startTimeout = 90 * time.Second
	pollInterval = 200 * time.Millisecond
)

// realNode is a node of the real binary on this machine's loopback.
type realNode struct {
	binary, home string
	mode         seid.Mode
	ports        []string
	exited       chan error
	log          string
}

// newNode runs seid init in a fresh home.
func newNode(t *testing.T, binary string, mode seid.Mode) *realNode {
	t.Helper()
	n := &realNode{binary: binary, mode: mode, home: filepath.Join(t.TempDir(), string(mode)), ports: freePorts(t, 8)}
	n.run(t, "init", string(mode), "--chain-id", testChain, "--mode", string(mode))
	return n
}

func (n *realNode) configDir() string { return filepath.Join(n.home, "config") }
func (n *realNode) genesis() string   { return filepath.Join(n.home, "config", "genesis.json") }
func (n *realNode) addr(i int) string { return "127.0.0.1:" + n.ports[i] }

func (n *realNode) files(t *testing.T) config.Files {
	t.Helper()
	files, err := config.Read(n.configDir())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (n *realNode) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, n.binary, append(args, "--home", n.home)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (n *realNode) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.command(t.Context(), args...).Output()
	if err != nil {
		// Not the output: some commands print a mnemonic.
		t.Fatalf("seid %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(out))
}

func (n *realNode) id(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(n.configDir(), keys.NodeKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParseNodeKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return key.ID
}

func (n *realNode) peer() string {
	data, _ := os.ReadFile(filepath.Join(n.configDir(), keys.NodeKeyFile))
	key, _ := keys.ParseNodeKey(data)
	return key.ID + "@" + n.addr(1)
}

// foundChain makes the node the only validator of a new chain. A chain of one
// starts only if its genesis lists the validator at the top level as well.
func (n *realNode) foundChain(t *testing.T) {
	t.Helper()
	n.run(t, "keys", "add", "validator", "--keyring-backend", "test")
	address := n.run(t, "keys", "show", "validator", "-a", "--keyring-backend", "test")
	n.run(t, "add-genesis-account", address, "1000000000000usei", "--keyring-backend", "test")
	n.run(t, "gentx", "validator", "1000000000usei", "--chain-id", testChain, "--keyring-backend", "test")
	n.run(t, "collect-gentxs")

	data, err := os.ReadFile(filepath.Join(n.configDir(), keys.ConsensusKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParseConsensusKey(data)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	raw, err := os.ReadFile(n.genesis())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	doc["validators"] = []any{map[string]any{
		"address": key.Address, "power": "1000", "name": "validator",
		"pub_key": map[string]any{"type": "tendermint/PubKeyEd25519", "value": key.PublicKey},
	}}
	timeouts := doc["consensus_params"].(map[string]any)["timeout"].(map[string]any)
	timeouts["commit"] = strconv.Itoa(int(500 * time.Millisecond))
	if raw, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	writeFile(t, n.genesis(), string(raw), 0o644)
}

func (n *realNode) joinChain(t *testing.T, founder *realNode) {
	t.Helper()
	raw, err := os.ReadFile(founder.genesis())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, n.genesis(), string(raw), 0o644)
}

// configure applies the node's profile; overrides move it to loopback ports.
func (n *realNode) configure(t *testing.T, overrides map[string]string) {
	t.Helper()
	out := apply(t, n.files(t), config.Intent{Mode: n.mode, Moniker: string(n.mode), CPUs: 1, Overrides: merged(map[string]string{
		"network.rpc.listen_address":     "tcp://" + n.addr(0),
		"network.p2p.listen_address":     "tcp://" + n.addr(1),
		"network.p2p.allow_duplicate_ip": "true",
		"api.rest.address":               "tcp://" + n.addr(2),
		"api.grpc.address":               n.addr(3),
		"api.grpc_web.address":           n.addr(4),
		"evm.http_port":                  n.ports[5],
		"evm.ws_port":                    n.ports[6],
		"metrics.prometheus_listen_addr": n.addr(7),
	}, overrides)})
	if err := config.Write(n.configDir(), out); err != nil {
		t.Fatal(err)
	}
}

// start runs the node until the returned function is called.
func (n *realNode) start(t *testing.T) (stop func()) {
	t.Helper()
	n.log = filepath.Join(n.home, "seid.log")
	logFile, err := os.Create(n.log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := n.command(context.WithoutCancel(t.Context()), "start")
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.exited = make(chan error, 1)
	done := make(chan struct{})
	go func() {
		n.exited <- cmd.Wait()
		_ = logFile.Close()
		close(done)
	}()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(startTimeout):
			_ = cmd.Process.Kill()
			<-done
		}
	}
	t.Cleanup(stop)
	return stop
}

func (n *realNode) awaitHeight(t *testing.T, height int64) {
	t.Helper()
	client := rpc.New(n.addr(0), rpc.WithTimeout(time.Second))
	n.await(t, "height "+strconv.FormatInt(height, 10), func(ctx context.Context) bool {
		status, err := client.Status(ctx)
		return err == nil && status.SyncInfo.LatestBlockHeight >= height && status.NodeInfo.Network == testChain
	})
}

func (n *realNode) awaitPeer(t *testing.T, other *realNode) {
	t.Helper()
	client, id := rpc.New(n.addr(0), rpc.WithTimeout(time.Second)), other.id(t)
	n.await(t, string(other.mode)+" as a peer", func(ctx context.Context) bool {
		info, err := client.NetInfo(ctx)
		if err != nil {
			return false
		}
		for _, p := range info.Connections {
			if p.NodeID == id && p.Connected() {
				return true
			}
		}
		return false
	})
}

func (n *realNode) await(t *testing.T, what string, reached func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for !reached(ctx) {
		select {
		case err := <-n.exited:
			t.Fatalf("the %s node ended (%v) before %s:\n%s", n.mode, err, what, n.logTail())
		case <-ctx.Done():
			t.Fatalf("the %s node did not get to %s within %s:\n%s", n.mode, what, startTimeout, n.logTail())
		case <-ticker.C:
		}
	}
}

func (n *realNode) logTail() string {
	data, _ := os.ReadFile(n.log)
	return tail(string(data))
}

func tail(s string) string {
	const enough = 3000
	return s[max(0, len(s)-enough):]
}

// freePorts reserves ports all at once, so that they differ. They lie below those that the kernel hands out by itself:
// one of those may be taken again before seid listens on it.
func freePorts(t *testing.T, count int) []string {
	t.Helper()
	const from, to, tries = 12000, 30000, 1000
	ports := make([]string, 0, count)
	for range tries {
		port := strconv.Itoa(from + rand.IntN(to-from))
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue // somebody has it
		}
		defer l.Close() //nolint:errcheck // the port is free again, that is all
		if ports = append(ports, port); len(ports) == count {
			return ports
		}
	}
	t.Fatalf("%d of %d ports are free", len(ports), count)
	return nil
}
