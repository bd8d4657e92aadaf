package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/crashtest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

// wantKills is how often the sidecar is killed in the middle of a task.
const wantKills = 200

// maxRounds bounds how long it continues for tasks that chance has missed.
const maxRounds = 40

// step is one task of the sequence that is disturbed.
type step struct {
	task   api.TaskType
	params any
}

// tries is how often a step may be run in one round until a kill hits it. Tasks that have ended
// in a millisecond are hardly ever hit; those of them that leave the same however often they
// are run get more tries.
func (s step) tries() int {
	switch s.task {
	case api.ExportGentx, api.ExportGenesis, api.StopSeid, api.MarkReady, api.MarkNotReady, api.SetGenesisPeers, api.SetResultExport,
		api.PublishSnapshots:
		return 12
	}
	return 1
}

// outcome is everything a step leaves behind.
type outcome struct {
	Result json.RawMessage
	Home   map[string]string
	Bucket map[string]string
	took   time.Duration
}

func TestKilledAtRandom_EveryTaskEndsAsIfUndisturbed(t *testing.T) {
	t.Parallel()
	live := newNode(t, "kill-1", "live", "")
	ceremony([]*node{live}, nil)
	live.start()
	live.awaitHeight(2)

	bucket := filepath.Join(t.TempDir(), "bucket")
	n := newNode(t, "kill-1", "disturbed", "file://"+bucket)
	steps := homeSteps(t, n, live)
	template := filepath.Join(t.TempDir(), "template")
	n.Kill()
	copyTree(t, n.home, template)

	fresh := func() {
		n.Kill()
		for _, dir := range []string{n.home, bucket} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		copyTree(t, template, n.home)
		if err := os.MkdirAll(bucket, 0o750); err != nil {
			t.Fatal(err)
		}
		n.Restart()
	}
	fresh()
	reference := make([]outcome, len(steps))
	for i, s := range steps {
		began := time.Now()
		got := n.Run(s.task, s.params)
		reference[i] = n.outcome(got, bucket)
		reference[i].took = time.Since(began)
	}
	rng := rand.New(rand.NewPCG(20260805, 200))
	live.killLive(rng)
	fresh()
	n.killEndless(bucket)
	version, err := n.Client().Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hits := func() []api.TaskType { return append(n.Interrupted(), live.Interrupted()...) }
	// Chance decides who is hit, so it continues until everybody was.
	missed := func() []api.TaskType {
		hit := hits()
		return slices.DeleteFunc(slices.Clone(version.TaskTypes), func(task api.TaskType) bool { return slices.Contains(hit, task) })
	}
	for round := 0; len(hits()) < wantKills || (len(missed()) > 0 && round < maxRounds); round++ {
		fresh()
		enough := len(hits()) >= wantKills
		for i, s := range steps {
			kills := crashtest.Kills{Number: 4, Within: reference[i].took, Rand: rng}
			if enough && !slices.Contains(missed(), s.task) {
				kills.Number = 0
			}
			for try := 0; try == 0 || try < s.tries() && slices.Contains(missed(), s.task); try++ {
				got := n.RunKilled(s.task, s.params, kills)
				if diff := cmp.Diff(reference[i], n.outcome(got, bucket), cmp.AllowUnexported(outcome{}), cmp.FilterPath(ignoreTook, cmp.Ignore())); diff != "" {
					t.Fatalf("round %d: %s ended differently (-undisturbed +killed):\n%s", round, s.task, diff)
				}
			}
		}
	}
	count := map[api.TaskType]int{}
	for _, task := range hits() {
		count[task]++
	}
	t.Logf("%d kills hit a running task: %v", len(hits()), count)
	if tasks := missed(); len(tasks) > 0 {
		t.Errorf("never hit: %v", tasks)
	}
}

// Keys are random, so what a killed ceremony leaves in an empty home is compared
// by name: one node key, one consensus key, one account key, one gentx that the
// assembler takes.
func TestKilledAtRandom_AnEmptyHomeGetsEachKeyOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	account := regexp.MustCompile(`[0-9a-f]{40}`)
	var want []string
	for round := range 6 {
		n := newNode(t, "keys-1", "fresh", "")
		kills := crashtest.Kills{Number: min(round, 1) * 5, Within: 250 * time.Millisecond, Rand: rng}
		got := n.RunKilled(api.GenerateIdentity, wire.GenerateIdentity{ChainID: n.chainID, Moniker: n.name}, kills)
		identity := decode[wire.Identity](n, got)
		kills.Within = 600 * time.Millisecond
		got = n.RunKilled(api.GenerateGentx, wire.GenerateGentx{ChainID: n.chainID, StakingAmount: stake, AccountBalance: balance}, kills)
		gentx := decode[wire.Gentx](n, got)
		if gentx.NodeID != identity.NodeID {
			t.Errorf("the gentx is of node %s, the identity of %s", gentx.NodeID, identity.NodeID)
		}
		do[wire.AssembledGenesis](n, api.AssembleGenesis, wire.AssembleGenesis{AccountBalance: balance, Gentxs: []json.RawMessage{gentx.Gentx}})
		files := homeFiles(t, n.home)
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, account.ReplaceAllString(name, "ID"))
		}
		slices.Sort(names)
		if round == 0 {
			want = names // undisturbed
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("files (-undisturbed +killed):\n%s", diff)
		}
	}
}

