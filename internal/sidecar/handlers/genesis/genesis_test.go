package genesis_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/configfiles"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/genesis"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

const chainID = "test-1"

type fixture struct {
	*handlertest.Harness
	node *node.Node
	home home.Dir
}

func newFixture(tb testing.TB, seid seidcmd.Runner, bucket string) *fixture {
	tb.Helper()
	n := &node.Node{Home: home.Dir(tb.TempDir()), ChainID: chainID, Seid: seid, GenesisBucket: bucket}
	files := &configfiles.Tasks{Node: n}
	tasks := &genesis.Tasks{Node: n, SetPeers: files.SetPeers, SetMoniker: files.SetMoniker, Moniker: files.Moniker}
	return &fixture{Harness: handlertest.New(tasks.Handlers()), node: n, home: n.Home}
}

const (
	identityParams = `{"chainId":"test-1","moniker":"val-%d"}`
	gentxParams    = `{"chainId":"test-1","stakingAmount":"10000000usei","accountBalance":"20000000usei"}`
)

// validator is a home that has its gentx.
func validator(tb testing.TB, i int, bucket string) (*fixture, wire.Gentx) {
	tb.Helper()
	f := newFixture(tb, handlertest.Seid(tb), bucket)
	handlertest.Must[wire.Identity](tb, f.Harness, api.GenerateIdentity, fmt.Sprintf(identityParams, i))
	handlertest.Must[wire.Gentx](tb, f.Harness, api.GenerateGentx, gentxParams)
	return f, handlertest.Must[wire.Gentx](tb, f.Harness, api.ExportGentx, `{}`)
}

