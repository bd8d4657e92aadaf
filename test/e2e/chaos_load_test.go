package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// sendEvery is the pause between two transactions.
const sendEvery = 4 * time.Second

// sender sends transactions to the full nodes' Service, one after the other, with the account of a validator.
type sender struct {
	s    *scenario
	home string
	node string

	mu       sync.Mutex
	sent     int
	accepted []string
}

// startSender copies the keyring that the ceremony has left on a validator's volume.
func (s *scenario) startSender(ctx context.Context, service, validator string) *sender {
	s.t.Helper()
	at := &corev1.Service{}
	s.mustGet(service, at)
	l := &sender{s: s, home: s.t.TempDir(), node: fmt.Sprintf("http://%s:%d", at.Spec.ClusterIP, seid.PortRPC)}
	keyring := filepath.Join(s.state, "volumes", s.claim("data-"+validator).Spec.VolumeName, "keyring-test")
	if err := os.CopyFS(filepath.Join(l.home, "keyring-test"), os.DirFS(keyring)); err != nil {
		s.t.Fatalf("copying the keyring of %s: %v", validator, err)
	}
	go func() {
		tick := time.NewTicker(sendEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			_, _ = l.send(ctx) // it is counted
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return l
}

// send sends a coin to the sender itself, and returns the hash once a node has taken it into its mempool.
func (l *sender) send(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	l.mu.Lock()
	l.sent++
	l.mu.Unlock()
	address, err := l.run(ctx, "keys", "show", "validator", "-a")
	if err != nil {
		return "", err
	}
	out, err := l.run(ctx, "tx", "bank", "send", "validator", string(address), "1usei", "--chain-id", l.s.chain.id, "--node", l.node,
		"--fees", "8000usei", "--gas", "200000", "--broadcast-mode", "sync", "--yes", "--output", "json")
	if err != nil {
		return "", err
	}
	var answer struct {
		Hash string `json:"txhash"`
		Code int    `json:"code"`
		Log  string `json:"raw_log"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", fmt.Errorf("reading the answer to a transaction: %w", err)
	}
	if answer.Code != 0 {
		return "", fmt.Errorf("the transaction was refused with code %d: %s", answer.Code, answer.Log)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, answer.Hash)
	return answer.Hash, nil
}

func (l *sender) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(l.s.seid, "seid"), append(args, "--home", l.home, "--keyring-backend", "test")...)
	cmd.Env = []string{"HOME=" + l.home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running seid %s: %w", args[0], err)
	}
	return bytes.TrimSpace(out), nil
}

// counts are how many transactions were sent, and the hashes of those that a node took.
func (l *sender) counts() (int, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent, append([]string(nil), l.accepted...)
}

// judgeLoad is about the client. What it met while full nodes were killed, paused or away is a figure; in the end every
// request has to be answered.
func (r *chaosRun) judgeLoad(load poller) {
	r.t.Helper()
	before := load.after(0)
	after := load.after(50)
	r.factf("requests of the client", "%d over new connections, %d failed; %d over kept ones, %d failed",
		before.Fresh.Requests, before.Fresh.Failed, before.Kept.Requests, before.Kept.Failed)
	var failed []string
	if n := after.Fresh.Failed + after.Kept.Failed - before.Fresh.Failed - before.Kept.Failed; n > 0 {
		failed = append(failed, fmt.Sprintf("%d of its last requests failed", n))
	}
	r.verdict("the client is served in the end", "50 requests over new and as many over kept connections", failed)
}

// judgeTransactions is about the other client. A transaction that a node took is lost with that node's process, so how
// many came into a block is a figure; in the end one has to.
func (r *chaosRun) judgeTransactions(transactions *sender) {
	r.t.Helper()
	sent, accepted := transactions.counts()
	included := 0
	for _, hash := range accepted {
		if r.included[hash] {
			included++
		}
	}
	r.factf("transactions", "%d sent, %d taken by a full node, %d of them in a block when the blocks were read", sent, len(accepted), included)
	var failed []string
	err := waitFor(r.t.Context(), time.Minute, "a transaction to be in a block", func(ctx context.Context) (bool, string, error) {
		hash, err := transactions.send(ctx)
		if err != nil {
			return false, "", err
		}
		from := r.height("v-0")
		return true, "", waitFor(ctx, 20*time.Second, "its block", func(context.Context) (bool, string, error) {
			for height := from; height <= r.height("v-0"); height++ {
				if _, err := r.block(height); err != nil {
					return false, "", err
				}
			}
			return r.included[hash], "not in a block", nil
		})
	})
	if err != nil {
		failed = append(failed, err.Error())
	}
	r.verdict("a transaction comes into a block in the end", "one transaction to the full nodes' Service", failed)
}
