package configfiles_test

import (
	"context"
	"encoding/json"
	"errors"
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

// witness is a node that others sync from.
type witness struct {
	network          string
	latest, earliest int64
	hash             string
	down             bool
	asked            int
}

func (w *witness) Status(context.Context) (*rpc.Status, error) {
	w.asked++
	if w.down {
		return nil, fmt.Errorf("%w: refused", rpc.ErrUnreachable)
	}
	status := &rpc.Status{}
	status.NodeInfo.Network = w.network
	status.SyncInfo.LatestBlockHeight, status.SyncInfo.EarliestBlockHeight = w.latest, w.earliest
	return status, nil
}

func (w *witness) Block(_ context.Context, height int64) (*rpc.Block, error) {
	if height < w.earliest || height > w.latest {
		return nil, errors.New("no such block")
	}
	return &rpc.Block{Hash: w.hash}, nil
}

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

func hash(letter string) string { return strings.Repeat(letter, 64) }

func TestStateSync_FindsATrustPointThatAllWitnessesHave(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b witness
		want int64
	}{
		"old chain":    {witness{latest: 10000, earliest: 1}, witness{latest: 9990, earliest: 1}, 7990},
		"young chain":  {witness{latest: 12, earliest: 1}, witness{latest: 11, earliest: 1}, 1},
		"pruned":       {witness{latest: 10000, earliest: 9500}, witness{latest: 10000, earliest: 9000}, 9501},
		"almost empty": {witness{latest: 100, earliest: 100}, witness{latest: 100, earliest: 100}, 100},
	} {
		f := newFixture(t)
		tc.a.network, tc.b.network, tc.a.hash, tc.b.hash = "test-1", "test-1", hash("A"), hash("a")
		f.witnesses = map[string]*witness{"a:26657": &tc.a, "b:26657": &tc.b}
		got := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, `{"rpcServers":["a:26657","b:26657"],"trustPeriod":"24h","backfillBlocks":10}`)
		want := wire.StateSync{TrustHeight: tc.want, TrustHash: got.TrustHash, RPCServers: []string{"a:26657", "b:26657"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if config := f.file(t, "config.toml"); !strings.Contains(config, fmt.Sprintf("trust-height = %d\n", tc.want)) {
			t.Errorf("%s: config.toml does not have the trust height", name)
		}
		if enabled, err := f.tasks.StateSyncEnabled(); err != nil || !enabled {
			t.Errorf("%s: state sync is %v, %v", name, enabled, err)
		}
	}
}

func TestStateSync_WarnsOfWitnessesItLeavesOut(t *testing.T) {
	f := newFixture(t)
	f.witnesses = map[string]*witness{
		"a:26657": {network: "test-1", latest: 100, earliest: 1, hash: hash("A")},
		"b:26657": {network: "other-1", latest: 100, earliest: 1, hash: hash("B")},
	}
	got := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, `{"rpcServers":["a:26657","b:26657","c:26657"]}`)
	if len(got.Warnings) != 3 || !cmp.Equal(got.RPCServers, []string{"a:26657", "a:26657"}) {
		t.Errorf("state sync = %+v", got)
	}
}

func TestStateSync_WitnessesOfThePersistentPeers(t *testing.T) {
	f := newFixture(t)
	id := strings.Repeat("ab", 20)
	if err := f.tasks.SetPeers(t.Context(), []string{id + "@a:26656", id + "@b:26656", id + "@c:26656"}); err != nil {
		t.Fatal(err)
	}
	f.witnesses = map[string]*witness{
		"a:26657": {network: "test-1", latest: 100, earliest: 1, hash: hash("A")}, "b:26657": {network: "test-1", latest: 100, earliest: 1, hash: hash("A")},
	}
	got := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, `{}`)
	if diff := cmp.Diff([]string{"a:26657", "b:26657"}, got.RPCServers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}

