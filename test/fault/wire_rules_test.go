package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// sidecarBehind gives a life's way to a server that counts what arrives.
func sidecarBehind(t *testing.T, w *wire) (*life, *http.Client, *atomic.Int32, string) {
	t.Helper()
	var arrived atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(srv.Close)
	l := newLife(w, func() {})
	return l, &http.Client{Transport: l.toSidecars(http.DefaultTransport)}, &arrived, srv.URL
}

func submit(t *testing.T, c *http.Client, url string) error {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/v0/tasks", strings.NewReader(`{"id":"1","type":"mark-ready"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(api.HeaderNode, "ns/full")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(resp.Body)
		return errors.Join(errors.New(string(text)), err)
	}
	return nil
}

// Each disturbance does to the second of three calls what it is named after, and to no other.
func TestDisturbances_DoWhatTheyAreNamedAfter(t *testing.T) {
	for name, want := range map[string]struct {
		// arrived is how many of the three calls the server got, and failed how many the caller saw fail.
		arrived int32
		failed  []bool
		dead    bool
	}{
		"crash-before":       {1, []bool{false, true, true}, true},
		"stale-start-2":      {1, []bool{false, true, true}, true},
		"crash-after":        {2, []bool{false, true, true}, true},
		"sidecar-lost-reply": {3, []bool{false, true, false}, false},
		"sidecar-twice":      {4, []bool{false, false, false}, false},
		"sidecar-500":        {2, []bool{false, true, false}, false},
		"sidecar-refused":    {2, []bool{false, true, false}, false},
		"sidecar-slow":       {3, []bool{false, false, false}, false},
		"sidecar-lost-store": {3, []bool{false, false, false}, false},
	} {
		w := newWire(disturbanceNamed(name), "submit-mark-ready full 2")
		lost, behind := "", 0
		w.rewind = func(changes int) { behind = changes }
		w.loseStore = func(node string) error { lost = node; return nil }
		l, client, arrived, url := sidecarBehind(t, w)
		w.setOpen(true)
		failed := make([]bool, 3)
		for i := range failed {
			failed[i] = submit(t, client, url) != nil
		}
		if arrived.Load() != want.arrived || !cmp.Equal(failed, want.failed) || l.isDead() != want.dead || !w.wasMet() {
			t.Errorf("%s: %d arrived, failed %v, dead %t, met %t, want %d, %v, %t and met",
				name, arrived.Load(), failed, l.isDead(), w.wasMet(), want.arrived, want.failed, want.dead)
		}
		if (behind == 2) != (name == "stale-start-2") {
			t.Errorf("%s: the next process begins %d changes behind, want 2 for stale-start-2 alone", name, behind)
		}
		if (lost == "ns/full") != w.disturb.forgets() {
			t.Errorf("%s: the store of %q was lost, want that of ns/full if the disturbance loses one: %t", name, lost, w.disturb.forgets())
		}
	}
}

// What happens while a scenario is arranged is neither counted nor disturbed.
func TestWire_BeforeItIsOpen_CountsNothing(t *testing.T) {
	w := newWire(disturbanceNamed("crash-before"), "submit-mark-ready full 1")
	l, client, _, url := sidecarBehind(t, w)
	if err := submit(t, client, url); err != nil || l.isDead() || len(w.recorded()) > 0 {
		t.Errorf("the call ends with %v, dead %t, %v are recorded, want no error, alive and no calls", err, l.isDead(), w.recorded())
	}
	w.setOpen(true)
	if err := submit(t, client, url); !errors.Is(err, errKilled) || len(w.recorded()) != 1 {
		t.Errorf("the call ends with %v, %v are recorded, want %v and one call", err, w.recorded(), errKilled)
	}
}

// Identities may differ from run to run; who is the same as whom may not.
func TestNames_KeepsWhatIsEqualAndForgetsWhatItIs(t *testing.T) {
	describe := func(namespace string, texts ...string) (found []string) {
		n := newNames(namespace)
		for _, text := range texts {
			found = append(found, n.Rename(text))
		}
		return found
	}
	one := describe("a-1", "0a0a0a0a-0000-4000-8000-000000000001 in a-1", "0a0a0a0a-0000-4000-8000-000000000001", "2026-01-02T03:04:05Z")
	same := describe("b-2", "0b0b0b0b-0000-4000-8000-000000000009 in b-2", "0b0b0b0b-0000-4000-8000-000000000009", "2026-11-12T13:14:15Z")
	other := describe("b-2", "0b0b0b0b-0000-4000-8000-000000000009 in b-2", "0c0c0c0c-0000-4000-8000-000000000009", "2026-11-12T13:14:15Z")
	if !cmp.Equal(one, same) || cmp.Equal(one, other) {
		t.Errorf("want the first two to be equal, and the third to differ:\n%q\n%q\n%q", one, same, other)
	}
}

