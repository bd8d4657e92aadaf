package sidecar_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// One chain of one validator serves all tests of a single node: it is the
// cheapest that is real.
func TestOneValidator_WithoutABucket(t *testing.T) {
	v := newNode(t, "one-1", "v0", "")
	ceremony([]*node{v}, nil)
	v.start()
	v.awaitHeight(5)

	t.Run("refuses to lose data while it runs", func(t *testing.T) {
		got := v.Run(api.ResetData, nil)
		if got.Status != api.TaskFailed || !strings.Contains(got.Error, "node is not held") || !got.ErrorDetail.Terminal {
			t.Errorf("reset-data of a running node: %+v", got)
		}
	})
	t.Run("sends each governance transaction once although the sidecar is killed", func(t *testing.T) { governance(t, v) })
	t.Run("says that it is about to restart, and takes it back", func(t *testing.T) { drainsFirst(t, v) })
	t.Run("restarts", func(t *testing.T) { restarts(t, v) })
	t.Run("stops and stays stopped", func(t *testing.T) { stops(t, v) })
	t.Run("halts at its halt height", func(t *testing.T) { halts(t, v, v.signedHeight()+3) })
}

func governance(t *testing.T, v *node) {
	t.Helper()
	tx := wire.Transaction{ChainID: v.chainID, KeyName: "validator", Fees: "20000usei", Gas: 500000}
	proposal := wire.Proposal{Title: "Upgrade", Description: "To v9", InitialDeposit: "2000000usei"}
	upgrade := wire.GovSoftwareUpgrade{Transaction: tx, Proposal: proposal, UpgradeName: "v9", UpgradeHeight: 100000}
	vote := wire.GovVote{Transaction: tx, ProposalID: 1, Option: "yes"}
	change := wire.GovParamChange{Transaction: tx, Proposal: proposal, Changes: []wire.ParamChange{
		{Subspace: "staking", Key: "MaxValidators", Value: json.RawMessage(`50`)},
	}}
	otherUpgrade, otherVote, otherChange := upgrade, vote, change
	otherUpgrade.UpgradeName, otherVote.Option, otherChange.Title = "v10", "no", "Another"
	first, killed1 := sendKilled(t, v, api.GovSoftwareUpgrade, upgrade, otherUpgrade)
	_, killed2 := sendKilled(t, v, api.GovVote, vote, otherVote)
	second, killed3 := sendKilled(t, v, api.GovParamChange, change, otherChange)
	if first.ProposalID != 1 || second.ProposalID != 2 {
		t.Errorf("the proposals are %d and %d, want 1 and 2", first.ProposalID, second.ProposalID)
	}
	if !killed1 && !killed2 && !killed3 {
		t.Error("no kill came between a broadcast and its block")
	}
	if n := transactions(t, v); n != 3 {
		t.Errorf("%d transactions are in blocks, want one for each of 3 tasks", n)
	}
	bad := v.Run(api.GovVote, wire.GovVote{Transaction: tx, ProposalID: 99, Option: "yes"})
	var result wire.GovTxResult
	if err := json.Unmarshal(bad.Result, &result); bad.Status != api.TaskFailed || err != nil || result.InclusionStatus != wire.InclusionFailed {
		t.Errorf("a vote on nothing: %+v", bad)
	}
}

// sendKilled kills the sidecar as soon as the transaction is in the node's
// mempool, and again while it looks for the transaction. On a busy machine the
// block may come first; then nothing was killed. In between somebody else submits the task with
// other parameters, which is refused.
func sendKilled(t *testing.T, v *node, task api.TaskType, params, edited any) (result wire.GovTxResult, killed bool) {
	t.Helper()
	id := v.Submit(task, uuid.NewString(), params)
	for {
		if killed = mempool(t, v) > 0; killed {
			break
		}
		if got, err := v.Client().Get(t.Context(), id, 0); err != nil || got.Status.Terminal() {
			break
		}
	}
	if killed {
		v.Kill()
		v.Restart()
		submitEdited(t, v, task, id, edited)
		v.Kill()
		v.Restart()
		v.Submit(task, id, params)
	}
	result = decode[wire.GovTxResult](v, v.Await(id))
	if result.InclusionStatus != wire.InclusionCommitted || result.Height == 0 {
		t.Errorf("%s: %+v, want InclusionStatus %v and Height not 0", task, result, wire.InclusionCommitted)
	}
	// A sidecar that was killed is not ready; the node behind the gate runs on.
	do[any](v, api.MarkReady, nil)
	return result, killed
}

