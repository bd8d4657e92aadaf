package gov_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/gov"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

const (
	voteParams    = `{"chainId":"test-1","keyName":"operator","fees":"20000usei","gas":300000,"proposalId":42,"option":"yes","memo":"hello"}`
	noParams      = `{"chainId":"test-1","keyName":"operator","fees":"20000usei","gas":300000,"proposalId":42,"option":"no"}`
	upgradeParams = `{"chainId":"test-1","keyName":"operator","fees":"20000usei","gas":300000,"title":"-T","description":"--d\nlines",
	  "upgradeName":"v9","upgradeHeight":1000,"upgradeInfo":"{}","initialDeposit":"10000000usei"}`
	changeParams = `{"chainId":"test-1","keyName":"operator","fees":"20000usei","gas":300000,"title":"T","description":"d",
	  "changes":[{"subspace":"staking","key":"MaxValidators","value":50}],"initialDeposit":"10000000usei"}`
)

type fixture struct {
	*handlertest.Harness
	chain *chain
	tasks *gov.Tasks
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	n := &node.Node{Home: home.Dir(t.TempDir()), ChainID: "test-1", Seid: handlertest.Seid(t)}
	scratch := t.TempDir()
	ring := []string{"--keyring-backend", "test", "--keyring-dir", string(n.Home), "--home", scratch}
	if _, err := n.Seid.Run(t.Context(), seidcmd.Call{Quiet: true, Args: append([]string{"keys", "add", "operator", "--no-backup"}, ring...)}); err != nil {
		t.Fatal(err)
	}
	out, err := n.Seid.Run(t.Context(), seidcmd.Call{Args: append([]string{"keys", "show", "operator", "--address"}, ring...)})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{chain: newChain(t, strings.TrimSpace(string(out)))}
	f.tasks = &gov.Tasks{
		Node: n, Keyring: gov.Keyring{Backend: "test", Dir: n.Home.KeyringTest()}, RPC: func() gov.RPC { return f.chain },
		Metrics: gov.NewMetrics(nil), Inclusion: time.Minute, Poll: time.Millisecond,
	}
	f.Harness = handlertest.New(f.tasks.Handlers())
	return f
}

func (f *fixture) run(t *testing.T, id string, task api.TaskType, params string) (wire.GovTxResult, error) {
	t.Helper()
	raw, err := f.RunAs(t, id, task, params)
	var result wire.GovTxResult
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &result); err != nil {
			t.Fatal(err)
		}
	}
	return result, err
}

func TestTransactions_AreIncludedOnceAndCarryTheTasksID(t *testing.T) {
	for task, params := range map[api.TaskType]string{api.GovVote: voteParams, api.GovSoftwareUpgrade: upgradeParams, api.GovParamChange: changeParams} {
		for _, vesting := range []bool{false, true} {
			f := newFixture(t)
			f.chain.vesting = vesting
			id := uuid.NewString()
			got, err := f.run(t, id, task, params)
			if err != nil {
				t.Fatalf("%s: %v", task, err)
			}
			tx := f.chain.blocks[got.Height-1][0]
			want := wire.GovTxResult{TxHash: rpc.TxHash(tx), Height: got.Height, ProposalID: 42, InclusionStatus: wire.InclusionCommitted}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", task, diff)
			}
			if !strings.Contains(string(tx), "taskID="+id) || f.chain.broadcasts != 1 {
				t.Errorf("%s: %d broadcasts, transaction %q", task, f.chain.broadcasts, tx)
			}
		}
	}
}

func TestKilledRightAfterBroadcasting_TheNextRunAdoptsTheTransaction(t *testing.T) {
	f := newFixture(t)
	ctx, kill := context.WithCancel(t.Context())
	f.chain.afterBroadcast = kill
	f.Context = ctx
	id := uuid.NewString()
	if _, err := f.run(t, id, api.GovVote, voteParams); err == nil {
		t.Fatal("a killed run gave a result")
	}
	f.chain.afterBroadcast, f.Context = nil, nil
	got, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || got.InclusionStatus != wire.InclusionCommitted {
		t.Fatalf("%+v, %v, want no error and InclusionStatus %v", got, err, wire.InclusionCommitted)
	}
	again, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || again != got {
		t.Errorf("a further run gave %+v, %v", again, err)
	}
	if n := f.chain.included(); n != 1 {
		t.Errorf("%d transactions are in blocks, want one", n)
	}
}

