package sidecarsim_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func TestHome_ComesThroughItsStagesAndOutlivesThePod(t *testing.T) {
	r := newRig(t).start()
	want := func(stage api.HomeStage) {
		t.Helper()
		if got := r.Home(r.node).Stage; got != stage {
			t.Errorf("the home is %s, want %s", got, stage)
		}
	}
	r.SetSync(r.node, api.SyncStateSyncing, "fetching chunks")
	want(api.HomeEmpty)
	r.must(api.ConfigureGenesis, `{}`)
	want(api.HomeEmpty)
	r.apply("full", "h1", `{}`)
	r.must(api.ConfigValidate, `{}`)
	want(api.HomePrepared)
	r.open("h1", "")
	want(api.HomeFirstSync)
	r.SetSync(r.node, api.SyncInSync, "")
	want(api.HomeSynced)
	before := r.Home(r.node)
	r.stop()
	r.start()
	if diff := cmp.Diff(before, r.Home(r.node)); diff != "" {
		t.Errorf("the home differs in the next pod:\n%s", diff)
	}
	r.wantState(api.SeidWaiting, 1)
	if got := r.document().Gate.State; got != api.GateClosed {
		t.Errorf("the gate of the new pod is %s", got)
	}
}

func TestDocument_ShowsWhatTheProcessWasStartedWith(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{"evm.http_port":"8545"}`)
	if got := r.document().Sync.State; got != api.SyncNotRunning {
		t.Errorf("behind a closed gate the node is %s", got)
	}
	r.open("h1", "")
	r.apply("full", "h2", `{"evm.http_port":"8546"}`)
	r.must(api.ConfigValidate, ``)
	doc := r.document()
	if doc.Seid.ConfigHash != "h1" || doc.Home.ConfigHash != "h2" || doc.Seid.Version != "seid:1" || doc.Sync.State != api.SyncInSync {
		t.Errorf("the document is %+v", doc)
	}
	if diff := cmp.Diff([]string{"config.toml:evm.http_port"}, doc.Seid.RestartDue); diff != "" {
		t.Error(diff)
	}
	if doc.Gate.State != api.GateOpen || doc.Gate.Opened == nil || doc.Gate.Opened.ConfigHash != "h1" {
		t.Errorf("the gate is %+v", doc.Gate)
	}
	r.must(api.RestartSeid, `{"configHash":"h2"}`)
	if doc := r.document(); doc.Seid.ConfigHash != "h2" || len(doc.Seid.RestartDue) > 0 {
		t.Errorf("after the restart: %+v", doc.Seid)
	}
	r.wantState(api.SeidRunning, 2)
}

// A sidecar validates for the seid in its own container, which is what a mirror has too. A gate whose
// container has got another one refuses to start it, and the document goes by the sidecar's.
func TestVersion_ImageOfSeidIsEdited(t *testing.T) {
	for image, want := range map[string]struct {
		state  api.SeidState
		starts int
	}{
		"mirror.example.org/seid:1": {api.SeidRunning, 2},
		"seid:2":                    {api.SeidWaiting, 1},
	} {
		t.Run(image, func(t *testing.T) {
			r := newRig(t).start()
			r.configure("full", "h1", `{}`)
			r.open("h1", "")
			r.pod = r.pod.DeepCopy()
			r.pod.Spec.Containers[0].Image = image
			r.restartContainer()
			if got := r.document().Seid.Version; got != "seid:1" {
				t.Errorf("the document has version %q", got)
			}
			r.wantState(want.state, want.starts)
		})
	}
}

func TestRestartDue_PeersOfANodeInSyncAndHotKeysNeedNone(t *testing.T) {
	peer := `{"network.p2p.persistent_peers":"` + strings.Repeat("a", 40) + `@h:1"}`
	for name, c := range map[string]struct {
		overrides string
		behind    bool
		want      []string
	}{
		"nothing":              {overrides: `{}`},
		"log level":            {overrides: `{"logging.level":"debug"}`},
		"peers in sync":        {overrides: peer},
		"first peers, behind":  {overrides: peer, behind: true, want: []string{"config.toml:network.p2p.persistent_peers"}},
		"a key of the process": {overrides: `{"evm.http_port":"1"}`, want: []string{"config.toml:evm.http_port"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t).start()
			r.configure("full", "h1", `{}`)
			r.open("h1", "")
			r.SetInSync(r.node, !c.behind)
			r.apply("full", "h2", c.overrides)
			if diff := cmp.Diff(c.want, r.document().Seid.RestartDue); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigApply_UnknownKey_FailsAndChangesNothing(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{"evm.http_port":"8545"}`)
	before := r.Home(r.node)
	r.wantFailed(api.ConfigApply, `{"mode":"full","configHash":"h2","overrides":{"evm.htp_port":"1"}}`, api.CodeInvalidParams, `did you mean "evm.http_port"`)
	r.wantFailed(api.ConfigApply, `{"mode":"fast","configHash":"h2"}`, api.CodeInvalidParams, "invalid mode")
	if diff := cmp.Diff(before, r.Home(r.node)); diff != "" {
		t.Error(diff)
	}
}

