package opening_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/opening"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

const (
	keyA = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	keyB = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
)

// fixture is a home with configuration A.
type fixture struct {
	*opening.Conditions
	t       *testing.T
	clock   *clocktesting.FakeClock
	hash    string
	invalid error
}

func newFixture(t *testing.T, mode string) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), hash: "A"}
	f.Conditions = &opening.Conditions{
		Home: t.TempDir(), TemplateHash: "T", Clock: f.clock, Log: slog.New(slog.DiscardHandler),
		ConfigHash: func() (string, error) { return f.hash, nil },
		MayStart:   func(context.Context) error { return f.invalid },
	}
	f.mode(mode)
	return f
}

func (f *fixture) mode(mode string) {
	f.t.Helper()
	f.write("config.toml", `mode = "`+mode+`"`)
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	path := filepath.Join(f.Home, "config", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		f.t.Fatal(err)
	}
}

// gate is a gate in seid's container that sees a key.
func (f *fixture) gate(key supervision.Key) {
	f.t.Helper()
	release, err := supervision.Watch(f.Home)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(release)
	if err := supervision.Write(f.Home, supervision.Record{State: api.SeidWaiting, Key: key}); err != nil {
		f.t.Fatal(err)
	}
}

func expect(hash, address string) wire.MarkReady {
	return wire.MarkReady{Expect: &wire.Expectation{ConfigHash: hash, ConsensusAddress: address}}
}

func TestCheck_OpensForWhatIsThereAndSaysTheDifference(t *testing.T) {
	remote := "mode = \"validator\"\n[priv-validator]\nladdr = \"tcp://signer:1\"\n"
	for name, tc := range map[string]struct {
		mode    string
		toml    string
		key     supervision.Key
		invalid error
		params  wire.MarkReady
		want    string // the difference; empty: it opens
	}{
		"stock":                   {mode: "validator"},
		"full node":               {mode: "full", params: expect("A", "")},
		"validator":               {mode: "validator", key: supervision.Key{Address: keyA}, params: expect("A", keyA)},
		"address in lower case":   {mode: "validator", key: supervision.Key{Address: keyA}, params: expect("A", strings.ToLower(keyA))},
		"other configuration":     {mode: "full", params: expect("B", ""), want: "the configuration on disk is A, expected B"},
		"failed validation":       {mode: "full", invalid: errors.New("not valid for seid v6"), params: expect("A", ""), want: "not valid for seid v6"},
		"other key":               {mode: "validator", key: supervision.Key{Address: keyB}, params: expect("A", keyA), want: "the key on the node signs as " + keyB + ", expected " + keyA},
		"no key":                  {mode: "validator", key: supervision.Key{Error: "there is no consensus key"}, params: expect("A", keyA), want: "there is no consensus key; expected a key that signs as " + keyA},
		"signs unexpectedly":      {mode: "validator", key: supervision.Key{Address: keyB}, params: expect("A", ""), want: "signs blocks, expected one that does not"},
		"signs in capitals":       {mode: "full", toml: "mode = \"full\"\nMode = \"validator\"\n", key: supervision.Key{Address: keyB}, params: expect("A", ""), want: "signs blocks, expected one that does not"},
		"does not sign":           {mode: "full", key: supervision.Key{Address: keyA}, params: expect("A", keyA), want: "does not sign blocks, expected a key that signs as " + keyA},
		"remote signer":           {mode: "validator", toml: remote, params: expect("A", keyA), want: "remote signer at tcp://signer:1"},
		"both differ":             {mode: "validator", key: supervision.Key{Address: keyB}, params: expect("B", keyA), want: "the configuration on disk is A, expected B; the key on the node signs as " + keyB},
		"configuration unnamed":   {mode: "full", params: expect("", ""), want: ""},
		"permission for anything": {mode: "full", params: wire.MarkReady{Permission: "1h"}, want: "permission: needs expect"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tc.mode)
			if name == "configuration unnamed" {
				f.hash, tc.params, tc.want = "", expect("A", ""), "the configuration on disk is one without a name, expected A"
			}
			if tc.toml != "" {
				f.write("config.toml", tc.toml)
			}
			f.gate(tc.key)
			f.invalid = tc.invalid
			got, err := f.Check(t.Context(), tc.params)
			if tc.want == "" {
				want := api.Opening{}
				if tc.params.Expect != nil {
					want = api.Opening{ConfigHash: "A", ConsensusAddress: strings.ToUpper(tc.params.Expect.ConsensusAddress)}
				}
				if err != nil || got != want {
					t.Errorf("Check = %+v, %v, want %+v", got, err, want)
				}
				return
			}
			if detail := api.DetailOf(err); err == nil || !strings.Contains(err.Error(), tc.want) || !detail.Terminal {
				t.Errorf("Check = %v (%+v), want a terminal error with %q", err, detail, tc.want)
			}
		})
	}
}