func TestLostBroadcast_IsSentAgainWithTheSameBytes(t *testing.T) {
	f := newFixture(t)
	f.chain.dropNext = true
	id := uuid.NewString()
	got, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, "broadcasting")
	if got.InclusionStatus != wire.InclusionPending || !api.DetailOf(err).Retryable {
		t.Errorf("a lost broadcast gave %+v", got)
	}
	second, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || second.TxHash != got.TxHash || f.chain.included() != 1 {
		t.Errorf("the second run gave %+v, %v with %d included", second, err, f.chain.included())
	}
}

func TestSequenceTakenByAnother_SignsAnew(t *testing.T) {
	f := newFixture(t)
	f.chain.dropNext = true
	id := uuid.NewString()
	first, _ := f.run(t, id, api.GovVote, voteParams)
	f.chain.sequence++ // somebody else used the key
	second, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || second.TxHash == first.TxHash || f.chain.included() != 1 {
		t.Errorf("got %+v, %v with %d included", second, err, f.chain.included())
	}
}

func TestNoBlocks_EndsPendingAndTheSameIDWaitsOn(t *testing.T) {
	f := newFixture(t)
	f.tasks.Inclusion = 30 * time.Millisecond
	f.chain.frozen = true
	id := uuid.NewString()
	got, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, "is in no block")
	if got.InclusionStatus != wire.InclusionPending || got.TxHash == "" {
		t.Errorf("result is %+v", got)
	}
	f.chain.frozen = false
	f.tasks.Inclusion = time.Minute
	second, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || second.TxHash != got.TxHash || f.chain.included() != 1 {
		t.Errorf("got %+v, %v with %d included", second, err, f.chain.included())
	}
}

func TestOtherParametersForTheSameTask_NeverMakeASecondTransaction(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	if _, err := f.run(t, id, api.GovVote, voteParams); err != nil {
		t.Fatal(err)
	}
	_, err := f.run(t, id, api.GovVote, noParams)
	handlertest.WantError(t, err, api.CodeConflict, "other parameters")
	if n := f.chain.included(); n != 1 {
		t.Errorf("%d transactions are in blocks, want one", n)
	}
}

// A transaction in the mempool, or one whose broadcast nobody heard the end of, can still be included.
func TestOtherParametersWhileTheFirstCanStillBeIncluded_AreRefused(t *testing.T) {
	for name, interrupt := range map[string]func(*fixture){
		"in the mempool":     func(f *fixture) { f.chain.frozen = true },
		"lost on its way":    func(f *fixture) { f.chain.dropNext = true },
		"killed after taken": func(f *fixture) { f.chain.afterBroadcast = func() { f.chain.down = true } },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.tasks.Inclusion = 30 * time.Millisecond
			id := uuid.NewString()
			interrupt(f)
			if _, err := f.run(t, id, api.GovVote, voteParams); err == nil {
				t.Fatal("an interrupted run gave a result")
			}
			f.chain.down, f.chain.frozen = false, true
			for range 3 {
				got, err := f.run(t, id, api.GovVote, noParams)
				handlertest.WantError(t, err, api.CodeConflict, "can still be included")
				if got.InclusionStatus != wire.InclusionPending {
					t.Errorf("result is %+v", got)
				}
			}
			f.chain.frozen = false
			f.tasks.Inclusion = time.Minute
			if _, err := f.run(t, id, api.GovVote, voteParams); err != nil {
				t.Errorf("the task as it was first: %v", err)
			}
			_, err := f.run(t, id, api.GovVote, noParams)
			handlertest.WantError(t, err, api.CodeConflict, "it was included")
			if n := f.chain.included(); n != 1 {
				t.Errorf("%d transactions are in blocks, want one", n)
			}
		})
	}
}

func TestOtherParametersAfterTheSequenceWasTaken_AreSigned(t *testing.T) {
	f := newFixture(t)
	f.chain.dropNext = true
	id := uuid.NewString()
	if _, err := f.run(t, id, api.GovVote, voteParams); err == nil {
		t.Fatal("a lost broadcast gave a result")
	}
	f.chain.sequence++ // somebody else used the key: the first can never be included
	if _, err := f.run(t, id, api.GovVote, noParams); err != nil || f.chain.included() != 1 {
		t.Errorf("%v with %d included", err, f.chain.included())
	}
}

// seid that has made no block since it started knows no chain id and refuses every signature.
func TestRejected_BeforeTheFirstBlockAfterAStart_IsSentAgain(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	f.chain.started = true
	_, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, "chain-id ()")
	if api.DetailOf(err).Terminal {
		t.Error("it is not tried again")
	}
	f.chain.started = false
	if _, err := f.run(t, id, api.GovVote, voteParams); err != nil || f.chain.included() != 1 {
		t.Errorf("after the first block %d are included, %v", f.chain.included(), err)
	}
}