func TestStateSync_ARepeatWritesTheSameAndAsksNobody(t *testing.T) {
	f := newFixture(t)
	w := &witness{network: "test-1", latest: 100, earliest: 1, hash: hash("A")}
	f.witnesses = map[string]*witness{"a:26657": w, "b:26657": w}
	params := `{"rpcServers":["a:26657","b:26657"]}`
	first := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, params)
	handlertest.Must[any](t, f.Harness, api.ConfigApply, `{"mode":"full"}`) // switches it off
	asked := w.asked
	w.down = true
	again := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, params)
	if diff := cmp.Diff(first, again); diff != "" || w.asked != asked {
		t.Errorf("repeat asked %d times (-first +again):\n%s", w.asked-asked, diff)
	}
	if enabled, _ := f.tasks.StateSyncEnabled(); !enabled {
		t.Error("state sync is off after the repeat")
	}
	_, err := f.Run(t, api.ConfigureStateSync, `{"rpcServers":["a:26657","b:26657"],"backfillBlocks":5}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "no reachable RPC witness")
}

func TestStateSync_Refuses(t *testing.T) {
	f := newFixture(t)
	f.witnesses = map[string]*witness{
		"a:26657": {network: "test-1", latest: 100, earliest: 1, hash: hash("A")}, "b:26657": {network: "test-1", latest: 100, earliest: 1, hash: hash("B")},
	}
	for params, want := range map[string]struct{ code, text string }{
		`{"rpcServers":["a:26657","b:26657"]}`: {api.CodeIntegrity, "witnesses disagree about block 1"},
		`{"rpcServers":["c:26657"]}`:           {api.CodeUnavailable, "no reachable RPC witness among [c:26657]"},
		`{}`:                                   {api.CodePrecondition, "no RPC witness is known"},
		`{"useLocalSnapshot":true,"rpcServers":["a:26657"]}`: {api.CodePrecondition, "no local snapshot"},
		`{"rpcServers":["nonsense"]}`:                        {api.CodeInvalidParams, "rpcServers[0]"},
		`{"rpcServers":["a:26657"],"trustPeriod":"soon"}`:    {api.CodeInvalidParams, "trustPeriod"},
		`{"rpcServers":["a:26657"],"backfillBlocks":-1}`:     {api.CodeInvalidParams, "backfillBlocks"},
	} {
		_, err := f.Run(t, api.ConfigureStateSync, params)
		handlertest.WantError(t, err, want.code, want.text)
	}
}

func TestStateSync_FromALocalSnapshot_TrustsItsHeight(t *testing.T) {
	f := newFixture(t)
	if err := os.MkdirAll(filepath.Join(f.home.Snapshots(), "42", "1"), 0o750); err != nil {
		t.Fatal(err)
	}
	w := &witness{network: "test-1", latest: 100, earliest: 1, hash: hash("A")}
	f.witnesses = map[string]*witness{"a:26657": w, "b:26657": w}
	got := handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, `{"useLocalSnapshot":true,"rpcServers":["a:26657","b:26657"]}`)
	if got.TrustHeight != 42 || !strings.Contains(f.file(t, "config.toml"), "use-local-snapshot = true") {
		t.Errorf("state sync = %+v", got)
	}
}

func TestLocalRPC_IsWhereTheConfigurationSays(t *testing.T) {
	f := newFixture(t)
	for address, want := range map[string]string{
		"tcp://0.0.0.0:26657": "http://127.0.0.1:26657", "tcp://127.0.0.1:1234": "http://127.0.0.1:1234", "tcp://[::]:99": "http://127.0.0.1:99", "": rpc.LocalURL,
	} {
		handlertest.Must[any](t, f.Harness, api.ConfigPatch, fmt.Sprintf(`{"files":{"config.toml":{"rpc":{"laddr":%q}}}}`, address))
		if got := f.tasks.LocalRPC(); got != want {
			t.Errorf("laddr %q: RPC is at %q, want %q", address, got, want)
		}
	}
}