func TestConfigApply_SameHashAgain_KeepsTheVerdict(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{"evm.http_port":"8545"}`)
	var changes wire.ConfigChanges
	if err := json.Unmarshal(r.apply("full", "h1", `{"evm.http_port":"8545"}`).Result, &changes); err != nil || len(changes.Changed) > 0 {
		t.Errorf("changes %+v, %v", changes, err)
	}
	if v := r.Home(r.node).Validation; v == nil || !v.Valid {
		t.Errorf("validation %+v, want not nil and Valid true", v)
	}
	r.apply("full", "h2", `{}`)
	if v := r.Home(r.node).Validation; v != nil {
		t.Errorf("files that nobody looked at are %+v", v)
	}
}

// refuse declares every configuration with an override bad.
func (r *rig) refuse(key string) (remove func()) {
	return r.RefuseConfig(func(overrides map[string]string, _ string) error {
		if _, bad := overrides[key]; bad {
			return errors.New(key + " crashes seid")
		}
		return nil
	})
}

func TestConfigValidate_Refused_PutsTheLastGoodConfigurationBack(t *testing.T) {
	r := newRig(t).start()
	r.refuse("evm.http_port")
	r.configure("full", "good", `{}`)
	r.apply("full", "bad", `{"evm.http_port":"1"}`)
	r.wantFailed(api.ConfigValidate, ``, api.CodeInvalidParams, "evm.http_port crashes seid")
	home := r.Home(r.node)
	if home.ConfigHash != "good" || home.Validation == nil || !home.Validation.Valid || home.Refused == nil || home.Refused.ConfigHash != "bad" {
		t.Errorf("the home is %+v", home)
	}
	r.open("good", "")
	r.wantState(api.SeidRunning, 1)
	r.wantNoViolations()
}

func TestConfigValidate_RefusedForAnotherVersion_StaysAndHoldsTheGate(t *testing.T) {
	r := newRig(t).start()
	remove := r.RefuseConfig(func(_ map[string]string, version string) error {
		if version == "seid:2" {
			return errors.New("not with this one")
		}
		return nil
	})
	r.configure("full", "h1", `{}`)
	r.open("h1", "")
	r.wantState(api.SeidRunning, 1)
	r.stop()
	r.image = "seid:2"
	r.start()
	r.wantFailed(api.MarkReady, expect("h1", ""), api.CodePrecondition, "has not passed validation for seid seid:2")
	r.wantFailed(api.ConfigValidate, ``, api.CodeInvalidParams, "not with this one")
	if home := r.Home(r.node); home.ConfigHash != "h1" || home.Validation == nil || home.Validation.Valid || home.Refused != nil {
		t.Errorf("the home is %+v", home)
	}
	r.must(api.MarkReady, ``) // whatever is there; the gate still looks
	if gate := r.document().Gate; gate.State != api.GateOpen || !strings.Contains(gate.Refusal, "failed validation") {
		t.Errorf("the gate is %+v", gate)
	}
	r.wantState(api.SeidWaiting, 1)
	remove()
	r.must(api.ConfigValidate, ``)
	r.wantState(api.SeidRunning, 2)
	r.wantNoViolations()
}

func TestMarkReady_ExpectsWhatIsThere(t *testing.T) {
	key, address := signingKey('a')
	_, other := signingKey('b')
	for name, c := range map[string]struct{ params, words string }{
		"another configuration": {expect("h2", address), `on disk is "h1", not "h2"`},
		"another key":           {expect("h1", other), "not \"" + other + `"`},
		"no key":                {expect("h1", ""), address},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.key = key
			r.start().configure("validator", "h1", `{}`)
			r.wantFailed(api.MarkReady, c.params, api.CodePrecondition, c.words)
			r.wantState(api.SeidWaiting, 0)
			r.open("h1", address)
			r.wantState(api.SeidRunning, 1)
			if got := r.Starts(r.node); len(got) != 1 || got[0].Address != address || got[0].ConfigHash != "h1" {
				t.Errorf("starts %+v, want 1 of them, Address %v and ConfigHash %q", got, address, "h1")
			}
		})
	}
}