// A run after a crash does not wait for a block with a transaction that seid has just refused.
func TestRejected_BeforeTheFirstBlockAfterAStart_TheStoredTransactionIsSentAgainSoon(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	f.chain.dropNext = true
	first, _ := f.run(t, id, api.GovVote, voteParams)
	f.chain.started, f.chain.frozen = true, true
	got, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, "chain-id ()")
	if api.DetailOf(err).Terminal || got.TxHash != first.TxHash || got.InclusionStatus != wire.InclusionPending {
		t.Errorf("got %+v, %v", got, err)
	}
	f.chain.started, f.chain.frozen = false, false
	if got, err := f.run(t, id, api.GovVote, voteParams); err != nil || got.TxHash != first.TxHash || f.chain.included() != 1 {
		t.Errorf("after the first block %+v, %v with %d included", got, err, f.chain.included())
	}
}

// A transaction that the node has refused never was: the task may be given again as it should have been.
func TestRejected_IsForgotten(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	f.chain.refuse = func() {}
	_, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeTransactionFailed, "insufficient fee")
	f.chain.refuse = nil
	if _, err := f.run(t, id, api.GovVote, noParams); err != nil || f.chain.included() != 1 {
		t.Errorf("with other parameters: %v, %d included", err, f.chain.included())
	}
}

// A transaction of an earlier run may be on its way into a block although the node refuses it now: only
// a block decides.
func TestRejected_WhileItIsOnItsWay_IsWaitedFor(t *testing.T) {
	f := newFixture(t)
	ctx, kill := context.WithCancel(t.Context())
	f.chain.afterBroadcast, f.chain.frozen, f.Context = kill, true, ctx
	id := uuid.NewString()
	if _, err := f.run(t, id, api.GovVote, voteParams); err == nil {
		t.Fatal("a killed run gave a result")
	}
	f.chain.afterBroadcast, f.Context = nil, nil
	f.chain.refuse = func() { f.chain.frozen = false }
	got, err := f.run(t, id, api.GovVote, voteParams)
	if err != nil || got.InclusionStatus != wire.InclusionCommitted || f.chain.included() != 1 {
		t.Errorf("%+v, %v with %d included", got, err, f.chain.included())
	}
}

// Nobody but the task itself would send a transaction again that was lost on its way, and nothing else can decide what becomes of it.
func TestOtherParametersWhileTheFirstIsLost_SendTheFirstAgain(t *testing.T) {
	f := newFixture(t)
	f.chain.dropNext = true
	id := uuid.NewString()
	first, _ := f.run(t, id, api.GovVote, voteParams)
	_, err := f.run(t, id, api.GovVote, noParams)
	handlertest.WantError(t, err, api.CodeConflict, "can still be included")
	got, err := f.run(t, id, api.GovVote, noParams)
	handlertest.WantError(t, err, api.CodeConflict, "it was included")
	if got.TxHash != first.TxHash || f.chain.included() != 1 {
		t.Errorf("got %+v with %d included", got, f.chain.included())
	}
}

func TestFailures_SayHowFarTheTransactionCame(t *testing.T) {
	f := newFixture(t)
	f.chain.code = 5
	got, err := f.run(t, uuid.NewString(), api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeTransactionFailed, "code=5")
	if got.InclusionStatus != wire.InclusionFailed || got.RawLog != "the log" || !api.DetailOf(err).Terminal {
		t.Errorf("a failed transaction gave %+v", got)
	}

	f = newFixture(t)
	id := uuid.NewString()
	f.chain.mempool = [][]byte{[]byte("a transaction of the same key")}
	f.chain.frozen = true
	_, err = f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, `checkTx rejected: code=32 codespace="sdk"`)
	f.chain.frozen, f.chain.mempool = false, nil
	if _, err := f.run(t, id, api.GovVote, voteParams); err != nil {
		t.Errorf("after the rejection: %v", err)
	}

	f = newFixture(t)
	f.chain.dropNext = true
	id = uuid.NewString()
	_, _ = f.run(t, id, api.GovVote, voteParams)
	f.chain.earliest = 100
	got, err = f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeTransactionFailed, "cannot be verified")
	if got.InclusionStatus != wire.InclusionUnverifiable {
		t.Errorf("pruned blocks gave %+v", got)
	}
}