// submitEdited submits a task that has signed its transaction again, under its id and with other
// parameters, and kills the sidecar while it looks at them.
func submitEdited(t *testing.T, v *node, task api.TaskType, id string, edited any) {
	t.Helper()
	if err := v.Client().Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	v.Submit(task, id, edited)
	v.Kill()
	v.Restart()
	if got := v.Await(id); got.Status != api.TaskFailed || got.ErrorDetail == nil || got.ErrorDetail.Code != api.CodeConflict {
		t.Errorf("%s with other parameters: %+v", task, got)
	}
}

func mempool(t *testing.T, v *node) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.witness()+"/num_unconfirmed_txs", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Count string `json:"n_txs"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(answer.Count)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// transactions counts what is in all blocks.
func transactions(t *testing.T, v *node) int {
	t.Helper()
	count := 0
	for height := int64(1); height <= v.height(); height++ {
		block, err := v.rpc().Block(t.Context(), height)
		if err != nil {
			t.Fatal(err)
		}
		count += len(block.Txs)
	}
	return count
}

func restarts(t *testing.T, v *node) {
	t.Helper()
	first := <-v.pod.starts
	restarted := do[wire.Restarted](v, api.RestartSeid, wire.RestartSeid{Drain: "1s"})
	if second := <-v.pod.starts; !restarted.RPCServing || second == first {
		t.Errorf("restart gave %+v, process %d then %d", restarted, first, second)
	}
	<-v.pod.exits
	v.awaitHeight(v.height() + 2)
	v.awaitInSync(http.StatusOK, "")
}

// A drain that is called off, and one whose sidecar is killed, leave the node where it was.
func drainsFirst(t *testing.T, v *node) {
	t.Helper()
	v.awaitInSync(http.StatusOK, "")
	id := v.Submit(api.RestartSeid, uuid.NewString(), wire.RestartSeid{Drain: "10m"})
	v.awaitInSync(http.StatusServiceUnavailable, "about to be restarted")
	v.Kill()
	v.Restart()
	do[any](v, api.MarkReady, nil)
	v.awaitInSync(http.StatusServiceUnavailable, "about to be restarted")
	if err := v.Client().Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	v.awaitInSync(http.StatusOK, "")
	if len(v.pod.exits) > 0 {
		t.Error("the node was ended")
	}
}

func stops(t *testing.T, v *node) {
	t.Helper()
	do[any](v, api.MarkNotReady, nil)
	if stopped := do[wire.Stopped](v, api.StopSeid, nil); !stopped.WasRunning {
		t.Error("the node was not running")
	}
	<-v.pod.exits
	<-v.pod.starts // the container is back, and waits at the gate
	if stopped := do[wire.Stopped](v, api.StopSeid, nil); stopped.WasRunning {
		t.Error("the node ran again behind a closed gate")
	}
	if _, err := v.rpc().Status(t.Context()); err == nil {
		t.Error("the RPC still answers")
	}
	v.pod.kill()
}

// A node that reaches its halt height ends with 0, 130 or 143: it sends itself
// SIGINT and SIGTERM, and which it hears first is chance. The gate makes one of it.
func halts(t *testing.T, v *node, height int64) {
	t.Helper()
	v.run(podSpec{gate: []string{"--ok-exit=130,143"}, args: []string{"--halt-height", strconv.FormatInt(height, 10)}})
	do[any](v, api.MarkReady, nil)
	select {
	case code := <-v.pod.exits:
		if code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the node did not halt")
	}
	v.run(podSpec{restart: true})
	v.awaitHeight(height)
	if block, err := v.rpc().Block(t.Context(), height); err != nil || block.Header.Height != height {
		t.Errorf("block %d after the halt: %+v, %v", height, block, err)
	}
}

// signedHeight is the height that a validator, which may have stopped, has signed last.
func (n *node) signedHeight() int64 {
	n.t.Helper()
	content, err := os.ReadFile(home.Dir(n.home).ConsensusState())
	if err != nil {
		n.t.Fatal(err)
	}
	var state struct {
		Height int64 `json:"height,string"`
	}
	if err := json.Unmarshal(content, &state); err != nil {
		n.t.Fatalf("reading what was signed last: %v", err)
	}
	return state.Height
}
