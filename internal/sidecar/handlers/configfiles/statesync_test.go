package configfiles_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
)

// witness is a node that others sync from. Its blocks are 0.4 s apart, the newest is
// headAge old.
type witness struct {
	network          string
	latest, earliest int64
	hash             string
	down             bool
	headAge          time.Duration
	id               string
	asked            atomic.Int64
}

func (w *witness) Status(context.Context) (*rpc.Status, error) {
	w.asked.Add(1)
	if w.down {
		return nil, fmt.Errorf("%w: refused", rpc.ErrUnreachable)
	}
	status := &rpc.Status{}
	status.NodeInfo.Network, status.NodeInfo.ID = w.network, w.id
	status.SyncInfo.LatestBlockHeight, status.SyncInfo.EarliestBlockHeight = w.latest, w.earliest
	return status, nil
}

func (w *witness) Commit(_ context.Context, height int64) (*rpc.Commit, error) {
	if height < w.earliest || height > w.latest {
		return nil, errors.New("no such block")
	}
	age := w.headAge + time.Duration(w.latest-height)*400*time.Millisecond
	return &rpc.Commit{Hash: w.hash, Header: rpc.Header{Height: height, Time: time.Now().Add(-age)}}, nil
}

func hash(letter string) string { return strings.Repeat(letter, 64) }

// good is a witness of the chain with all blocks.
func good(latest int64) *witness {
	return &witness{network: "test-1", latest: latest, earliest: 1, hash: hash("A")}
}

func pruned(latest, earliest int64) *witness {
	w := good(latest)
	w.earliest = earliest
	return w
}

func (f *fixture) stateSync(t *testing.T, params string) wire.StateSync {
	t.Helper()
	return handlertest.Must[wire.StateSync](t, f.Harness, api.ConfigureStateSync, params)
}

// twoServers names the witnesses a and b.
const twoServers = `{"rpcServers":["a:26657","b:26657"]}`

func TestStateSync_TrustsABlockFarBelowTheSnapshotsThatTwoWitnessesKeep(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b *witness
		want int64
	}{
		"old chain":          {good(1_000_000), good(999_990), 949_990},
		"young chain":        {good(12), good(11), 1},
		"pruned, deep":       {pruned(1_000_000, 900_000), pruned(1_000_000, 940_000), 950_000},
		"pruned, with share": {pruned(1_000_000, 960_000), pruned(1_000_000, 950_000), 964_000},
		"almost empty":       {pruned(100, 100), pruned(100, 100), 100},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			tc.b.hash = hash("a")
			f.witnesses = map[string]*witness{"a:26657": tc.a, "b:26657": tc.b}
			got := f.stateSync(t, `{"rpcServers":["a:26657","b:26657"],"trustPeriod":"24h","backfillBlocks":10}`)
			want := wire.StateSync{TrustHeight: tc.want, TrustHash: hash("A"), RPCServers: []string{"a:26657", "b:26657"}, Warnings: got.Warnings}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if config := f.file(t, "config.toml"); !strings.Contains(config, fmt.Sprintf("trust-height = %d\n", tc.want)) {
				t.Error("config.toml does not have the trust height")
			}
			if enabled, err := f.tasks.StateSyncEnabled(); err != nil || !enabled {
				t.Errorf("state sync is %v, %v", enabled, err)
			}
		})
	}
}