// A few runs have a bit of everything, and the same ones for the same seed.
func TestSelected_TakesFromEveryCellInTurn(t *testing.T) {
	ref := &reference{scenario: scenarios[0], calls: []call{
		{toAPI: true, verb: "patch", object: "seinodes full", nth: 1, changes: true},
		{toAPI: true, verb: "patch", object: "seinodes full", nth: 2, changes: true},
		{toAPI: true, verb: "delete", object: "pods full-0", nth: 1, changes: true},
		{verb: "submit-mark-ready", object: "full", nth: 1, changes: true},
	}}
	few := choice{runs: len(disturbances), seed: 7}
	seen := map[string]int{}
	for _, p := range few.selected([]*reference{ref}) {
		seen[p.disturb.name]++
	}
	for _, d := range disturbances {
		if seen[d.name] != 1 {
			t.Errorf("%s: %d runs, want 1", d.name, seen[d.name])
		}
	}
	names := func(c choice) (all, twice []string) {
		for _, p := range c.selected([]*reference{ref}) {
			if p.disturb.twice {
				twice = append(twice, p.name())
			} else {
				all = append(all, p.name())
			}
		}
		return all, twice
	}
	all, twice := names(choice{seed: 7})
	again, twiceAgain := names(choice{seed: 7})
	ofAll, ofWrites, ofSidecars, ofDestructive := 5*4, 7*3, 6*1, 3*3
	if len(all) != ofAll+ofWrites+ofSidecars+ofDestructive+1 || !cmp.Equal(all, again) {
		t.Errorf("%d runs, want %d, and the same again (-first +second):\n%s",
			len(all), ofAll+ofWrites+ofSidecars+ofDestructive+1, cmp.Diff(all, again))
	}
	// Each of the first three calls has a later one, and is drawn twice.
	if len(twice) < 3 || len(twice) > 5 || !cmp.Equal(twice, twiceAgain) || !strings.Contains(twice[0], then) {
		t.Errorf("runs with two disturbances %q and again %q, want the same 3 to 5, the first with %q", twice, twiceAgain, then)
	}
}

// The second call of a pair is disturbed only after the first.
func TestWire_TwoCalls_OneAfterTheOther(t *testing.T) {
	w := newWire(disturbanceNamed("sidecar-500"), "submit-mark-ready full 2", "submit-mark-ready full 3")
	_, client, _, url := sidecarBehind(t, w)
	w.setOpen(true)
	failed := make([]bool, 4)
	for i := range failed {
		failed[i] = submit(t, client, url) != nil
	}
	if !cmp.Equal(failed, []bool{false, true, true, false}) || !w.wasMet() {
		t.Errorf("failed %v, met %t, want the second and third call to fail, and met", failed, w.wasMet())
	}
}

// A version some changes behind is the one before them, and the first there is when there were fewer.
func TestCensus_Behind_CountsChangesOfAllKinds(t *testing.T) {
	c := &census{}
	for _, version := range []string{"10", "10", "30", "20"} { // lists of two kinds, and two changes
		c.at(version)
	}
	for changes, want := range map[int]string{0: "30", 1: "20", 2: "10", 3: "10"} {
		if got := c.behind(changes); got != want {
			t.Errorf("%d changes behind is version %s, want %s", changes, got, want)
		}
	}
}

// A call that nobody answered in time is noticed, and one that is refused is not taken for it.
func TestWire_UnansweredCalls_AreCounted(t *testing.T) {
	for err, want := range map[error]int{context.DeadlineExceeded: 1, syscall.ECONNREFUSED: 0} {
		w := newWire(nil)
		w.setOpen(true)
		failing := roundTripper(func(*http.Request) (*http.Response, error) { return nil, err })
		client := &http.Client{Transport: newLife(w, func() {}).toSidecars(failing)}
		if submit(t, client, "http://sidecar") == nil || w.countUnanswered() != want {
			t.Errorf("%v: %d unanswered, want the call to fail and %d", err, w.countUnanswered(), want)
		}
	}
}

// A plan that opens the gate of a sidecar without a store may be the last one. Anything else that
// differs is a difference, and so is such a plan where no store was lost.
func TestExcuse_AGateThatWasOpenedAgain_OnlyAfterALostStore(t *testing.T) {
	of := func(plan, phase string) *picture {
		return &picture{
			Objects: map[string][]string{"SeiNode full": {".status.lastPlan.reason: " + plan, ".status.phase: " + phase}},
			Tasks:   map[string]int{},
		}
	}
	for _, c := range []struct {
		disturbance, plan, phase string
		same                     bool
	}{
		{"sidecar-lost-store", "SidecarNotReady", "Running", true},
		{"sidecar-lost-store", "RestartDue", "Running", true},
		{"sidecar-lost-store", "ImageChanged", "Running", false},
		{"sidecar-lost-store", "SidecarNotReady", "Failed", false},
		{"sidecar-500", "SidecarNotReady", "Running", false},
	} {
		undisturbed, is := of("NewNode", "Running"), of(c.plan, c.phase)
		is.excuse(undisturbed, disturbanceNamed(c.disturbance))
		if same := cmp.Equal(undisturbed, is); same != c.same {
			t.Errorf("%+v: same %t, want %t", c, same, c.same)
		}
	}
}

// A store that is lost after seid was restarted may cost one more restart, and nothing else does.
func TestExcuse_ARestartThatWasMadeAgain_OnlyAfterALostStore(t *testing.T) {
	of := func(starts, restarts int) *picture {
		return &picture{Nodes: map[string]nodePicture{"full": {Starts: starts}}, Tasks: map[string]int{"full restart-seid": restarts}}
	}
	for _, c := range []struct {
		disturbance      string
		restarts, starts int
		same             bool
	}{
		{"sidecar-lost-store", 1, 2, true},
		{"sidecar-lost-store", 1, 3, true},
		{"sidecar-lost-store", 1, 4, false},
		{"sidecar-lost-store", 1, 1, false},
		{"sidecar-lost-store", 0, 3, false},
		{"sidecar-lost-reply", 1, 3, false},
	} {
		undisturbed, is := of(2, c.restarts), of(c.starts, c.restarts)
		is.excuse(undisturbed, disturbanceNamed(c.disturbance))
		if same := cmp.Equal(undisturbed, is); same != c.same {
			t.Errorf("%+v: same %t, want %t", c, same, c.same)
		}
	}
}
