package configfiles_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/configfiles"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

type fixture struct {
	*handlertest.Harness
	tasks     *configfiles.Tasks
	home      home.Dir
	witnesses map[string]*witness
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{home: home.Dir(t.TempDir()), witnesses: map[string]*witness{}}
	f.tasks = &configfiles.Tasks{
		Node: &node.Node{Home: f.home, ChainID: "test-1", Seid: handlertest.Seid(t)},
		Witness: func(address string) configfiles.Witness {
			if w, ok := f.witnesses[address]; ok {
				return w
			}
			return &witness{down: true}
		},
	}
	f.Harness = handlertest.New(f.tasks.Handlers())
	_, err := f.tasks.Node.Seid.Run(t.Context(), seidcmd.Call{Args: []string{"init", "n", "--chain-id", "test-1", "--home", string(f.home), "--mode", "full"}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(f.home.ConfigFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestApply_SaysWhatChangedAndWhetherToRestart(t *testing.T) {
	f := newFixture(t)
	params := `{"mode":"full","overrides":{"mempool.size":"4321","logging.level":"error"}}`
	first := handlertest.Must[wire.ConfigChanges](t, f.Harness, api.ConfigApply, params)
	if !first.RestartRequired || len(first.Changed) == 0 {
		t.Errorf("first apply = %+v", first)
	}
	if diff := cmp.Diff(wire.ConfigChanges{Changed: []string{}}, handlertest.Must[wire.ConfigChanges](t, f.Harness, api.ConfigApply, params)); diff != "" {
		t.Errorf("second apply (-want +got):\n%s", diff)
	}
	hot := handlertest.Must[wire.ConfigChanges](t, f.Harness, api.ConfigApply, `{"incremental":true,"overrides":{"mempool.size":"1234"}}`)
	if diff := cmp.Diff(wire.ConfigChanges{Changed: []string{"config.toml:mempool.size"}}, hot); diff != "" {
		t.Errorf("hot key (-want +got):\n%s", diff)
	}
	if config := f.file(t, "config.toml"); !strings.Contains(config, "size = 1234\n") || !strings.Contains(config, "log-level = 'error'") {
		t.Errorf("config.toml is\n%s", config)
	}
}

func TestChange_KilledBeforeItsResultWasStored_TellsTheSameAgain(t *testing.T) {
	f := newFixture(t)
	id := uuid.NewString()
	params := `{"files":{"config.toml":{"p2p":{"max-connections":77}}}}`
	first, err := f.RunAs(t, id, api.ConfigPatch, params)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.RunAs(t, id, api.ConfigPatch, params)
	if err != nil || string(again) != string(first) || !strings.Contains(string(again), "config.toml:p2p.max-connections") {
		t.Errorf("first %s, then %s, %v", first, again, err)
	}
}

func TestRefusedInput_NamesTheFaultAndChangesNothing(t *testing.T) {
	f := newFixture(t)
	before := f.file(t, "config.toml") + f.file(t, "app.toml")
	for _, tc := range []struct {
		task         api.TaskType
		params, text string
	}{
		{api.ConfigApply, `{}`, "mode is required for non-incremental config resolution"},
		{api.ConfigApply, `{"mode":"fool"}`, "fool"},
		{api.ConfigApply, `{"mode":"full","overrides":{"mempool.sise":"1"}}`, `unknown override key "mempool.sise"`},
		{api.ConfigApply, `{"mode":"full","overrides":{"mempool.size":"10abc"}}`, "10abc"},
		{api.ConfigApply, `{"mode":"full","overrides":{"storage.pruning":"everything","storage.snapshot_interval":"10"}}`, "config validation failed"},
		{api.ConfigApply, `{"mode":"full","overrides":{"mempool.size":5}}`, "overrides"},
		{api.ConfigApply, `{"mode":"full","overrides":{"config.toml:Mode":"validator"}}`, "decides how a node signs blocks"},
		{api.ConfigApply, `{"mode":"validator","overrides":{"priv_validator.state_file":"/tmp/s"}}`, "decides how a node signs blocks"},
		{api.ConfigApply, `{"incremental":true,"overrides":{"priv_validator.listen_addr":"tcp://0.0.0.0:1"}}`, "decides how a node signs blocks"},
		{api.ConfigPatch, `{"files":{"config.toml":{"mode":"validator"}}}`, "decides how a node signs blocks"},
		{api.ConfigPatch, `{"files":{"config.toml":{"priv-validator":{"key-file":"/tmp/k"}}}}`, "decides how a node signs blocks"},
		{api.ConfigPatch, `{}`, "at least one file is required"},
		{api.ConfigPatch, `{"files":{"../../etc/passwd":{"a":1}}}`, "is not one of"},
		{api.ConfigPatch, `{"files":{"genesis.json":{"a":1}}}`, "is not one of"},
		{api.ConfigPatch, `{"files":{"config.toml":7}}`, "is not an object"},
		{api.ConfigPatch, `{"files":{"config.toml":{"p2p":"gone"}}}`, "p2p"},
		{api.ConfigReload, `{}`, "at least one is required"},
		{api.ConfigReload, `{"fields":{"nosuch":"1"}}`, `unknown field "nosuch"`},
		{api.ConfigReload, `{"fields":{"storage.pruning":"nothing"}}`, "require a restart"},
	} {
		_, err := f.Run(t, tc.task, tc.params)
		handlertest.WantError(t, err, api.CodeInvalidParams, tc.text)
	}
	if after := f.file(t, "config.toml") + f.file(t, "app.toml"); after != before {
		t.Errorf("files (-before +after):\n%s", cmp.Diff(before, after))
	}
	if left, _ := filepath.Glob(f.home.ConfigFile(".sei-tmp-*")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestPatch_KeepsIntegersAndRemovesLeftovers(t *testing.T) {
	f := newFixture(t)
	leftover := f.home.ConfigFile(".sei-tmp-config.toml-123")
	if err := os.WriteFile(leftover, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	handlertest.Must[wire.ConfigChanges](t, f.Harness, api.ConfigPatch, `{"files":{"config.toml":{"p2p":{"send-rate":5000,"new-key":null}}}}`)
	if config := f.file(t, "config.toml"); !strings.Contains(config, "send-rate = 5000\n") {
		t.Errorf("config.toml is\n%s", config)
	}
	if _, err := os.Stat(leftover); err == nil {
		t.Error("the leftover of a killed run is still there")
	}
}

func TestValidate_CarriesItsFindings(t *testing.T) {
	f := newFixture(t)
	report := handlertest.Must[config.Report](t, f.Harness, api.ConfigValidate, `{}`)
	if !report.Valid || report.Mode != "full" {
		t.Errorf("report = %+v", report)
	}
	handlertest.Must[any](t, f.Harness, api.ConfigPatch, `{"files":{"app.toml":{"state-store":{"ss-enable":false},"state-sync":{"snapshot-interval":10}}}}`)
	raw, err := f.Run(t, api.ConfigValidate, `{}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, `config validation failed: {"valid":false`)
	if err := json.Unmarshal(raw, &report); err != nil || report.Valid || len(report.Diagnostics) == 0 {
		t.Errorf("result is %s (%v)", raw, err)
	}
}

func TestLocalRPC_IsWhereTheConfigurationSays(t *testing.T) {
	f := newFixture(t)
	for address, want := range map[string]string{
		"tcp://0.0.0.0:26657": "http://127.0.0.1:26657", "tcp://127.0.0.1:1234": "http://127.0.0.1:1234", "tcp://[::]:99": "http://127.0.0.1:99", "": rpc.LocalURL,
	} {
		handlertest.Must[any](t, f.Harness, api.ConfigPatch, fmt.Sprintf(`{"files":{"config.toml":{"rpc":{"laddr":%q}}}}`, address))
		if got := f.tasks.LocalRPC().URL; got != want {
			t.Errorf("laddr %q: RPC is at %q, want %q", address, got, want)
		}
	}
}