func TestMarkReady_ConfigurationNobodyValidated_IsRefused(t *testing.T) {
	r := newRig(t).start()
	r.must(api.ConfigureGenesis, ``)
	r.apply("full", "h1", `{}`)
	r.wantFailed(api.MarkReady, expect("h1", ""), api.CodePrecondition, "has not passed validation")
	r.must(api.MarkReady, ``)
	r.wantState(api.SeidWaiting, 0)
	r.must(api.ConfigValidate, ``)
	r.wantState(api.SeidRunning, 1)
}

func TestKey_OfAValidatorWithoutASecret_BelongsToTheVolume(t *testing.T) {
	r := newRig(t).start()
	before := r.Home(r.node) // seid init makes a key for every node
	if len(before.ConsensusAddress) != 40 || before.Signs {
		t.Errorf("before it is a validator: %+v", before)
	}
	r.configure("validator", "h1", `{}`)
	home := r.Home(r.node)
	if home.ConsensusAddress != before.ConsensusAddress || !home.Signs {
		t.Fatalf("the home is %+v", home)
	}
	r.open("h1", home.ConsensusAddress)
	r.stop()
	r.start()
	if again := r.Home(r.node).ConsensusAddress; again != home.ConsensusAddress {
		t.Errorf("the key changed from %s to %s", home.ConsensusAddress, again)
	}
}

func TestKey_SwappedUnderAnOpenGate_IsRefusedAtTheNextStart(t *testing.T) {
	r := newRig(t)
	var address string
	r.key, address = signingKey('a')
	r.start().configure("validator", "h1", `{}`)
	r.open("h1", address)
	var other string
	r.key, other = signingKey('b')
	if got := r.document(); got.Home.ConsensusAddress != address {
		t.Errorf("a running container's key followed the Secret: %+v", got.Home)
	}
	r.restartContainer()
	doc := r.document()
	if doc.Seid.State != api.SeidWaiting || doc.Home.ConsensusAddress != other || !strings.Contains(doc.Gate.Refusal, other) {
		t.Errorf("the document is %+v", doc)
	}
	r.key, _ = signingKey('a')
	r.restartContainer()
	r.wantState(api.SeidRunning, 2)
	r.wantNoViolations()
}

func TestMarkNotReady_HoldsTheNextStartAndNotTheProcess(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{}`)
	r.open("h1", "")
	r.wantState(api.SeidRunning, 1)
	r.must(api.MarkNotReady, ``)
	r.wantState(api.SeidRunning, 1)
	if got := r.document().Gate; got.State != api.GateHeld || got.Opened != nil {
		t.Errorf("the gate is %+v", got)
	}
	r.wantFailed(api.ResetData, ``, api.CodePrecondition, "node is not held")
	r.must(api.StopSeid, ``)
	r.wantState(api.SeidWaiting, 1)
	r.must(api.ResetData, ``)
	if got := r.Home(r.node).Stage; got != api.HomePrepared {
		t.Errorf("a home whose data was reset is %s", got)
	}
	r.open("h1", "")
	r.wantState(api.SeidRunning, 2)
}

func TestRestartSeid_BehindAClosedGate_WaitsUntilItOpens(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{}`)
	id := r.submit(api.RestartSeid, `{"configHash":"h1"}`)
	if got, err := r.sidecar().Get(t.Context(), id, 0); err != nil || got.Status != api.TaskRunning {
		t.Fatalf("behind the gate it is %+v: %v", got, err)
	}
	r.open("h1", "")
	if got := await(t, r.sidecar(), id); got.Status != api.TaskCompleted {
		t.Errorf("behind an open gate it is %+v", got)
	}
	r.wantState(api.SeidRunning, 1)
}