func ignoreTook(p cmp.Path) bool { return p.Last().String() == ".took" }

// homeSteps makes the home that all rounds begin with, and the tasks that are run
// over it.
func homeSteps(t *testing.T, n, live *node) []step {
	t.Helper()
	n.identity()
	own := n.gentx()
	n.configure("full", nil)
	snapshots(t, n.home, 100, 200)
	writeFiles(t, n.home, map[string]string{"data/state.db/1": "x", "data/cs.wal/wal": "y", "wasm/code": strings.Repeat("w", 4096)})
	proposer := live.nodeID + "@127.0.0.1:1"
	assemble := wire.AssembleGenesis{AccountBalance: balance, Overrides: slowChain, Gentxs: []json.RawMessage{own.Gentx}}
	genesis := do[wire.AssembledGenesis](n, api.AssembleGenesis, assemble)
	assemble.GenesisTime = "2030-01-01T00:00:00Z"
	return []step{
		{api.GenerateIdentity, wire.GenerateIdentity{ChainID: n.chainID, Moniker: "renamed"}},
		{api.GenerateGentx, wire.GenerateGentx{ChainID: n.chainID, StakingAmount: "3000000usei", AccountBalance: balance}},
		{api.ExportGentx, nil},
		{api.UploadGenesisArtifacts, wire.UploadGenesisArtifacts{NodeName: n.name}},
		{api.AssembleGenesis, assemble},
		{api.AssembleAndUploadGenesis, wire.AssembleAndUploadGenesis{AccountBalance: balance, Namespace: "ns", Nodes: []wire.NodeRef{{Name: n.name}}}},
		{api.ConfigureGenesis, nil},
		{api.ConfigureGenesis, wire.ConfigureGenesis{Genesis: genesis.Genesis, ExpectedGenesisHash: genesis.GenesisHash}},
		{api.ExportGenesis, wire.ExportGenesis{ExpectedGenesisHash: genesis.GenesisHash}},
		{api.ConfigApply, wire.ConfigApply{Mode: "full", Overrides: map[string]string{
			"mempool.size": "4321", "network.rpc.listen_address": fmt.Sprintf("tcp://127.0.0.1:%d", n.rpcPort),
		}}},
		{api.ConfigPatch, wire.ConfigPatch{Files: map[string]json.RawMessage{"config.toml": json.RawMessage(`{"p2p":{"max-connections":77}}`)}}},
		{api.ConfigReload, wire.ConfigReload{Fields: map[string]string{"logging.level": "error"}}},
		{api.ConfigValidate, nil},
		{api.SetGenesisPeers, wire.SetGenesisPeers{Peers: []string{proposer}}},
		{api.ConfigureStateSync, wire.ConfigureStateSync{RPCServers: []string{live.witness(), live.witness()}}},
		{api.SnapshotUploadOnce, nil},
		{api.SnapshotRestore, nil},
		{api.ResultExport, wire.ResultExport{Bucket: "file://" + filepath.Dir(n.home), RPCEndpoint: "http://" + live.witness()}},
		{api.SetResultExport, wire.SetResultExport{Hash: "a", Export: &wire.ResultExport{
			Bucket: "file://" + filepath.Dir(n.home), CanonicalRPC: "http://" + live.witness(),
		}}},
		{api.PublishSnapshots, wire.PublishSnapshots{Keep: 2}},
		{api.StopSeid, nil},
		{api.ResetData, nil},
		{api.MarkReady, nil},
		{api.MarkNotReady, nil},
	}
}

