package ceremony

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// fake is a sidecar that remembers tasks by id, as the real one does: a task that is
// known is never run a second time.
type fake struct {
	sidecar.Sidecar
	mu      sync.Mutex
	tasks   map[string]api.TaskResult
	answers map[api.TaskType]api.TaskResult
	down    error
	// level is the sidecar's API level; 0 is the newest.
	level int
	home  api.Home
}

func (f *fake) Node(context.Context) (api.Node, error) {
	if f.level > 0 && f.level < api.LevelNode {
		return api.Node{}, sidecar.ErrNotFound
	}
	return api.Node{Home: f.home}, f.down
}

func (f *fake) Version(context.Context) (api.Version, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return api.Version{APILevel: cmp.Or(f.level, api.Level)}, f.down
}

func (f *fake) Get(_ context.Context, id string, _ time.Duration) (api.TaskResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return api.TaskResult{}, f.down
	}
	task, ok := f.tasks[id]
	if !ok {
		return task, sidecar.ErrNotFound
	}
	return task, nil
}

func (f *fake) Submit(_ context.Context, request api.TaskRequest) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, twice := f.tasks[request.ID]; twice {
		return "", fmt.Errorf("%s was submitted twice", request.Type)
	}
	answer := f.answers[request.Type]
	answer.ID, answer.Type, answer.Params = request.ID, request.Type, request.Params
	f.tasks[request.ID] = answer
	return request.ID, nil
}

func done(result any) api.TaskResult {
	raw, err := json.Marshal(result)
	if err != nil {
		return failed(err.Error(), true)
	}
	return api.TaskResult{Status: api.TaskCompleted, Result: raw}
}

func failed(text string, terminal bool) api.TaskResult {
	return api.TaskResult{Status: api.TaskFailed, Error: text, ErrorDetail: &api.ErrorDetail{Terminal: terminal, Hint: "do this"}}
}

func packed(content string) wire.AssembledGenesis {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	_, _ = zipped.Write([]byte(content))
	_ = zipped.Close()
	sum := sha256.Sum256([]byte(content))
	return wire.AssembledGenesis{Genesis: base64.StdEncoding.EncodeToString(out.Bytes()), GenesisHash: hex.EncodeToString(sum[:])}
}

// newEnv is a ceremony of validators that have made their gentxs.
func newEnv(count int) (*Env, []*fake) {
	snd := &v1alpha1.SeiNodeDeployment{}
	snd.Name, snd.Namespace = "val", "sei"
	snd.Spec.Replicas = int32(count)
	snd.Spec.Genesis = &v1alpha1.GenesisCeremony{ChainID: "demo", AccountBalance: "2usei"}
	cfg := platform.Default()
	cfg.Buckets.Genesis = "s3://bucket"
	env := &Env{Fleet: snd, Plan: fleet.NewCeremony(snd, cfg, fleet.ReasonGenesisCeremony, time.Now()), Facts: &Facts{}}
	fakes := make([]*fake, 0, count)
	for i := range count {
		f := &fake{tasks: map[string]api.TaskResult{}, answers: map[api.TaskType]api.TaskResult{
			api.ExportGentx:              done(wire.Gentx{Gentx: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}),
			api.AssembleGenesis:          done(packed("genesis")),
			api.ExportGenesis:            done(wire.ExportedGenesis{Genesis: packed("genesis").Genesis, GenesisHash: packed("genesis").GenesisHash}),
			api.UploadGenesisArtifacts:   done(nil),
			api.AssembleAndUploadGenesis: done(wire.UploadedGenesis{GenesisHash: packed("genesis").GenesisHash}),
		}}
		fakes = append(fakes, f)
		node := &v1alpha1.SeiNode{Status: v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeInitializing, Plan: &v1alpha1.TaskPlan{
			Tasks: []v1alpha1.PlannedTask{{Type: domain.StepGenerateGentx, Status: v1alpha1.TaskComplete}, {Type: domain.StepAwaitGenesis}},
		}}}
		env.Members = append(env.Members, Member{Name: fleet.ChildName("val", i), Node: node, Sidecar: f})
	}
	return env, fakes
}

func (e *Env) task(taskType string) *v1alpha1.PlannedTask { return plan.Find(e.Plan, taskType) }

