package configstate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// node is a home with a configuration.
type node struct {
	*testing.T
	home string
}

func newNode(t *testing.T) node {
	t.Helper()
	n := node{t, t.TempDir()}
	if err := os.MkdirAll(filepath.Join(n.home, "config"), 0o750); err != nil {
		t.Fatal(err)
	}
	n.edit("")
	return n
}

// content are files that differ by what is added to config.toml.
func content(t *testing.T, configToml string) config.Files {
	t.Helper()
	files, err := config.Parse(map[config.FileName][]byte{
		config.ConfigToml: []byte(configToml), config.AppToml: []byte("x = 1\n"), config.ClientToml: []byte("keyring-backend = 'test'\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// edit writes config.toml behind the record's back.
func (n node) edit(configToml string) {
	n.Helper()
	if err := config.Write(filepath.Join(n.home, "config"), content(n.T, configToml)); err != nil {
		n.Fatal(err)
	}
}

func (n node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func (n node) write(hash, configToml string) {
	n.Helper()
	n.must(configstate.Write(n.home, content(n.T, configToml), hash))
}

func (n node) state() configstate.State {
	n.Helper()
	state, err := configstate.Read(n.home)
	n.must(err)
	return state
}

func (n node) wantHash(want string) {
	n.Helper()
	if got := n.state().ConfigHash; got != want {
		n.Errorf("configuration is called %q, want %q", got, want)
	}
}

func (n node) pass(version string, tried bool) {
	n.Helper()
	n.must(configstate.Pass(n.home, n.state().Digest, api.Validation{SeidVersion: version, Tried: tried}))
}

func (n node) fail(version, text string) bool {
	n.Helper()
	replaced, err := configstate.Fail(n.home, n.state().Digest, api.Validation{SeidVersion: version, Error: text})
	n.must(err)
	return replaced
}

func (n node) wantConfig(want string) {
	n.Helper()
	data, err := os.ReadFile(filepath.Join(n.home, "config", "config.toml"))
	n.must(err)
	if diff := cmp.Diff(want, string(data)); diff != "" {
		n.Errorf("config.toml (-want +got):\n%s", diff)
	}
}

func TestRead_HomeWithoutRecord_KnowsNothing(t *testing.T) {
	n := newNode(t)
	if got := n.state(); got.ConfigHash != "" || got.Validation != nil || got.Refused != nil {
		t.Errorf("state is %+v", got)
	}
	n.must(configstate.MayStart(n.home, "v1"))
}

func TestWrite_NamesExactlyTheseFiles(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.wantHash("a")
	n.edit("size = 2\n")
	n.wantHash("")
	n.edit("size = 1\n")
	n.wantHash("a")
	n.write("", "size = 1\n")
	n.wantHash("a")
	n.write("", "size = 3\n")
	n.wantHash("")
	n.write("b", "size = 3\n")
	n.wantHash("b")
}

func TestRead_KeyringOfTheCommandLineAndSpellingAreNoDifference(t *testing.T) {
	n := newNode(t)
	n.write("a", "name = 'x'\n")
	n.must(os.WriteFile(filepath.Join(n.home, "config", "client.toml"), []byte("# set at each start\nkeyring-backend = \"file\"\n"), 0o600))
	n.must(os.WriteFile(filepath.Join(n.home, "config", "config.toml"), []byte("name = \"x\"\n"), 0o600))
	n.wantHash("a")
}

func TestAmend_KeepsTheNameAndLosesTheVerdict(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.pass("v1", false)
	n.must(configstate.Amend(n.home, content(t, "size = 1\npeers = 'p'\n")))
	n.wantHash("a")
	if n.state().Validation != nil {
		t.Error("the verdict is on other files")
	}
	n.edit("size = 2\n")
	n.must(configstate.Amend(n.home, content(t, "size = 2\npeers = 'p'\n")))
	n.wantHash("")
}

func TestMayStart_OnlyOnAConfigurationThatIsNotKnownToBeBad(t *testing.T) {
	n := newNode(t)
	refused := func(version, text string) {
		t.Helper()
		if err := configstate.MayStart(n.home, version); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("MayStart(%s) = %v, want %q", version, err, text)
		}
	}
	n.write("a", "size = 1\n")
	refused("v1", "configuration a has not passed config-validate for seid v1")
	n.pass("v1", false)
	n.must(configstate.MayStart(n.home, "v1"))
	refused("v2", "has not passed config-validate for seid v2")
	n.fail("v2", "no such key")
	refused("v2", "not valid for seid v2: no such key")
	n.edit("size = 7\n")
	n.must(configstate.MayStart(n.home, "v2"))
	n.fail("v2", "worse")
	refused("v2", "worse")
}

func TestFail_WithALastGoodConfiguration_PutsItBack(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.pass("v1", true)
	n.write("b", "size = 2\n")
	if !n.fail("v1", "size is even") {
		t.Fatal("nothing was put back")
	}
	n.wantConfig("size = 1\n")
	want := configstate.State{
		ConfigHash: "a", Validation: &api.Validation{Valid: true, SeidVersion: "v1", Tried: true},
		Refused: &api.Refusal{ConfigHash: "b", SeidVersion: "v1", Error: "size is even"}, Digest: n.state().Digest,
	}
	if diff := cmp.Diff(want, n.state()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	n.must(configstate.MayStart(n.home, "v1"))

	n.must(configstate.Amend(n.home, content(t, "size = 1\npeers = 'p'\n")))
	if n.state().Refused == nil {
		t.Error("the refusal is forgotten although nobody wrote a newer configuration")
	}
	n.write("b", "size = 2\n") // a retry is allowed, and judged again
	n.wantHash("b")
	if got := n.state(); got.Refused != nil || got.Validation != nil {
		t.Errorf("state of the retry is %+v", got)
	}
}

func TestFail_WithoutALastGoodOneForTheVersion_LeavesTheFiles(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.pass("v1", true)
	n.write("b", "size = 2\n")
	if n.fail("v2", "bad") {
		t.Error("files for another version were put back")
	}
	n.wantConfig("size = 2\n")
	if got := n.state(); got.ConfigHash != "b" || got.Validation == nil || got.Validation.Valid || got.Validation.Error != "bad" || got.Refused != nil {
		t.Errorf("state is %+v", got)
	}
	n.write("a", "size = 1\n")
	if n.fail("v1", "bad after all") {
		t.Error("the configuration was replaced by itself")
	}
}

func TestPass_NotTried_DoesNotReplaceAProvenOne(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.pass("v1", true)
	n.write("b", "size = 2\n")
	n.pass("v1", false)
	n.must(configstate.MayStart(n.home, "v1"))
	if !n.fail("v1", "panic: even") {
		t.Fatal("nothing was put back")
	}
	n.wantHash("a")
}

func TestVerdict_OnFilesThatChanged_IsNotRecorded(t *testing.T) {
	n := newNode(t)
	digest := n.state().Digest
	n.write("a", "size = 1\n")
	if err := configstate.Pass(n.home, digest, api.Validation{}); !errors.Is(err, configstate.ErrChanged) {
		t.Errorf("Pass = %v", err)
	}
	if _, err := configstate.Fail(n.home, digest, api.Validation{}); !errors.Is(err, configstate.ErrChanged) {
		t.Errorf("Fail = %v", err)
	}
}

func TestRefuse_IsShownUntilANewerConfigurationIsWritten(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.must(configstate.Refuse(n.home, api.Refusal{ConfigHash: "b", Error: "unknown key"}))
	n.wantHash("a")
	if got := n.state().Refused; got == nil || got.ConfigHash != "b" {
		t.Errorf("refused is %+v", got)
	}
	n.write("a", "size = 1\n")
	if got := n.state().Refused; got != nil {
		t.Errorf("refused is still %+v", got)
	}
}

func TestRestartDue_UntilTheRestart(t *testing.T) {
	n := newNode(t)
	due := func(inSync bool, want ...string) {
		t.Helper()
		got, err := configstate.RestartDue(n.home, inSync)
		n.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("due in sync %v (-want +got):\n%s", inSync, diff)
		}
	}
	due(false) // nothing is known of any start
	n.write("a", "[mempool]\nsize = 1\nttl-num-blocks = 1\n[statesync]\nenable = true\n")
	n.must(configstate.Started(n.home))
	due(false)
	n.write("b", "[mempool]\nsize = 2\nttl-num-blocks = 2\n[statesync]\nenable = false\n[p2p]\npersistent-peers = 'x'\n")
	for range 2 { // asking changes nothing, writing the same again neither
		due(false, "config.toml:mempool.ttl-num-blocks", "config.toml:p2p.persistent-peers", "config.toml:statesync.enable")
		n.write("b", "[mempool]\nsize = 2\nttl-num-blocks = 2\n[statesync]\nenable = false\n[p2p]\npersistent-peers = 'x'\n")
	}
	due(true, "config.toml:mempool.ttl-num-blocks", "config.toml:statesync.enable")
	n.must(stage.MarkSynced(n.home, stage.Mark{}))
	due(true, "config.toml:mempool.ttl-num-blocks")
	n.must(configstate.Started(n.home))
	due(false)
}

func TestUnreadableFiles_HaveNoNameAndAreReported(t *testing.T) {
	n := newNode(t)
	n.write("a", "size = 1\n")
	n.pass("v1", true)
	n.must(os.WriteFile(filepath.Join(n.home, "config", "config.toml"), []byte("size = = 1\n"), 0o600))
	n.wantHash("")
	if !n.fail("v1", "does not parse") {
		t.Fatal("nothing was put back")
	}
	n.wantHash("a")
	n.must(os.WriteFile(filepath.Join(n.home, ".sei-sidecar", "config.json"), []byte("{"), 0o600))
	if _, err := configstate.Read(n.home); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("Read = %v", err)
	}
}
