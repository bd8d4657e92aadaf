package look

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

func TestReadSettings(t *testing.T) {
	h := home.Dir("/h")
	for name, tc := range map[string]struct {
		config, app string
		change      func(*settings)
	}{
		"no files": {change: func(s *settings) { s.Present = false }},
		"defaults": {config: "mode = 'validator'", change: func(s *settings) { s.Mode = seid.ModeValidator }},
		"capitals": {config: "mode = 'full'\nMode = 'validator'", change: func(s *settings) { s.Mode = seid.ModeValidator }},
		"damaged":  {config: "mode = ", change: func(s *settings) { s.Present = false }},
		"addresses": {
			config: "[rpc]\nladdr='tcp://0.0.0.0:1'\n[p2p]\nladdr='tcp://[::]:2'\n[instrumentation]\nprometheus=true\nprometheus-listen-addr=':3'",
			change: func(s *settings) { s.RPCPort, s.P2PPort, s.MetricsURL = 1, 2, "http://localhost:3/metrics" },
		},
		"no RPC, no metrics": {config: "[rpc]\nladdr=''\n[instrumentation]\nprometheus=false", change: func(s *settings) { s.RPCPort = 0 }},
		"state sync": {
			config: "[statesync]\nenable=true\nuse-local-snapshot=true\ntemp-dir='/t'",
			change: func(s *settings) { s.StateSync, s.LocalSnapshot, s.ChunkDir = true, true, "/t" },
		},
		"keys elsewhere": {
			config: "node-key-file='config/n.json'\n[priv-validator]\nkey-file='/mnt/key.json'\nladdr='tcp://signer:1'",
			change: func(s *settings) {
				s.NodeKeyFile, s.KeyFile, s.RemoteSigner = "/h/config/n.json", "/mnt/key.json", true
			},
		},
		"blocks as needed":      {config: "[consensus]\ncreate-empty-blocks=false", change: func(s *settings) { s.Quiet = true }},
		"blocks now and then":   {config: "[consensus]\ncreate-empty-blocks-interval='5m0s'", change: func(s *settings) { s.Quiet = true }},
		"blocks all the time":   {config: "[consensus]\ncreate-empty-blocks=true\ncreate-empty-blocks-interval='0s'", change: func(*settings) {}},
		"snapshots elsewhere":   {config: "x=1", app: "[state-sync]\nsnapshot-directory='/snap'", change: func(s *settings) { s.SnapshotDir = "/snap" }},
		"snapshots at a riddle": {config: "x=1", app: "[state-sync]\nsnapshot-directory='snap'", change: func(*settings) {}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := home.Dir(t.TempDir())
			fill(t, string(dir), map[string]string{"config/config.toml": tc.config, "config/app.toml": tc.app})
			want := settings{
				Present: true, Mode: seid.ModeFull, P2PPort: 26656, RPCPort: 26657, ChunkDir: h.Tmp(),
				KeyFile: h.ConsensusKey(), NodeKeyFile: h.NodeKey(), SnapshotDir: h.Snapshots(),
			}
			tc.change(&want)
			got := readSettings(dir)
			for _, path := range []*string{&got.ChunkDir, &got.KeyFile, &got.NodeKeyFile, &got.SnapshotDir} {
				*path = strings.Replace(*path, string(dir), "/h", 1)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// fill writes files that are not empty.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if content == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSigns_NeedsTheModeAndAKey(t *testing.T) {
	for _, tc := range []struct {
		set    settings
		hasKey bool
		want   bool
	}{
		{settings{Present: true, Mode: seid.ModeValidator}, true, true},
		{settings{Present: true, Mode: seid.ModeValidator}, false, false},
		{settings{Present: true, Mode: seid.ModeValidator, RemoteSigner: true}, false, true},
		{settings{Present: true, Mode: seid.ModeFull}, true, false},
		{settings{Mode: seid.ModeValidator}, true, false},
	} {
		if got := tc.set.signs(tc.hasKey); got != tc.want {
			t.Errorf("%+v with key %v signs: %v", tc.set, tc.hasKey, got)
		}
	}
}

func TestStage(t *testing.T) {
	const configured, genesis, done = "config/config.toml", "config/genesis.json", ".sei-sidecar-genesis-done"
	for name, tc := range map[string]struct {
		files   []string
		process api.Seid
		want    api.HomeStage
	}{
		"nothing":         {nil, api.Seid{}, api.HomeEmpty},
		"no genesis":      {[]string{configured}, api.Seid{}, api.HomeEmpty},
		"no config":       {[]string{genesis}, api.Seid{}, api.HomeEmpty},
		"only seid init":  {[]string{configured, genesis}, api.Seid{State: api.SeidWaiting}, api.HomeEmpty},
		"ready to start":  {[]string{configured, genesis, done}, api.Seid{State: api.SeidWaiting}, api.HomePrepared},
		"runs":            {[]string{configured, genesis}, api.Seid{State: api.SeidRunning}, api.HomeFirstSync},
		"has run":         {[]string{configured, genesis}, api.Seid{State: api.SeidExited, Starts: 3}, api.HomeFirstSync},
		"somebody's data": {[]string{configured, genesis, "data/blockstore.db/x"}, api.Seid{State: api.SeidWaiting}, api.HomeFirstSync},
		"was in sync":     {[]string{configured, genesis, ".sei-sidecar/synced"}, api.Seid{State: api.SeidWaiting}, api.HomeSynced},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tc.files {
				fill(t, dir, map[string]string{f: "x = 1"})
			}
			l := New(Config{Home: dir})
			if got := l.stage(l.settings(), tc.process, false); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// A home whose data was deleted is as prepared as a new one, until seid has run again; and it is
// empty until somebody puts data there.
func TestEmptied_AfterACompleteResetUntilThereIsDataAgain(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"config/config.toml": "[statesync]\nenable = true", "config/genesis.json": "{}"})
	l := New(Config{Home: dir})
	const halfGone = "half of it is gone"
	require := func(what string, process api.Seid, want api.HomeStage, emptied bool) {
		t.Helper()
		if h := l.homeLook(l.settings(), process); h.Stage != want || h.Emptied != emptied || h.PartlyDeleted != (what == halfGone) {
			t.Errorf("%s: stage %s, emptied %t; want %s, %t", what, h.Stage, h.Emptied, want, emptied)
		}
	}
	ended := api.Seid{State: api.SeidExited, Starts: 3}
	if err := stage.BeginReset(dir, 3); err != nil {
		t.Fatal(err)
	}
	require(halfGone, ended, api.HomeFirstSync, false)
	if err := stage.EndReset(dir, 3); err != nil {
		t.Fatal(err)
	}
	require("all of it is gone", ended, api.HomePrepared, true)
	stateSync := func() bool { return l.homeLook(l.settings(), ended).StateSync }
	if stateSync() {
		t.Error("state sync as it was set up for data that is gone counts")
	}
	fill(t, dir, map[string]string{".sei-sidecar-statesync-done": " "})
	if !stateSync() {
		t.Error("state sync that was set up since does not count")
	}
	fill(t, dir, map[string]string{".sei-sidecar-snapshot-height": "7"})
	require("a snapshot was restored", ended, api.HomePrepared, false)
	require("seid runs", api.Seid{State: api.SeidRunning, Starts: 4}, api.HomeFirstSync, false)
	require("seid has run", api.Seid{State: api.SeidExited, Starts: 4}, api.HomeFirstSync, false)
}

func TestConsensusAddress_SeidsOwnViewComesFirst(t *testing.T) {
	dir := t.TempDir()
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := private[ed25519.SeedSize:]
	own := fmt.Sprintf("%X", sha256.Sum256(public))[:40]
	fill(t, dir, map[string]string{"config/priv_validator_key.json": fmt.Sprintf(
		`{"address":%q,"pub_key":{"type":"tendermint/PubKeyEd25519","value":%q},"priv_key":{"type":"tendermint/PrivKeyEd25519","value":%q}}`,
		own, base64.StdEncoding.EncodeToString(public), base64.StdEncoding.EncodeToString(private))})
	for name, tc := range map[string]struct {
		own  func() (string, bool)
		want string
	}{
		"mounted there alone": {func() (string, bool) { return "AB", true }, "AB"},
		"there is none there": {func() (string, bool) { return "", true }, ""},
		"nobody looked":       {func() (string, bool) { return "", false }, own},
		"nobody can look":     {nil, own},
	} {
		l := New(Config{Home: dir, ConsensusAddress: tc.own})
		if got := l.consensusAddress(l.settings().KeyFile); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestUsage_CountsAFileWithTwoNamesOnce(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a": strings.Repeat("x", 1<<20)})
	before := usage(dir)
	if before < 1<<20 {
		t.Errorf("%d bytes", before)
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if after := usage(dir); after != before {
		t.Errorf("%d bytes with a link, %d without", after, before)
	}
}

func TestGenesisHash_OfALargeFile_ComesLater(t *testing.T) {
	dir := t.TempDir()
	l := New(Config{Home: dir})
	if got := l.genesisHash(); got != "" {
		t.Errorf("without a file: %s", got)
	}
	fill(t, dir, map[string]string{"config/genesis.json": strings.Repeat("x", inlineHash+1)})
	if got := l.genesisHash(); got != "" {
		t.Errorf("the first look waited for %s", got)
	}
	awaitValue(t, func() bool { return l.genesisHash() != "" })
	large := l.genesisHash()
	fill(t, dir, map[string]string{"config/genesis.json": "small"})
	if got := l.genesisHash(); got == large || len(got) != 64 {
		t.Errorf("after a change: %s", got)
	}
}