func TestCollectGentxs_SaysWhomItWaitsForAndWhy(t *testing.T) {
	cases := map[string]struct {
		change func(*Env, []*fake)
		is     func(plan.Outcome) bool
		want   string
	}{
		"all there": {func(*Env, []*fake) {}, plan.Outcome.IsDone, ""},
		"no node":   {func(e *Env, _ []*fake) { e.Members[1].Node = nil }, plan.Outcome.IsWait, "val-1 (it is being created)"},
		"no gentx": {func(e *Env, _ []*fake) {
			e.Members[1].Node.Status.Plan.Tasks[0] = v1alpha1.PlannedTask{Type: domain.StepGenerateGentx, Error: "disk full"}
		}, plan.Outcome.IsWait, "val-1 (generate-gentx: disk full)"},
		"no sidecar":      {func(e *Env, _ []*fake) { e.Members[1].Sidecar = nil }, plan.Outcome.IsWait, "the sidecar of val-1"},
		"unreachable":     {func(_ *Env, f []*fake) { f[1].down = sidecar.ErrUnreachable }, plan.Outcome.IsWait, "the sidecar of val-1 does not answer"},
		"refused":         {func(_ *Env, f []*fake) { f[1].down = sidecar.ErrInvalid }, plan.Outcome.IsTerminal, "val-1: submitting export-gentx"},
		"failed once":     {func(_ *Env, f []*fake) { f[1].answers[api.ExportGentx] = failed("no", false) }, plan.Outcome.IsRetry, "val-1: no (do this)"},
		"failed for good": {func(_ *Env, f []*fake) { f[1].answers[api.ExportGentx] = failed("never", true) }, plan.Outcome.IsTerminal, "val-1: never"},
		"node starts over": {func(e *Env, _ []*fake) {
			e.Members[1].Node.Status = v1alpha1.SeiNodeStatus{Phase: v1alpha1.NodeFailed, LastPlan: &v1alpha1.PlanSummary{FailedTask: "x", Error: "boom"}}
		}, plan.Outcome.IsWait, "val-1 (it failed and starts over: step x: boom)"},
		"node failed again": {func(e *Env, _ []*fake) {
			e.Members[1].Node.Status = v1alpha1.SeiNodeStatus{
				Phase: v1alpha1.NodeFailed, RetriedForFleet: e.Plan.ID, LastPlan: &v1alpha1.PlanSummary{FailedTask: "x", Error: "boom"},
			}
		}, plan.Outcome.IsTerminal, "validator val-1 failed: step x: boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env, fakes := newEnv(2)
			tc.change(env, fakes)
			o := collectGentxs(t.Context(), env, env.task(fleet.TaskCollectGentxs))
			text := o.Message
			if o.Err != nil {
				text = o.Err.Error()
			}
			if !tc.is(o) || !strings.Contains(text, tc.want) {
				t.Errorf("outcome %+v, want %q", o, tc.want)
			}
		})
	}
}

// A new process knows nothing but the plan: it finds what was collected and assembled by
// id, and submits nothing twice.
func TestAssembleGenesis_ByANewProcess_SubmitsNothingTwice(t *testing.T) {
	env, fakes := newEnv(3)
	collect, assemble := env.task(fleet.TaskCollectGentxs), env.task(fleet.TaskAssembleGenesis)
	if o := collectGentxs(t.Context(), env, collect); !o.IsDone() {
		t.Fatalf("collecting: outcome %+v, want done", o)
	}
	for range 2 {
		env.gentxs = nil
		if o := assembleGenesis(t.Context(), env, assemble); !o.IsDone() {
			t.Fatalf("assembling: outcome %+v, want done", o)
		}
	}
	var sent wire.AssembleGenesis
	if err := json.Unmarshal(fakes[0].tasks[assemble.ID].Params, &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Gentxs) != 3 || string(sent.Gentxs[2]) != `{"n":2}` {
		t.Errorf("the assembler got %s, want 3 gentxs, the third of them {\"n\":2}", sent.Gentxs)
	}
	if len(fakes[1].tasks) != 1 || len(fakes[2].tasks) != 1 {
		t.Errorf("the others were sent %d and %d tasks, want one each", len(fakes[1].tasks), len(fakes[2].tasks))
	}
}

