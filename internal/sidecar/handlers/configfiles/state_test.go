package configfiles_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

func (f *fixture) state(t *testing.T) configstate.State {
	t.Helper()
	state, err := configstate.Read(string(f.home))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func (f *fixture) wantHash(t *testing.T, want string) {
	t.Helper()
	if got := f.state(t).ConfigHash; got != want {
		t.Errorf("the configuration on disk is called %q, want %q", got, want)
	}
}

func (f *fixture) apply(t *testing.T, params string) wire.ConfigChanges {
	t.Helper()
	return handlertest.Must[wire.ConfigChanges](t, f.Harness, api.ConfigApply, params)
}

// setStateSync does to the files what configure-state-sync does.
func (f *fixture) setStateSync(t *testing.T) {
	t.Helper()
	files, err := config.Read(f.home.Config())
	if err == nil {
		files, err = config.SetStateSync(files, config.StateSync{
			RPCServers: []string{"a:26657", "b:26657"}, TrustHeight: 7, TrustHash: strings.Repeat("AB", 32), UseLocalSnapshot: true,
		})
	}
	if err == nil {
		err = configstate.Amend(string(f.home), files)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfigHash_BelongsToTheFilesItCameWith(t *testing.T) {
	f := newFixture(t)
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	f.wantHash(t, "one")

	f.setStateSync(t)
	f.wantHash(t, "one")
	if err := errors.Join(f.tasks.SetPeers(t.Context(), []string{strings.Repeat("ab", 20) + "@a:26656"}), f.tasks.SetMoniker(t.Context(), "m")); err != nil {
		t.Fatal(err)
	}
	f.wantHash(t, "one")

	for task, params := range map[api.TaskType]string{
		api.ConfigPatch:  `{"files":{"config.toml":{"p2p":{"send-rate":77}}}}`,
		api.ConfigReload: `{"fields":{"logging.level":"error"}}`,
		api.ConfigApply:  `{"incremental":true,"overrides":{"mempool.size":"99"}}`,
	} {
		f.apply(t, `{"mode":"full","configHash":"one"}`)
		f.wantHash(t, "one")
		handlertest.Must[any](t, f.Harness, task, params)
		f.wantHash(t, "")
	}
}

func TestApply_OfWhatIsOnDisk_LeavesFilesAndVerdictAlone(t *testing.T) {
	f := newFixture(t)
	params := `{"mode":"validator","configHash":"one","overrides":{"mempool.size":"77"}}`
	f.apply(t, params)
	handlertest.Must[any](t, f.Harness, api.ConfigValidate, `{}`)
	before, err := os.Stat(f.home.ConfigToml())
	if err != nil {
		t.Fatal(err)
	}
	f.apply(t, params)
	after, err := os.Stat(f.home.ConfigToml())
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("config.toml was written again (%v)", err)
	}
	if got := f.state(t); got.Validation == nil || !got.Validation.Valid {
		t.Errorf("the verdict is lost: %+v", got)
	}
}

// broken makes the files on disk invalid under the name two.
func (f *fixture) broken(t *testing.T) {
	t.Helper()
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	handlertest.Must[any](t, f.Harness, api.ConfigValidate, `{}`)
	f.apply(t, `{"mode":"full","configHash":"two","overrides":{"mempool.size":"88"}}`)
	f.tasks.Trial = func(context.Context, string) (trial.Result, error) {
		return trial.Result{Tried: true, Refused: "panic: no such thing"}, nil
	}
}

func TestValidate_Fails_TheLastGoodConfigurationStaysInForce(t *testing.T) {
	f := newFixture(t)
	f.broken(t)
	id := uuid.NewString()
	for range 2 { // killed before its result was stored, it tells the same again
		raw, err := f.RunAs(t, id, api.ConfigValidate, `{}`)
		handlertest.WantError(t, err, api.CodeInvalidParams, `config validation failed: {"valid":false`)
		handlertest.WantError(t, err, api.CodeInvalidParams, "panic: no such thing")
		if hint := api.DetailOf(err).Hint; !strings.Contains(hint, "the last good configuration stays active") {
			t.Errorf("hint is %q", hint)
		}
		if !strings.Contains(string(raw), `"tried":true`) || !strings.Contains(string(raw), `"replaced":true`) {
			t.Errorf("result is %s", raw)
		}
	}
	f.wantHash(t, "one")
	got := f.state(t)
	if got.Refused == nil || got.Refused.ConfigHash != "two" || !strings.Contains(got.Refused.Error, "no such thing") {
		t.Errorf("refused is %+v", got.Refused)
	}
	if err := configstate.MayStart(string(f.home), got.Refused.SeidVersion); err != nil {
		t.Errorf("the last good configuration may not be used: %v", err)
	}
	f.apply(t, `{"mode":"full","configHash":"two","overrides":{"mempool.size":"88"}}`)
	f.tasks.Trial = nil
	handlertest.Must[any](t, f.Harness, api.ConfigValidate, `{}`)
	f.wantHash(t, "two")
}

func TestValidate_FailedIDSubmittedAgain_LooksAtTheFilesOfNow(t *testing.T) {
	f := newFixture(t)
	f.broken(t)
	id := uuid.NewString()
	_, err := f.RunAs(t, id, api.ConfigValidate, `{}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "panic: no such thing")
	f.apply(t, `{"mode":"full","configHash":"three","overrides":{"mempool.size":"88"}}`)
	f.tasks.Trial = nil
	f.Again++
	if raw, err := f.RunAs(t, id, api.ConfigValidate, `{}`); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	f.wantHash(t, "three")
}

func TestValidate_WithoutALastGoodConfiguration_MarksTheFiles(t *testing.T) {
	f := newFixture(t)
	f.broken(t)
	if err := os.RemoveAll(f.home.Path(".sei-sidecar", "good")); err != nil {
		t.Fatal(err)
	}
	_, err := f.Run(t, api.ConfigValidate, `{}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "no such thing")
	f.wantHash(t, "two")
	got := f.state(t)
	if got.Validation == nil || got.Validation.Valid || got.Refused != nil {
		t.Errorf("state is %+v", got)
	}
	if err := configstate.MayStart(string(f.home), got.Validation.SeidVersion); err == nil {
		t.Error("seid may start on a configuration that failed")
	}
}

func TestValidate_FilesThatDoNotParse_AreReplacedByTheLastGoodOnes(t *testing.T) {
	f := newFixture(t)
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	handlertest.Must[any](t, f.Harness, api.ConfigValidate, `{}`)
	if err := os.WriteFile(f.home.AppToml(), []byte("pruning = = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := f.Run(t, api.ConfigValidate, `{}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "app.toml")
	f.wantHash(t, "one")
}

func TestValidate_NotTried_SaysSo(t *testing.T) {
	f := newFixture(t)
	f.tasks.Trial = func(context.Context, string) (trial.Result, error) {
		return trial.Result{Skipped: "not tried: seid is running"}, nil
	}
	got := handlertest.Must[wire.ConfigTrial](t, f.Harness, api.ConfigValidate, `{}`)
	if diff := cmp.Diff(wire.ConfigTrial{Skipped: "not tried: seid is running"}, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if v := f.state(t).Validation; v == nil || !v.Valid || v.Tried || v.Error != "not tried: seid is running" {
		t.Errorf("validation is %+v", v)
	}
}

func TestApply_Refused_IsRecordedAndChangesNothing(t *testing.T) {
	f := newFixture(t)
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	_, err := f.Run(t, api.ConfigApply, `{"mode":"full","configHash":"two","overrides":{"mempool.sise":"1"}}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "mempool.sise")
	f.wantHash(t, "one")
	if r := f.state(t).Refused; r == nil || r.ConfigHash != "two" || !strings.Contains(r.Error, "mempool.sise") || r.SeidVersion == "" {
		t.Errorf("refused is %+v", r)
	}
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	if r := f.state(t).Refused; r != nil {
		t.Errorf("refused is still %+v", r)
	}
}

func TestApply_BeforeTheFirstSync_KeepsStateSync(t *testing.T) {
	f := newFixture(t)
	f.apply(t, `{"mode":"full","configHash":"one"}`)
	f.setStateSync(t)
	before, err := config.Read(f.home.Config())
	if err != nil {
		t.Fatal(err)
	}
	peer := strings.Repeat("ab", 20) + "@a:26656"
	f.apply(t, `{"mode":"full","configHash":"two","overrides":{"network.p2p.persistent_peers":"`+peer+`"}}`)
	after, err := config.Read(f.home.Config())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Config["statesync"], after.Config["statesync"]); diff != "" {
		t.Errorf("[statesync] (-before +after):\n%s", diff)
	}

	if err := errors.Join(configstate.Started(string(f.home)), stage.MarkSynced(string(f.home), stage.Mark{})); err != nil {
		t.Fatal(err)
	}
	last := f.apply(t, `{"mode":"full","configHash":"two","overrides":{"network.p2p.persistent_peers":"`+peer+`"}}`)
	if enabled, _ := f.tasks.StateSyncEnabled(); enabled || last.RestartRequired {
		t.Errorf("after the first sync state sync is %v, and a restart required %v", enabled, last.RestartRequired)
	}
	f.wantHash(t, "two")
}

func TestApply_RestartIsRequiredUntilItHappened(t *testing.T) {
	f := newFixture(t)
	f.apply(t, `{"mode":"full"}`)
	started := func() {
		t.Helper()
		if err := configstate.Started(string(f.home)); err != nil {
			t.Fatal(err)
		}
	}
	started()
	params := `{"mode":"full","overrides":{"network.p2p.max_connections":"77"}}`
	for range 2 {
		if got := f.apply(t, params); !got.RestartRequired {
			t.Errorf("no restart is required: %+v", got)
		}
	}
	started()
	if got := f.apply(t, params); got.RestartRequired {
		t.Errorf("a restart is required after the restart: %+v", got)
	}
}

func TestApply_PeersThatAppear_RestartNoNodeInSync(t *testing.T) {
	for name, tc := range map[string]struct {
		inSync error
		want   bool
	}{"in sync": {nil, false}, "alone": {errors.New("no peers"), true}} {
		f := newFixture(t)
		f.tasks.InSync = func(context.Context) error { return tc.inSync }
		f.apply(t, `{"mode":"full"}`)
		if err := configstate.Started(string(f.home)); err != nil {
			t.Fatal(err)
		}
		peer := strings.Repeat("ab", 20) + "@a:26656"
		if got := f.apply(t, `{"mode":"full","overrides":{"network.p2p.persistent_peers":"`+peer+`"}}`); got.RestartRequired != tc.want {
			t.Errorf("%s: restart required %v, want %v", name, got.RestartRequired, tc.want)
		}
	}
}

func TestApply_ClientTomlNamesTheChain(t *testing.T) {
	for name, prepare := range map[string]func(string) error{
		"missing":   os.Remove,
		"as it was": func(string) error { return nil },
		"wrong before": func(p string) error {
			return os.WriteFile(p, []byte("chain-id = \"defaults-1\"\nnode = \"x\"\n"), 0o600)
		},
	} {
		f := newFixture(t)
		if err := prepare(f.home.ClientToml()); err != nil {
			t.Fatal(err)
		}
		f.apply(t, `{"mode":"full"}`)
		if got := f.file(t, "client.toml"); !strings.Contains(got, "chain-id = 'test-1'") {
			t.Errorf("%s: client.toml is\n%s", name, got)
		}
	}
}