func TestStateSync_WitnessesAsURLs_AreWrittenAsSeidUnderstandsThem(t *testing.T) {
	f := newFixture(t)
	f.witnesses = map[string]*witness{"https://a.example:443/sei": good(100), "https://b.example:443": good(100), "c.example:8080": good(100)}
	got := f.stateSync(t, `{"rpcServers":["https://a.example/sei","b.example:443","http://c.example:8080/"]}`)
	want := []string{"https://a.example:443/sei", "https://b.example:443", "c.example:8080"}
	if diff := cmp.Diff(want, got.RPCServers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if config := f.file(t, "config.toml"); !strings.Contains(config, strings.Join(want, ",")) {
		t.Errorf("config.toml does not name %v", want)
	}
}

func TestStateSync_TrustedBlock_IsAtMostHalfAsOldAsTheTrustPeriod(t *testing.T) {
	f := newFixture(t)
	f.witnesses = map[string]*witness{"a:26657": good(1_000_000), "b:26657": good(1_000_000)}
	got := f.stateSync(t, `{"rpcServers":["a:26657","b:26657"],"trustPeriod":"1h"}`)
	// Half an hour is 4500 blocks of 0.4 s; the clock moves while the test runs.
	if below := 1_000_000 - got.TrustHeight; below > 4500 || below < 3000 {
		t.Errorf("trusted block is %d blocks below the head, want at most 4500", below)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "blocks below the head") {
		t.Errorf("warnings are %v", got.Warnings)
	}
	for _, w := range f.witnesses {
		w.headAge = 40 * time.Minute
	}
	_, err := f.Run(t, api.ConfigureStateSync, `{"rpcServers":["a:26657","b:26657"],"trustPeriod":"1h1s"}`)
	handlertest.WantError(t, err, api.CodePrecondition, "the newest block of the witnesses, 1000000, is older than half of the trust period")
}

func TestStateSync_ABadWitness_IsDroppedAndNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		bad  *witness
		want string
	}{
		"another chain": {&witness{network: "other-1", latest: 100, earliest: 1, hash: hash("A")}, `c:26657 is on chain "other-1", not "test-1"`},
		"down":          {&witness{down: true}, "c:26657 does not answer"},
		"no block":      {&witness{network: "test-1"}, "c:26657 has no block yet"},
		"catching up":   {good(5_000), "c:26657 is at block 5000, others are at 100000: it is catching up"},
		"pruned":        {pruned(100_000, 99_000), "c:26657 keeps blocks from 99000 on only; block 50000 is needed"},
		"lies":          {&witness{network: "test-1", latest: 100_000, earliest: 1, hash: hash("B")}, "c:26657 says that block 50000 is BBBB"},
		"no hash":       {&witness{network: "test-1", latest: 100_000, earliest: 1, hash: "xyz"}, `c:26657 gives block 50000 the hash "xyz"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.witnesses = map[string]*witness{"a:26657": good(100_000), "b:26657": good(100_000), "c:26657": tc.bad}
			got := f.stateSync(t, `{"rpcServers":["c:26657","a:26657","b:26657"]}`)
			if diff := cmp.Diff([]string{"a:26657", "b:26657"}, got.RPCServers); diff != "" || got.TrustHeight != 50_000 {
				t.Errorf("servers (-want +got):\n%s\nheight %d", diff, got.TrustHeight)
			}
			if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], tc.want) {
				t.Errorf("warnings are %q, want %q", got.Warnings, tc.want)
			}
		})
	}
}

func TestStateSync_FewerThanTwoWitnesses_NamesEachAndWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		b         *witness
		retryable bool
		code      string
		text      string
	}{
		"another chain": {&witness{network: "other-1", latest: 100, earliest: 1}, false, api.CodePrecondition, `1 of 2 RPC witnesses can be used, state sync needs 2: b:26657 is on chain "other-1"`},
		"down":          {&witness{down: true}, true, api.CodeUnavailable, "b:26657 does not answer"},
		"no block":      {&witness{network: "test-1"}, true, api.CodeUnavailable, "b:26657 has no block yet"},
		"lies":          {&witness{network: "test-1", latest: 100, earliest: 1, hash: hash("B")}, false, api.CodeIntegrity, "witnesses disagree about block 1: a:26657 says AAAA"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.witnesses = map[string]*witness{"a:26657": good(100), "b:26657": tc.b}
			_, err := f.Run(t, api.ConfigureStateSync, twoServers)
			handlertest.WantError(t, err, tc.code, tc.text)
			if got := api.DetailOf(err); got.Retryable != tc.retryable || got.Terminal == tc.retryable {
				t.Errorf("error is %+v, want retryable %v", got, tc.retryable)
			}
		})
	}
}

func TestStateSync_ASingleNamedWitness_IsWrittenTwiceAndSaidSo(t *testing.T) {
	f := newFixture(t)
	f.witnesses = map[string]*witness{"a:26657": good(100)}
	got := f.stateSync(t, `{"rpcServers":["a:26657","http://a:26657/"]}`)
	if !cmp.Equal(got.RPCServers, []string{"a:26657", "a:26657"}) || len(got.Warnings) != 1 {
		t.Errorf("state sync = %+v", got)
	}
}

func TestStateSync_TwoAddressesOfOneNode_WarnsThatTheyAreOne(t *testing.T) {
	f := newFixture(t)
	w := good(100)
	w.id = "abc"
	f.witnesses = map[string]*witness{"a:26657": w, "b:26657": w}
	if got := f.stateSync(t, twoServers); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "a:26657 and b:26657 are the same node") {
		t.Errorf("warnings are %q", got.Warnings)
	}
}

func TestStateSync_WitnessesOfThePersistentPeers_LeaveOutThoseWithoutBlocks(t *testing.T) {
	f := newFixture(t)
	id := strings.Repeat("ab", 20)
	if err := f.tasks.SetPeers(t.Context(), []string{id + "@a:26656", id + "@b:26656", id + "@c:26656"}); err != nil {
		t.Fatal(err)
	}
	f.witnesses = map[string]*witness{"a:26657": {network: "test-1"}, "b:26657": good(100), "c:26657": good(100)}
	got := f.stateSync(t, `{}`)
	if diff := cmp.Diff([]string{"b:26657", "c:26657"}, got.RPCServers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}

func TestStateSync_ARepeatWritesTheSameAndAsksNobody(t *testing.T) {
	f := newFixture(t)
	w := good(100)
	f.witnesses = map[string]*witness{"a:26657": w, "b:26657": w}
	first := f.stateSync(t, twoServers)
	handlertest.Must[any](t, f.Harness, api.ConfigApply, `{"mode":"full"}`) // switches it off
	asked := w.asked.Load()
	w.down = true
	again := f.stateSync(t, twoServers)
	if diff := cmp.Diff(first, again); diff != "" || w.asked.Load() != asked {
		t.Errorf("repeat asked %d times (-first +again):\n%s", w.asked.Load()-asked, diff)
	}
	if enabled, _ := f.tasks.StateSyncEnabled(); !enabled {
		t.Error("state sync is off after the repeat")
	}
	_, err := f.Run(t, api.ConfigureStateSync, `{"rpcServers":["a:26657","b:26657"],"backfillBlocks":5}`)
	handlertest.WantError(t, err, api.CodeUnavailable, "0 of 2 RPC witnesses can be used")
}

func TestStateSync_Refuses(t *testing.T) {
	f := newFixture(t)
	for params, want := range map[string]struct{ code, text string }{
		`{}`: {api.CodePrecondition, "no RPC witness is known"},
		`{"useLocalSnapshot":true,"rpcServers":["a:26657"]}`: {api.CodePrecondition, "no local snapshot"},
		`{"rpcServers":["nonsense"]}`:                        {api.CodeInvalidParams, "rpcServers[0]"},
		`{"rpcServers":["a:1","https://u:p@b"]}`:             {api.CodeInvalidParams, "rpcServers[1]"},
		`{"rpcServers":["a:26657"],"trustPeriod":"soon"}`:    {api.CodeInvalidParams, "trustPeriod"},
		`{"rpcServers":["a:26657"],"backfillBlocks":-1}`:     {api.CodeInvalidParams, "backfillBlocks"},
	} {
		_, err := f.Run(t, api.ConfigureStateSync, params)
		handlertest.WantError(t, err, want.code, want.text)
	}
}

func (f *fixture) withLocalSnapshot(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "42", "1"), 0o750); err != nil {
		t.Fatal(err)
	}
}

func TestStateSync_FromALocalSnapshot_TrustsItsHeight(t *testing.T) {
	f := newFixture(t)
	f.withLocalSnapshot(t, f.home.Snapshots())
	f.witnesses = map[string]*witness{"a:26657": good(100_000), "b:26657": good(100_000), "c:26657": pruned(100_000, 43), "d:26657": good(43)}
	got := f.stateSync(t, `{"useLocalSnapshot":true,"rpcServers":["a:26657","b:26657","c:26657","d:26657"]}`)
	if got.TrustHeight != 42 || len(got.RPCServers) != 2 || !strings.Contains(f.file(t, "config.toml"), "use-local-snapshot = true") {
		t.Errorf("state sync = %+v", got)
	}
	if len(got.Warnings) != 2 || !strings.Contains(got.Warnings[0], "c:26657 has deleted block 42") || !strings.Contains(got.Warnings[1], "d:26657 is at block 43") {
		t.Errorf("warnings are %q", got.Warnings)
	}
}

func TestStateSync_FromALocalSnapshot_InTheConfiguredDirectory(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	f.withLocalSnapshot(t, dir)
	handlertest.Must[any](t, f.Harness, api.ConfigPatch, fmt.Sprintf(`{"files":{"app.toml":{"state-sync":{"snapshot-directory":%q}}}}`, dir))
	f.witnesses = map[string]*witness{"a:26657": good(100), "b:26657": good(100)}
	if got := f.stateSync(t, `{"useLocalSnapshot":true,"rpcServers":["a:26657","b:26657"]}`); got.TrustHeight != 42 {
		t.Errorf("state sync = %+v", got)
	}
}

func TestStateSync_FromALocalSnapshotOlderThanTheTrustPeriod_IsRefusedInWords(t *testing.T) {
	f := newFixture(t)
	f.withLocalSnapshot(t, f.home.Snapshots())
	old := good(100)
	old.headAge = 200 * time.Hour
	f.witnesses = map[string]*witness{"a:26657": old, "b:26657": old}
	_, err := f.Run(t, api.ConfigureStateSync, `{"useLocalSnapshot":true,"rpcServers":["a:26657","b:26657"]}`)
	handlertest.WantError(t, err, api.CodePrecondition, "the local snapshot of block 42 was made 200h0m0s ago")
	if got := f.stateSync(t, `{"useLocalSnapshot":true,"trustPeriod":"400h","rpcServers":["a:26657","b:26657"]}`); got.TrustHeight != 42 {
		t.Errorf("state sync = %+v", got)
	}
}

func TestStateSync_AWitnessThatLiesAboutTime_DecidesNothing(t *testing.T) {
	f := newFixture(t)
	liar := &witness{network: "test-1", latest: 100_000, earliest: 1, hash: hash("B"), headAge: 1000 * time.Hour}
	f.witnesses = map[string]*witness{"a:26657": liar, "b:26657": good(100_000), "c:26657": good(100_000)}
	got := f.stateSync(t, `{"rpcServers":["a:26657","b:26657","c:26657"]}`)
	if got.TrustHeight != 50_000 || !cmp.Equal(got.RPCServers, []string{"b:26657", "c:26657"}) {
		t.Errorf("state sync = %+v", got)
	}
}