func TestRefusals_NameWhatIsWrong(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	for params, want := range map[string]struct{ code, text string }{
		strings.Replace(voteParams, "test-1", "other-1", 1):                 {api.CodeInvalidParams, "chainId"},
		strings.Replace(voteParams, `"operator"`, `"nobody"`, 1):            {api.CodePrecondition, "nobody"},
		strings.Replace(voteParams, "20000usei", "20000uatom", 1):           {api.CodeInvalidParams, "fees"},
		strings.Replace(voteParams, `"yes"`, `"maybe"`, 1):                  {api.CodeInvalidParams, "option"},
		strings.Replace(voteParams, `"hello"`, `"taskID=1"`, 1):             {api.CodeInvalidParams, "memo"},
		strings.Replace(voteParams, `"gas":300000`, `"gas":0`, 1):           {api.CodeInvalidParams, "gas"},
		strings.Replace(voteParams, `"gas":300000`, `"gas":"many"`, 1):      {api.CodeInvalidParams, "gas"},
		strings.Replace(voteParams, `"proposalId":42`, `"proposalId":0`, 1): {api.CodeInvalidParams, "proposalId"},
	} {
		_, err := f.run(t, id, api.GovVote, params)
		handlertest.WantError(t, err, want.code, want.text)
	}
	f.chain.network = "fork-1"
	_, err := f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodePrecondition, "fork-1")
	f.chain.network, f.chain.down = "test-1", true
	_, err = f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodeUnavailable, "unreachable")
	f.chain.down, f.chain.address = false, "sei1somebodyelse"
	_, err = f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodePrecondition, "account not found")
	f.tasks.Keyring = gov.Keyring{}
	_, err = f.run(t, id, api.GovVote, voteParams)
	handlertest.WantError(t, err, api.CodePrecondition, "signing is disabled")
	if f.chain.broadcasts != 0 {
		t.Errorf("%d transactions were broadcast", f.chain.broadcasts)
	}
}

func TestFileKeyring_IsOpenedByStandardInput(t *testing.T) {
	f := newFixture(t)
	n := f.tasks.Node
	const passphrase = "correct horse battery"
	ring := []string{"--keyring-backend", "file", "--keyring-dir", string(n.Home), "--home", t.TempDir()}
	pass := strings.Repeat(passphrase+"\n", 3)
	if _, err := n.Seid.Run(t.Context(), seidcmd.Call{Quiet: true, Stdin: pass, Args: append([]string{"keys", "add", "operator", "--no-backup"}, ring...)}); err != nil {
		t.Fatal(err)
	}
	out, err := n.Seid.Run(t.Context(), seidcmd.Call{Stdin: pass, Args: append([]string{"keys", "show", "operator", "--address"}, ring...)})
	if err != nil {
		t.Fatal(err)
	}
	f.chain.address = strings.TrimSpace(string(out))
	file := filepath.Join(t.TempDir(), "passphrase")
	write := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	write(passphrase + "\n")
	f.tasks.Keyring = gov.Keyring{Backend: "file", Dir: n.Home.KeyringFile(), PassphraseFile: file}
	if _, err := f.run(t, uuid.NewString(), api.GovVote, voteParams); err != nil {
		t.Fatal(err)
	}
	f.tasks.Keyring = gov.Keyring{Backend: "file", Dir: n.Home.KeyringFile(), Passphrase: passphrase} // as older pods have it
	if _, err := f.run(t, uuid.NewString(), api.GovVote, voteParams); err != nil {
		t.Fatal(err)
	}
	f.tasks.Keyring.Passphrase, f.tasks.Keyring.PassphraseFile = "", file
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err = f.run(t, uuid.NewString(), api.GovVote, voteParams); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the passphrase: %v", err)
	}
	write("wrong and secret")
	_, err = f.run(t, uuid.NewString(), api.GovVote, voteParams)
	if err == nil || strings.Contains(err.Error(), "wrong and secret") {
		t.Errorf("a wrong passphrase gave %v", err)
	}
}

// In the home, a seid that was taken over could exchange a transaction before it is signed.
func TestVote_IsMadeOutsideOfTheHome(t *testing.T) {
	f := newFixture(t)
	n := f.tasks.Node
	n.Private = t.TempDir()
	// No directory can be made there.
	if err := errors.Join(os.RemoveAll(n.Home.Tmp()), os.WriteFile(n.Home.Tmp(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.run(t, uuid.NewString(), api.GovVote, voteParams); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(n.Private); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