func unpack(tb testing.TB, packed string) []byte {
	tb.Helper()
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(zipped)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func pack(tb testing.TB, data string) string {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	if _, err := zipped.Write([]byte(data)); err != nil {
		tb.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		tb.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestIdentityAndGentx_Repeated_ChangeNothing(t *testing.T) {
	f, first := validator(t, 0, "")
	if first.NodeID == "" || !strings.HasPrefix(first.Account, "sei1") {
		t.Errorf("export = %+v", first)
	}
	before := handlertest.Files(t, string(f.home))
	handlertest.Must[wire.Identity](t, f.Harness, api.GenerateIdentity, fmt.Sprintf(identityParams, 0))
	again := handlertest.Must[wire.Gentx](t, f.Harness, api.GenerateGentx, gentxParams)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("gentx (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(before, handlertest.Files(t, string(f.home))); diff != "" {
		t.Errorf("home (-before +after):\n%s", diff)
	}
	for name := range before {
		if strings.HasPrefix(name, "tmp/") {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestGentx_OtherStake_IsSignedAnewWithTheSameKey(t *testing.T) {
	f, first := validator(t, 0, "")
	second := handlertest.Must[wire.Gentx](t, f.Harness, api.GenerateGentx,
		`{"chainId":"test-1","stakingAmount":"11000000usei","accountBalance":"20000000usei"}`)
	if second.Account != first.Account || bytes.Equal(second.Gentx, first.Gentx) || !bytes.Contains(second.Gentx, []byte("11000000")) {
		t.Errorf("second gentx is %s of %s", second.Gentx, second.Account)
	}
}

func TestGentx_AfterAKillAnywhere_EndsTheSame(t *testing.T) {
	f := newFixture(t, handlertest.Seid(t), "")
	handlertest.Must[wire.Identity](t, f.Harness, api.GenerateIdentity, fmt.Sprintf(identityParams, 0))
	// What the kill of an earlier run can have left: an address without its key,
	// a scratch directory, a gentx that was not recorded.
	for name, content := range map[string]string{
		"keyring-test/aaaa.address": "half", "tmp/.sei-tmp-gentx-1/config/genesis.json": "{", "config/gentx/gentx-other.json": "{}",
	} {
		file := f.home.Path(name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := handlertest.Must[wire.Gentx](t, f.Harness, api.GenerateGentx, gentxParams)
	if got.Account == "" {
		t.Errorf("gentx = %+v", got)
	}
	if left, _ := os.ReadDir(f.home.Tmp()); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestGentx_RefusesWhatCannotWork(t *testing.T) {
	seid := handlertest.Seid(t)
	f := newFixture(t, seid, "")
	_, err := f.Run(t, api.GenerateGentx, gentxParams)
	handlertest.WantError(t, err, api.CodePrecondition, "node_key.json")
	_, err = f.Run(t, api.ExportGentx, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "reading")
	_, err = f.Run(t, api.GenerateIdentity, `{"chainId":"other-1","moniker":"m"}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "chainId")
	handlertest.Must[wire.Identity](t, f.Harness, api.GenerateIdentity, fmt.Sprintf(identityParams, 0))
	_, err = f.Run(t, api.GenerateGentx, `{"chainId":"test-1","stakingAmount":"10usei","accountBalance":"5usei"}`)
	if err == nil || !strings.Contains(err.Error(), "5usei available to stake") {
		t.Errorf("a stake above the balance gave %v", err)
	}
}

func TestExport_NeverCarriesAPrivateKey(t *testing.T) {
	f, exported := validator(t, 0, "")
	raw, err := json.Marshal(exported)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node_key.json", "priv_validator_key.json"} {
		var key struct {
			PrivKey struct {
				Value string `json:"value"`
			} `json:"priv_key"`
		}
		data, err := os.ReadFile(f.home.ConfigFile(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &key); err != nil || key.PrivKey.Value == "" {
			t.Fatalf("%s: %v, want no error and Value not empty", name, err)
		}
		if bytes.Contains(raw, []byte(key.PrivKey.Value)) {
			t.Errorf("the export holds the private key of %s", name)
		}
	}
}

func assembleParams(tb testing.TB, extra string, gentxs ...wire.Gentx) string {
	tb.Helper()
	list := make([]json.RawMessage, 0, len(gentxs))
	for _, g := range gentxs {
		list = append(list, g.Gentx)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf(`{"accountBalance":"20000000usei","gentxs":%s%s}`, raw, extra)
}

// look reads a value of a genesis by its path.
func look(tb testing.TB, data []byte, path ...string) any {
	tb.Helper()
	var at any
	if err := json.Unmarshal(data, &at); err != nil {
		tb.Fatal(err)
	}
	for _, segment := range path {
		object, ok := at.(map[string]any)
		if !ok {
			tb.Fatalf("%v: %s is not in an object", path, segment)
		}
		at = object[segment]
	}
	return at
}

func TestAssemble_MakesTheGenesisOfAllGentxs(t *testing.T) {
	leader, first := validator(t, 0, "")
	_, second := validator(t, 1, "")
	extra := `,"accounts":[{"address":"sei14n47fc8nx6hm6n339dhuhpxmgnz0dv67cgf0qg","balance":"500usei,7uatom",
	  "vesting":{"amount":"100usei","endTime":4000000000}}],
	  "overrides":{"staking.params.unbonding_time":"\"60s\"","consensus_params.timeout.commit":"\"1000000000\"","gov.voting_params.voting_period":"\"30s\""}`
	extra = strings.ReplaceAll(extra, `"\"`, `"`)
	extra = strings.ReplaceAll(extra, `\""`, `"`)
	params := assembleParams(t, extra, first, second)
	got := handlertest.Must[wire.AssembledGenesis](t, leader.Harness, api.AssembleGenesis, params)
	data := unpack(t, got.Genesis)
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != got.GenesisHash {
		t.Errorf("the hash is not the genesis's")
	}
	if len(got.Warnings) != 1 {
		t.Errorf("a chain of two validators gave the warnings %v", got.Warnings)
	}
	if v := look(t, data, "app_state", "staking", "params", "unbonding_time"); v != "60s" {
		t.Errorf("unbonding time is %v", v)
	}
	if v := look(t, data, "consensus_params", "timeout", "commit"); v != "1000000000" {
		t.Errorf("commit timeout is %v", v)
	}
	validators, _ := look(t, data, "validators").([]any)
	if len(validators) != 2 || validators[0].(map[string]any)["power"] != "10" {
		t.Errorf("validators are %v", validators)
	}
	accounts, _ := look(t, data, "app_state", "auth", "accounts").([]any)
	types := make([]string, 0, len(accounts))
	for _, a := range accounts {
		types = append(types, a.(map[string]any)["@type"].(string))
	}
	slices.Sort(types)
	want := []string{"/cosmos.auth.v1beta1.BaseAccount", "/cosmos.auth.v1beta1.BaseAccount", "/cosmos.vesting.v1beta1.ContinuousVestingAccount"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if n := len(look(t, data, "app_state", "evm", "address_associations").([]any)); n != 2 {
		t.Errorf("%d EVM associations, want 2", n)
	}
	again := handlertest.Must[wire.AssembledGenesis](t, leader.Harness, api.AssembleGenesis, params)
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("repeat (-first +again):\n%s", diff)
	}
	leader.Records = &handlertest.Records{}
	anew := handlertest.Must[wire.AssembledGenesis](t, leader.Harness, api.AssembleGenesis, params)
	if anew.GenesisHash != got.GenesisHash {
		t.Errorf("the same inputs made another genesis:\n%s", cmp.Diff(string(data), string(unpack(t, anew.Genesis))))
	}
	other := handlertest.Must[wire.AssembledGenesis](t, leader.Harness, api.AssembleGenesis, assembleParams(t, "", first))
	if other.GenesisHash == got.GenesisHash {
		t.Errorf("other inputs were ignored")
	}
}

func TestAssemble_NamesWhatIsWrong(t *testing.T) {
	leader, first := validator(t, 0, "")
	for name, tc := range map[string]struct{ params, field, text string }{
		"twice":            {assembleParams(t, "", first, first), "gentxs[1]", "same delegator as gentxs[0]"},
		"not a gentx":      {`{"accountBalance":"1usei","gentxs":[{}]}`, "gentxs[0]", "0 messages"},
		"unknown module":   {assembleParams(t, `,"overrides":{"nosuch.param":1}`, first), "overrides[nosuch.param]", "no module"},
		"through a string": {assembleParams(t, `,"overrides":{"gov.starting_proposal_id.x":1}`, first), "overrides[gov.starting_proposal_id.x]", "not an object"},
		"no module":        {assembleParams(t, `,"overrides":{"gov":1}`, first), "overrides[gov]", "module.field"},
		"past vesting": {assembleParams(t, `,"accounts":[{"address":"sei14n47fc8nx6hm6n339dhuhpxmgnz0dv67cgf0qg","balance":"5usei",
			"vesting":{"amount":"1usei","endTime":5}}]`, first), "accounts[0].vesting.endTime", "not after the genesis time"},
		"validator's account": {assembleParams(t, `,"accounts":[{"address":"`+first.Account+`","balance":"5usei"}]`, first), "accounts[0].address", "account of a validator"},
		"bad checksum": {assembleParams(t, `,"accounts":[{"address":"sei14n47fc8nx6hm6n339dhuhpxmgnz0dv67cgf0qq","balance":"5usei"}]`, first),
			"accounts[0]", "add-genesis-account"},
		"bad coin":    {assembleParams(t, `,"accounts":[{"address":"sei14n47fc8nx6hm6n339dhuhpxmgnz0dv67cgf0qg","balance":"5"}]`, first), "accounts[0].balance", "denomination"},
		"unknown key": {assembleParams(t, `,"gentx":1`, first), "gentx", "not a parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := leader.Run(t, api.AssembleGenesis, tc.params)
			handlertest.WantError(t, err, api.CodeInvalidParams, tc.text)
			if got := api.DetailOf(err).Field; got != tc.field {
				t.Errorf("field is %q, want %q", got, tc.field)
			}
		})
	}
}

func TestBucketCeremony_PublishesOneGenesisAndNoKeys(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + dir
	leader, first := validator(t, 0, bucket)
	other, second := validator(t, 1, bucket)
	_, err := leader.Run(t, api.ConfigureGenesis, `{}`)
	handlertest.WantError(t, err, api.CodeNotFound, "genesis.json")
	if !api.DetailOf(err).Retryable {
		t.Error("waiting for the leader was not called worth a retry")
	}
	assemble := `{"accountBalance":"20000000usei","namespace":"ns","nodes":[{"name":"v-0"},{"name":"v-1"}]}`
	handlertest.Must[any](t, leader.Harness, api.UploadGenesisArtifacts, `{"nodeName":"v-0"}`)
	_, err = leader.Run(t, api.AssembleAndUploadGenesis, assemble)
	handlertest.WantError(t, err, api.CodeNotFound, "v-1/gentx.json")
	handlertest.Must[any](t, other.Harness, api.UploadGenesisArtifacts, `{"nodeName":"v-1"}`)
	done := handlertest.Must[wire.UploadedGenesis](t, leader.Harness, api.AssembleAndUploadGenesis, assemble)
	again := handlertest.Must[wire.UploadedGenesis](t, leader.Harness, api.AssembleAndUploadGenesis, assemble)
	if done.GenesisHash == "" || done.GenesisHash != again.GenesisHash {
		t.Errorf("hashes are %q and %q", done.GenesisHash, again.GenesisHash)
	}
	for name, content := range handlertest.Files(t, dir) {
		if strings.Contains(content, "priv_key") {
			t.Errorf("%s holds a private key:\n%s", name, content)
		}
	}
	for _, f := range []*fixture{leader, other} {
		got := handlertest.Must[wire.ConfiguredGenesis](t, f.Harness, api.ConfigureGenesis, `{"expectedGenesisHash":"`+done.GenesisHash+`"}`)
		if got.GenesisHash != done.GenesisHash {
			t.Errorf("configured %+v, want GenesisHash %v", got, done.GenesisHash)
		}
	}
	peers := handlertest.Must[wire.Peers](t, leader.Harness, api.SetGenesisPeers, `{}`)
	// Without a domain, which the sidecar does not know: pods resolve it whatever the cluster's is.
	want := []string{second.NodeID + "@v-1-0.v-1.ns.svc:26656"}
	if diff := cmp.Diff(want, peers.Peers); diff != "" {
		t.Errorf("peers (-want +got):\n%s", diff)
	}
	if config := handlertest.Files(t, leader.home.Config())["config.toml"]; !strings.Contains(config, want[0]) || strings.Contains(config, first.NodeID) {
		t.Errorf("config.toml does not name just the other node")
	}
}

func TestConfigureGenesis_WrongOnes_LeaveTheOldInPlace(t *testing.T) {
	f, _ := validator(t, 0, "")
	old, err := os.ReadFile(f.home.Genesis())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ params, code, text string }{
		"hash":        {`{"genesis":"` + pack(t, string(old)) + `","expectedGenesisHash":"` + strings.Repeat("ab", 32) + `"}`, api.CodeIntegrity, "expected abab"},
		"other chain": {`{"genesis":"` + pack(t, `{"chain_id":"other-1"}`) + `"}`, api.CodeIntegrity, `of chain "other-1"`},
		"no chain":    {`{"genesis":"` + pack(t, `{"x":{"chain_id":"test-1"}}`) + `"}`, api.CodeIntegrity, "no chain_id"},
		"cut":         {`{"genesis":"` + pack(t, string(old[:len(old)/2])) + `"}`, api.CodeIntegrity, "not valid JSON"},
		"not gzip":    {`{"genesis":"aGVsbG8="}`, api.CodeInvalidParams, "not gzip"},
		"bad hash":    {`{"expectedGenesisHash":"zz"}`, api.CodeInvalidParams, "SHA-256"},
		"no source":   {`{}`, api.CodePrecondition, "no genesis bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.Run(t, api.ConfigureGenesis, tc.params)
			handlertest.WantError(t, err, tc.code, tc.text)
			if now, _ := os.ReadFile(f.home.Genesis()); !bytes.Equal(now, old) {
				t.Error("the genesis changed")
			}
		})
	}
	if err := os.MkdirAll(f.home.Path("data", "blockstore.db"), 0o750); err != nil {
		t.Fatal(err)
	}
	_, err = f.Run(t, api.ConfigureGenesis, `{"genesis":"`+pack(t, `{"chain_id":"test-1"}`)+`"}`)
	handlertest.WantError(t, err, api.CodePrecondition, "has blocks")
	handlertest.Must[wire.ConfiguredGenesis](t, f.Harness, api.ConfigureGenesis, `{"genesis":"`+pack(t, string(old))+`"}`)
}

func TestConfigureGenesis_APublicChain_ComesFromTheBinary(t *testing.T) {
	f := newFixture(t, handlertest.Seid(t), "")
	f.node.ChainID = "arctic-1"
	got := handlertest.Must[wire.ConfiguredGenesis](t, f.Harness, api.ConfigureGenesis, `{}`)
	if got.Source != "embedded" || len(got.GenesisHash) != 64 {
		t.Errorf("configured %+v, want Source %q and 64 GenesisHash", got, "embedded")
	}
	data, err := os.ReadFile(f.home.Genesis())
	if err != nil || !bytes.Contains(data, []byte(`"arctic-1"`)) {
		t.Errorf("the genesis is not arctic-1's (%v)", err)
	}
	_, err = f.Run(t, api.AssembleGenesis, `{"accountBalance":"1usei","genesisTime":"2030-01-01T00:00:00Z","gentxs":[{}]}`)
	handlertest.WantError(t, err, api.CodePrecondition, "public chain")
}

func TestSetGenesisPeers_GivenAsParameter_LeavesItselfOut(t *testing.T) {
	f, own := validator(t, 0, "")
	other := strings.Repeat("ab", 20) + "@10.0.0.1:26656"
	got := handlertest.Must[wire.Peers](t, f.Harness, api.SetGenesisPeers, fmt.Sprintf(`{"peers":[%q,%q]}`, own.NodeID+"@10.0.0.2:26656", other))
	if diff := cmp.Diff([]string{other}, got.Peers); diff != "" {
		t.Errorf("peers (-want +got):\n%s", diff)
	}
	_, err := f.Run(t, api.SetGenesisPeers, `{"peers":["nobody"]}`)
	handlertest.WantError(t, err, api.CodeInvalidParams, "peers[0]")
	_, err = f.Run(t, api.SetGenesisPeers, `{}`)
	handlertest.WantError(t, err, api.CodePrecondition, "no genesis bucket")
	alone := handlertest.Must[wire.Peers](t, f.Harness, api.SetGenesisPeers, `{"peers":[]}`)
	if data, err := os.ReadFile(f.home.ConfigToml()); len(alone.Peers) != 0 || !bytes.Contains(data, []byte(other)) {
		t.Errorf("an empty list has set %v, or removed the peers of the configuration (%v)", alone.Peers, err)
	}
}