func TestPublishGenesis_AnotherGenesisInTheBucket_IsRefused(t *testing.T) {
	env, fakes := newEnv(1)
	if o := assembleGenesis(t.Context(), env, env.task(fleet.TaskAssembleGenesis)); !o.IsDone() {
		t.Fatalf("assembling: outcome %+v, want done", o)
	}
	publish := env.task(fleet.TaskPublishGenesis)
	if o := publishGenesis(t.Context(), env, publish); !o.IsDone() {
		t.Fatalf("publishing: outcome %+v, want done", o)
	}
	fakes[0].answers[api.AssembleAndUploadGenesis] = done(wire.UploadedGenesis{GenesisHash: "other"})
	publish.ID = plan.TaskID(env.Plan.ID, publish.Type, 2, 2)
	if o := publishGenesis(t.Context(), env, publish); !o.IsTerminal() || !strings.Contains(o.Err.Error(), "another chain of this id") {
		t.Errorf("outcome %+v, want a final error that another chain has this id", o)
	}
}

// An older sidecar would replace what is published. (G1)
func TestG1_PublishGenesis_AnOlderSidecar_IsNotAsked(t *testing.T) {
	env, fakes := newEnv(2)
	if o := assembleGenesis(t.Context(), env, env.task(fleet.TaskAssembleGenesis)); !o.IsDone() {
		t.Fatalf("assembling: outcome %+v, want done", o)
	}
	fakes[1].level = api.LevelNode
	before := len(fakes[0].tasks) + len(fakes[1].tasks)
	o := publishGenesis(t.Context(), env, env.task(fleet.TaskPublishGenesis))
	if !o.IsTerminal() || !strings.Contains(o.Err.Error(), "the sidecar of val-1 has API level 4") {
		t.Errorf("outcome %+v, want a final error that the sidecar of val-1 has API level 4", o)
	}
	if now := len(fakes[0].tasks) + len(fakes[1].tasks); now != before {
		t.Errorf("%d tasks were sent, want none", now-before)
	}
}

func TestVerified_OnlyTheGenesisOfThatHash(t *testing.T) {
	good := packed("genesis")
	if _, _, err := verified(good.Genesis, good.GenesisHash); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]wire.AssembledGenesis{
		"other hash": {Genesis: good.Genesis, GenesisHash: packed("other").GenesisHash},
		"no base64":  {Genesis: "?", GenesisHash: good.GenesisHash},
		"no gzip":    {Genesis: base64.StdEncoding.EncodeToString([]byte("genesis")), GenesisHash: good.GenesisHash},
	} {
		if _, _, err := verified(bad.Genesis, bad.GenesisHash); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestWorst_WhatCannotBeCuredDecides(t *testing.T) {
	wait, retry, terminal := plan.Wait("", "w", 0), plan.Retry(errors.New("r")), plan.Terminal("", errors.New("t"))
	for _, order := range [][]plan.Outcome{{wait, retry, terminal}, {terminal, wait, retry}} {
		if o, bad := worst(order); !bad || !o.IsTerminal() {
			t.Errorf("the worst of %+v is %+v, %t, want the final one", order, o, bad)
		}
	}
	if _, bad := worst([]plan.Outcome{plan.Done("")}); bad {
		t.Error("all are done")
	}
}

func TestAccounts_CarryWhatTheSpecSays(t *testing.T) {
	spec := &v1alpha1.GenesisCeremony{Accounts: []v1alpha1.GenesisAccount{
		{Address: "sei1a", Balance: "5usei"},
		{Address: "sei1b", Balance: "9usei", Vesting: &v1alpha1.GenesisVesting{Amount: "4usei", EndTime: 1900000000, Delayed: true}},
	}}
	want := []wire.Account{
		{Address: "sei1a", Balance: "5usei"},
		{Address: "sei1b", Balance: "9usei", Vesting: &wire.Vesting{Amount: "4usei", EndTime: 1900000000, Delayed: true}},
	}
	if got := accounts(spec); !reflect.DeepEqual(got, want) {
		t.Errorf("accounts %+v, want %+v", got, want)
	}
}