// The sidecar's own look at the key file is not what counts: a Secret is mounted over it in
// seid's container alone.
func TestCheck_KeyIsThatOfTheGate_AndIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, "validator")
		f.write("priv_validator_key.json", "hidden under the mount")
		done := f.check(expect("A", keyA))
		awaitWaiter(t, f.clock)
		f.gate(supervision.Key{Address: keyA})
		f.clock.Step(time.Second)
		if err := <-done; err != nil {
			t.Errorf("Check = %v, want that it opens", err)
		}
	})
}

func TestCheck_NoGate_IsWorthARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, "validator")
		// What a gate that has ended left behind tells nothing.
		if err := supervision.Write(f.Home, supervision.Record{State: api.SeidWaiting, Key: supervision.Key{Address: keyA}}); err != nil {
			t.Fatal(err)
		}
		done := f.check(expect("A", keyA))
		awaitWaiter(t, f.clock)
		f.clock.Step(time.Minute)
		if err := <-done; err == nil || !api.DetailOf(err).Retryable {
			t.Errorf("Check = %v, want an error that is worth a retry", err)
		}
	})
}

// check begins a check.
func (f *fixture) check(params wire.MarkReady) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := f.Check(f.t.Context(), params)
		done <- err
	}()
	return done
}

// awaitWaiter waits until all of the test's bubble wait, and somebody for the clock.
func awaitWaiter(t *testing.T, clock *clocktesting.FakeClock) {
	t.Helper()
	synctest.Wait()
	if !clock.HasWaiters() {
		t.Fatal("nobody waits for the clock")
	}
}

// S1, at every start of seid.
func TestAnswer_AKeyThatTheGateWasNotOpenedFor_IsRefused(t *testing.T) {
	open := func(o *api.Opening) api.Gate { return api.Gate{State: api.GateOpen, Opened: o} }
	for name, tc := range map[string]struct {
		gate    api.Gate
		address string
		want    api.GateAnswer
	}{
		"closed":         {api.Gate{State: api.GateClosed}, keyA, api.GateAnswer{State: api.GateClosed}},
		"held":           {api.Gate{State: api.GateHeld}, keyA, api.GateAnswer{State: api.GateHeld}},
		"stock":          {open(&api.Opening{}), keyB, api.GateAnswer{State: api.GateOpen}},
		"same key":       {open(&api.Opening{ConfigHash: "A", ConsensusAddress: keyA}), keyA, api.GateAnswer{State: api.GateOpen}},
		"does not sign":  {open(&api.Opening{ConfigHash: "A"}), "", api.GateAnswer{State: api.GateOpen}},
		"signs no more":  {open(&api.Opening{ConfigHash: "A", ConsensusAddress: keyA}), "", api.GateAnswer{State: api.GateOpen}},
		"other key":      {open(&api.Opening{ConfigHash: "A", ConsensusAddress: keyA}), keyB, api.GateAnswer{State: api.GateOpen, Refusal: "the key is for address " + keyB + "; the gate was opened for " + keyA}},
		"signs suddenly": {open(&api.Opening{ConfigHash: "A"}), keyB, api.GateAnswer{State: api.GateOpen, Refusal: "the key is for address " + keyB + "; the gate was opened for a node that does not sign"}},
		"unreadable key": {open(&api.Opening{ConfigHash: "A", ConsensusAddress: keyA}), api.GateAddressUnknown, api.GateAnswer{State: api.GateOpen, Refusal: "the consensus key cannot be read; the gate was opened for " + keyA}},
	} {
		if diff := cmp.Diff(tc.want, opening.Answer(tc.gate, tc.address)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