func TestRestartSeid_ForAConfigurationThatRuns_LeavesTheProcessAlone(t *testing.T) {
	r := newRig(t).start()
	r.configure("full", "h1", `{}`)
	r.open("h1", "")
	r.must(api.RestartSeid, `{"configHash":"h1"}`)
	r.wantState(api.SeidRunning, 1)
	r.must(api.RestartSeid, ``)
	r.wantState(api.SeidRunning, 2)
}

func TestProgrammedError_ChangesNothing_AndSuccessStillDoes(t *testing.T) {
	r := newRig(t).start()
	r.Program(r.node, api.ConfigApply, sidecarsim.Outcome{Error: errors.New("not today"), Times: 1})
	if got := r.run(api.ConfigApply, `{"mode":"full","configHash":"h1"}`); got.Error != "not today" {
		t.Errorf("the task is %+v", got)
	}
	if got := r.Home(r.node).ConfigHash; got != "" {
		t.Errorf("configuration %q is on disk", got)
	}
	r.Program(r.node, api.ConfigApply, sidecarsim.Outcome{Result: map[string]int{"answer": 42}})
	if got := r.apply("full", "h1", `{}`); string(got.Result) != `{"answer":42}` || r.Home(r.node).ConfigHash != "h1" {
		t.Errorf("result %s, configuration %q", got.Result, r.Home(r.node).ConfigHash)
	}
}

func TestStateSync_IsKeptUntilTheNodeWasInSync(t *testing.T) {
	r := newRig(t).start()
	r.SetSync(r.node, api.SyncStateSyncing, "")
	r.must(api.ConfigureGenesis, ``)
	r.apply("full", "h1", `{}`)
	r.must(api.ConfigureStateSync, `{"rpcServers":["a:1","b:1"]}`)
	r.must(api.ConfigValidate, ``)
	r.open("h1", "")
	r.apply("full", "h2", `{"logging.level":"debug"}`)
	if !r.Disk(r.node).StateSync {
		t.Error("state sync was switched off while it ran")
	}
	r.SetInSync(r.node, true)
	r.apply("full", "h3", `{}`)
	if r.Disk(r.node).StateSync {
		t.Error("state sync stays for ever")
	}
}

func TestOlderLevel_KnowsNeitherTheDocumentNorTheNewParameters(t *testing.T) {
	r := newRig(t).start()
	r.SetLevel(r.node, api.LevelDrain)
	if status := r.get(api.PathNode, nil); status != http.StatusNotFound {
		t.Errorf("the node document: %d, want 404", status)
	}
	var version api.Version
	if r.get("/v0/version", &version); version.APILevel != api.LevelDrain || len(version.TaskTypes) == 0 {
		t.Errorf("the version is %+v", version)
	}
	for task, params := range map[api.TaskType]string{
		api.ConfigApply: `{"mode":"full","configHash":"h1"}`, api.MarkReady: expect("h1", ""), api.RestartSeid: `{"configHash":"h1"}`,
	} {
		_, err := r.sidecar().Submit(t.Context(), api.TaskRequest{Type: task, Params: json.RawMessage(params)})
		if !errors.Is(err, client.ErrInvalid) {
			t.Errorf("%s with a new parameter: %v, want invalid", task, err)
		}
	}
	r.must(api.ConfigApply, `{"mode":"full"}`)
	r.must(api.MarkReady, ``)
	r.must(api.RestartSeid, `{"farewell":"1s"}`)
	r.wantState(api.SeidRunning, 2)
}
