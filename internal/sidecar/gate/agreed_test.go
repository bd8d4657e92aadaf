package gate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// What the sidecar has agreed to is what seid is started with. All is asked again otherwise.
func TestRun_ChangedAfterItWasLetThrough_IsAskedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		mode, key string
		asked     []string
		logged    string
	}{
		"configuration": {"full", "", []string{ownAddress, ownAddress, "", ""}, "the configuration changed after"},
		"key": {
			"validator", "{",
			[]string{ownAddress, ownAddress, api.GateAddressUnknown, api.GateAddressUnknown}, "the consensus key changed after",
		},
		"configuration that cannot be read": {"\"broken", "", nil, "the configuration changed after"},
		"nothing":                           {"validator", ownKey, []string{ownAddress, ownAddress}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g, s := gateAt(t, opened)
			g.configure(t, "validator", ownKey)
			seen, started, refusal := observe(&g), 0, ""
			g.Rules.Starting = func() error { // the last thing before the start
				if started++; started == 1 {
					g.configure(t, tc.mode, tc.key)
				}
				return nil
			}
			g.WhileWaiting = func(context.Context) {
				if refusal = record(t, g).Refusal; refusal != "" {
					cancel() // nobody puts it right
				}
			}
			err := g.Run(ctx, []string{"true"})
			if (err != nil) != (tc.asked == nil) || tc.asked != nil && !slices.Equal(tc.asked, s.questions()) {
				t.Errorf("asked for %q: %v; want %q", s.questions(), err, tc.asked)
			}
			if tc.logged != "" && seen.said(tc.logged) != 1 {
				t.Errorf("%q was said %d times, want it once", tc.logged, seen.said(tc.logged))
			}
			if r := record(t, g); tc.asked == nil && (r.Starts != 0 || r.Starting || refusal == "") {
				t.Errorf("%+v, refused with %q; want no start and a refusal", r, refusal)
			}
		})
	}
}

// A name server that is away must not hold up who waits to hear whether seid is started.
func TestRun_Environment_IsLookedUpBeforeSeidIsAboutToStart(t *testing.T) {
	g, _ := gateAt(t, opened)
	looked := 0
	g.Rules.Environment = func(context.Context) []string {
		looked++
		if r := record(t, g); r.Starting {
			t.Errorf("%+v, want it not to say yet that seid is about to be started", r)
		}
		return []string{"SEID_OWN=1"}
	}
	if err := g.Run(t.Context(), []string{"sh", "-c", "test $SEID_OWN = 1"}); err != nil || looked != 1 {
		t.Errorf("looked up %d times: %v", looked, err)
	}
}

// Without the lock no key is compared and nothing keeps a second seid from the home.
func TestRun_LockThatCannotBeTaken_SeidIsNotStarted(t *testing.T) {
	g, s := gateAt(t, opened)
	dir := filepath.Clean(supervision.Path(g.Home, ""))
	touch(t, dir) // where the directory is to be
	seen, patient := observe(&g), &counted{Context: t.Context()}
	done := make(chan error, 1)
	go func() { done <- g.Run(patient, []string{"true"}) }()
	await(t, "it has tried three times", done, func() bool { return patient.waits.Load() >= 3 })
	if said := seen.said("seid is not started: making the sidecar's directory"); said != 1 || seen.said("make "+dir+" a directory that user") != 1 {
		t.Errorf("the reason was said %d times, want it once, with the cure", said)
	}
	if asked := s.questions(); len(asked) > 0 {
		t.Errorf("the sidecar was asked %d times, want that after the lock was taken", len(asked))
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if r := record(t, g); r.Starts == 0 || r.State != api.SeidExited {
		t.Errorf("%+v, want it started and over", r)
	}
}