// killEndless disturbs the task that never ends: it continues until it is deleted.
func (n *node) killEndless(bucket string) {
	n.t.Helper()
	id := n.Submit(api.SnapshotUpload, "", nil)
	manifest := filepath.Join(bucket, n.chainID, "state-sync", "100.tar.gz"+objectstore.ManifestSuffix)
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		n.Kill()
		n.Restart()
		tick := time.NewTicker(10 * time.Millisecond)
		for _, err := os.Stat(manifest); err != nil; _, err = os.Stat(manifest) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				n.t.Fatal("the snapshot was never uploaded")
			}
		}
		if got, err := n.Client().Get(ctx, id, 0); err != nil || got.Status != api.TaskRunning {
			n.t.Fatalf("snapshot-upload is %+v, %v, want it running", got, err)
		}
	}
	if err := n.Client().Delete(ctx, id); err != nil {
		n.t.Error(err)
	}
}

// killLive disturbs the tasks that need a running node.
func (n *node) killLive(rng *rand.Rand) {
	n.t.Helper()
	tx := wire.Transaction{ChainID: n.chainID, KeyName: "validator", Fees: "20000usei", Gas: 500000}
	proposal := wire.Proposal{Title: "T", Description: "D", InitialDeposit: "2000000usei"}
	for _, s := range []struct {
		step
		within time.Duration
	}{
		{step{api.GovSoftwareUpgrade, wire.GovSoftwareUpgrade{Transaction: tx, Proposal: proposal, UpgradeName: "v9", UpgradeHeight: 100000}}, 600 * time.Millisecond},
		{step{api.GovVote, wire.GovVote{Transaction: tx, ProposalID: 1, Option: "yes"}}, 600 * time.Millisecond},
		{step{api.GovParamChange, wire.GovParamChange{Transaction: tx, Proposal: proposal, Changes: []wire.ParamChange{
			{Subspace: "staking", Key: "MaxValidators", Value: json.RawMessage(`50`)}}}}, 600 * time.Millisecond},
		{step{api.AwaitCondition, wire.AwaitCondition{Condition: wire.ConditionHeight, TargetHeight: n.height() + 20}}, time.Second},
		{step{api.RestartSeid, wire.RestartSeid{Drain: "400ms"}}, 600 * time.Millisecond},
	} {
		open := func() { do[any](n, api.MarkReady, nil) } // or the node waits at the gate
		got := n.RunKilled(s.task, s.params, crashtest.Kills{Number: 5, Within: s.within, Rand: rng, Restarted: open})
		if got.Status != api.TaskCompleted {
			n.t.Fatalf("%s: %+v, want Status %v", s.task, got, api.TaskCompleted)
		}
	}
	if txs := transactions(n.t.(*testing.T), n); txs != 3 {
		n.t.Errorf("%d transactions are in blocks, want one for each of 3 tasks", txs)
	}
	if starts := len(n.pod.starts); starts != 2 {
		n.t.Errorf("the node was started %d times, want 2: one restart", starts)
	}
}

// times are what may differ between two runs.
var times = regexp.MustCompile(`"(createdAt|lastUploadedAt|exported_at|doneAt)":("[^"]*"|[0-9]+)`)

func (n *node) outcome(got api.TaskResult, bucket string) outcome {
	n.t.Helper()
	if got.Status != api.TaskCompleted {
		n.t.Fatalf("%s: %s, want Status %v", got.Type, got.Error, api.TaskCompleted)
	}
	return outcome{
		Result: json.RawMessage(times.ReplaceAllString(string(got.Result), "")),
		Home:   homeFiles(n.t, n.home),
		Bucket: homeFiles(n.t, bucket),
	}
}

// homeFiles is every file below a directory, except the sidecar's own store, the
// logs of the snapshot index, and what the file bucket notes about its objects or
// leaves of an upload that was killed (other buckets drop those themselves).
func homeFiles(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, file)
		ignored := strings.HasPrefix(rel, "sidecar.") || strings.HasPrefix(e.Name(), "LOG") ||
			strings.HasSuffix(rel, ".attrs") || strings.HasSuffix(rel, ".tmp")
		if e.IsDir() || ignored {
			return nil
		}
		data, err := os.ReadFile(file)
		found[rel] = times.ReplaceAllString(string(data), "")
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// snapshots gives a home snapshots as seid makes them.
func snapshots(t *testing.T, home string, heights ...uint64) {
	t.Helper()
	dir := filepath.Join(home, "data", "snapshots")
	rng := rand.NewChaCha8([32]byte{1})
	for _, h := range heights {
		chunks := make([][]byte, 0, 4)
		for i := range cap(chunks) {
			chunk := make([]byte, 2<<20)
			_, _ = rng.Read(chunk)
			chunks = append(chunks, chunk)
			writeFiles(t, dir, map[string]string{filepath.Join(strconv.FormatUint(h, 10), "1", strconv.Itoa(i)): string(chunk)})
		}
		snapshottest.Index(t, filepath.Join(dir, "metadata.db"), snapshottest.Of(h, chunks...))
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
