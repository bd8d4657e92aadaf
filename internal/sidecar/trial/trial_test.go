package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
)

func (n node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func (n node) try(name string, timeout time.Duration) Result {
	n.Helper()
	got, err := attempt{home: n.home, binary: n.argv[0], version: "v1", files: role(n.T, name), timeout: timeout}.run(n.Context())
	n.must(err)
	if left, _ := os.ReadDir(filepath.Join(n.home, "tmp")); len(left) > 0 {
		n.Errorf("%s: %v was left behind", name, left)
	}
	return got
}

func TestTry_TellsHowSeidEnded(t *testing.T) {
	n := newNode(t)
	for name, want := range map[string]Result{
		"up":         {Tried: true},
		"panic":      {Tried: true, Refused: "seid ended with exit code 2: panic: no such thing"},
		"error":      {Tried: true, Refused: "seid ended with exit code 1: Error: bad thing"},
		"quiet":      {Tried: true, Refused: "seid ended by itself without an error: it said nothing"},
		"terminated": {Tried: true, Refused: "seid was ended by signal terminated: it said nothing"},
		"full":       {Skipped: "not tried: the volume is full: Error: writing: no space left on device"},
		"oom":        {Skipped: "not tried: seid was killed while it started, which is what happens when memory runs out"},
	} {
		if got := n.try(name, time.Minute); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestTry_SeidThatHangs_IsANamedRefusalAndEnds(t *testing.T) {
	n := newNode(t)
	n.try("up", time.Minute) // makes the template
	got := n.try("hang", time.Second)
	if got.Refused != "seid did not start within 1s" || !got.Tried {
		t.Errorf("%+v, want Refused %q and Tried true", got, "seid did not start within 1s")
	}
}

func TestTry_PortTakenMeanwhile_TriesAgain(t *testing.T) {
	n := newNode(t)
	if got := n.try("taken", time.Minute); got != (Result{Tried: true}) || n.starts() != 2 {
		t.Errorf("%+v after %d starts, want it tried, and nothing else, after 2", got, n.starts())
	}
}

func TestTry_WithoutABinary_IsNoRefusal(t *testing.T) {
	n := newNode(t)
	got, err := Try(t.Context(), n.home, []string{"/nonexistent/seid"}, "v1", role(t, "up"))
	if err != nil || !strings.Contains(got.Skipped, "not tried: making a chain for trial starts") {
		t.Errorf("%+v, %v, want no error and %q in it", got, err, "not tried: making a chain for trial starts")
	}
}

func TestTry_Cancelled_IsNoVerdict(t *testing.T) {
	n := newNode(t)
	n.try("up", time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if got, err := Try(ctx, n.home, n.argv, "v1", role(t, "hang")); err == nil {
		t.Errorf("%+v, want an error", got)
	}
}

func TestTemplate_IsKeptForOneVersion(t *testing.T) {
	n := newNode(t)
	for _, version := range []string{"v1", "v1", "v2/x"} {
		_, err := template(t.Context(), n.home, n.argv[0], version)
		n.must(err)
	}
	found, _ := filepath.Glob(own(n.home, "*"))
	if len(found) != 1 || filepath.Base(found[0]) != "trial-v2_x" {
		t.Errorf("templates are %v", found)
	}
}

// gate serves requests until the test ends.
func (n node) gate() {
	ctx, cancel := context.WithCancel(n.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := Serve(ctx, n.home, n.argv); err != nil && ctx.Err() == nil {
				n.Error(err)
			}
			<-tick.C
		}
	}()
	n.Cleanup(func() { cancel(); <-done })
}

func (n node) asker() asker {
	return asker{home: n.home, version: "v1", timeout: time.Minute, notice: time.Minute, running: func(string) (bool, error) { return false, nil }}
}

func (n node) ask(a asker) Result {
	n.Helper()
	got, err := a.ask(n.Context())
	n.must(err)
	return got
}

func TestAsk_TheGateTries_OnceForEachConfiguration(t *testing.T) {
	n := newNode(t)
	n.gate()
	for range 2 {
		if got := n.ask(n.asker()); got != (Result{Tried: true}) {
			t.Errorf("%+v, want it tried, and nothing else", got)
		}
	}
	if n.starts() != 1 {
		t.Errorf("seid was started %d times", n.starts())
	}
	other := n.asker()
	other.version = "v2"
	n.ask(other)
	if n.starts() != 2 {
		t.Errorf("seid was started %d times for two versions", n.starts())
	}
	if left, _ := filepath.Glob(own(n.home, "trial", "*")); len(left) != 1 {
		t.Errorf("files of the exchange are %v", left)
	}
}

func TestAsk_Refused_IsTriedAgainAndRememberedWhenItCannotBe(t *testing.T) {
	n := newNode(t)
	n.gate()
	n.write("panic")
	for range 2 {
		if got := n.ask(n.asker()); !strings.Contains(got.Refused, "panic: no such thing") {
			t.Errorf("%+v, want %q in it", got, "panic: no such thing")
		}
	}
	if n.starts() != 2 {
		t.Errorf("seid was started %d times", n.starts())
	}
	running := n.asker()
	running.running = func(string) (bool, error) { return true, nil }
	if got := n.ask(running); !strings.Contains(got.Refused, "panic: no such thing") {
		t.Errorf("%+v, want %q in it", got, "panic: no such thing")
	}
}

func TestAsk_NobodyCanTry_SaysWhy(t *testing.T) {
	n := newNode(t)
	alone := n.asker()
	alone.notice = 100 * time.Millisecond
	if got := n.ask(alone); got.Skipped != "not tried: no gate waits for seid to be started" || got.Tried {
		t.Errorf("%+v, want Skipped %q and Tried false", got, "not tried: no gate waits for seid to be started")
	}
	runs := n.asker()
	runs.running = func(string) (bool, error) { return true, nil }
	if got := n.ask(runs); got.Skipped != "not tried: seid is running" || got.Tried {
		t.Errorf("%+v, want Skipped %q and Tried false", got, "not tried: seid is running")
	}
	if found, _ := load(requestFile(n.home), new(request)); found {
		t.Error("a request was left behind")
	}
	n.must(Serve(t.Context(), n.home, n.argv))
	if n.starts() != 0 {
		t.Error("seid was started although nobody asks")
	}
}

func TestServe_RequestOfOneWhoIsGone_IsDropped(t *testing.T) {
	n := newNode(t)
	n.must(store(requestFile(n.home), request{ID: "x", Until: time.Now().Add(-time.Second)}))
	n.must(Serve(t.Context(), n.home, n.argv))
	n.must(os.WriteFile(requestFile(n.home), []byte("{"), 0o600))
	if err := Serve(t.Context(), n.home, n.argv); err == nil {
		t.Error("a broken request is no error")
	}
	n.must(Serve(t.Context(), n.home, n.argv))
	if n.starts() != 0 {
		t.Error("seid was started")
	}
}

// validated makes the files of a role the configuration, validated and not tried.
func (n node) validated(name string) {
	n.Helper()
	n.must(configstate.Write(n.home, role(n.T, name), name))
	state, err := configstate.Read(n.home)
	n.must(err)
	n.must(configstate.Pass(n.home, state.Digest, api.Validation{SeidVersion: "v1", Error: "not tried: seid is running"}))
}

func (n node) state() configstate.State {
	n.Helper()
	state, err := configstate.Read(n.home)
	n.must(err)
	return state
}

func TestBefore_NeverTried_IsTriedOnce(t *testing.T) {
	n := newNode(t)
	n.validated("up")
	for range 2 {
		n.must(Before(t.Context(), n.home, n.argv, "v1"))
	}
	if v := n.state().Validation; n.starts() != 1 || v == nil || !v.Tried || !v.Valid {
		t.Errorf("%d starts, validation %+v", n.starts(), v)
	}
}

func TestBefore_Refused_TheLastGoodConfigurationTakesItsPlace(t *testing.T) {
	n := newNode(t)
	n.validated("up")
	n.must(Before(t.Context(), n.home, n.argv, "v1"))
	n.validated("panic")
	n.must(Before(t.Context(), n.home, n.argv, "v1"))
	got := n.state()
	if got.ConfigHash != "up" || got.Refused == nil || got.Refused.ConfigHash != "panic" || !strings.Contains(got.Refused.Error, "no such thing") {
		t.Errorf("state is %+v", got)
	}
	n.must(configstate.MayStart(n.home, "v1"))
}

func TestBefore_RefusedWithoutALastGoodConfiguration_StartsNothing(t *testing.T) {
	n := newNode(t)
	n.validated("panic")
	for range 2 {
		err := Before(t.Context(), n.home, n.argv, "v1")
		if err == nil || !strings.Contains(err.Error(), "panic: no such thing") || !strings.Contains(err.Error(), "no last good one") {
			t.Errorf("Before = %v", err)
		}
	}
	if n.starts() != 1 {
		t.Errorf("seid was started %d times", n.starts())
	}
	if err := configstate.MayStart(n.home, "v1"); err == nil {
		t.Error("seid may start on a configuration that it refuses")
	}
}

func TestBefore_FilesThatDoNotParse_AreReplacedByTheLastGoodOnes(t *testing.T) {
	n := newNode(t)
	n.validated("up")
	n.must(os.WriteFile(filepath.Join(n.home, "config", "config.toml"), []byte("= ="), 0o600))
	n.must(Before(t.Context(), n.home, n.argv, "v1"))
	if got := n.state(); got.ConfigHash != "up" {
		t.Errorf("state is %+v", got)
	}
}

func TestHung_WithoutALastGoodConfiguration_IsTriedAgain(t *testing.T) {
	n := newNode(t)
	slow := Result{Tried: true, unsure: true, Refused: "seid did not start within 30s"}
	n.validated("hang")
	if replaced, err := hung(n.home, n.state().Digest, "v1", slow); replaced || err == nil || !strings.Contains(err.Error(), "within 30s") {
		t.Errorf("hung = %v, %v", replaced, err)
	}
	n.must(configstate.MayStart(n.home, "v1")) // so that it comes to the next trial
	n.validated("up")
	n.must(Before(t.Context(), n.home, n.argv, "v1"))
	n.validated("hang")
	if replaced, err := hung(n.home, n.state().Digest, "v1", slow); !replaced || err != nil || n.state().ConfigHash != "up" {
		t.Errorf("hung = %v, %v", replaced, err)
	}
}

func TestBefore_CouldNotBeTried_LetsSeidStart(t *testing.T) {
	n := newNode(t)
	n.validated("oom")
	n.must(Before(t.Context(), n.home, n.argv, "v1"))
	if v := n.state().Validation; v == nil || !v.Valid || v.Tried {
		t.Errorf("validation is %+v", v)
	}
}

func TestAsk_FilesChangedMeanwhile_IsNoVerdict(t *testing.T) {
	n := newNode(t)
	a := n.asker()
	done := make(chan error, 1)
	go func() {
		_, err := a.ask(n.Context())
		done <- err
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for found := false; !found; <-tick.C {
		found, _ = load(requestFile(n.home), new(request))
	}
	n.write("quiet")
	n.must(Serve(t.Context(), n.home, n.argv))
	if err := <-done; !errors.Is(err, ErrChanged) {
		t.Errorf("ask = %v", err)
	}
}
