package fault

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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
		"crash-after":        {2, []bool{false, true, true}, true},
		"sidecar-lost-reply": {3, []bool{false, true, false}, false},
		"sidecar-twice":      {4, []bool{false, false, false}, false},
		"sidecar-500":        {2, []bool{false, true, false}, false},
		"sidecar-refused":    {2, []bool{false, true, false}, false},
	} {
		w := newWire(disturbanceNamed(name), "submit-mark-ready full 2")
		l, client, arrived, url := sidecarBehind(t, w)
		w.setOpen(true)
		failed := make([]bool, 3)
		for i := range failed {
			failed[i] = submit(t, client, url) != nil
		}
		if arrived.Load() != want.arrived || !cmp.Equal(failed, want.failed) || l.isDead() != want.dead || !w.wasMet() {
			t.Errorf("%s: %d arrived, failed %v, dead %t, met %t", name, arrived.Load(), failed, l.isDead(), w.wasMet())
		}
	}
}

// What happens while a scenario is arranged is neither counted nor disturbed.
func TestWire_BeforeItIsOpen_CountsNothing(t *testing.T) {
	w := newWire(disturbanceNamed("crash-before"), "submit-mark-ready full 1")
	l, client, _, url := sidecarBehind(t, w)
	if err := submit(t, client, url); err != nil || l.isDead() || len(w.recorded()) > 0 {
		t.Errorf("%v, dead %t, %v", err, l.isDead(), w.recorded())
	}
	w.setOpen(true)
	if err := submit(t, client, url); !errors.Is(err, errKilled) || len(w.recorded()) != 1 {
		t.Errorf("%v, %v", err, w.recorded())
	}
}

// Identities may differ from run to run; who is the same as whom may not.
func TestRenamed_KeepsWhatIsEqualAndForgetsWhatItIs(t *testing.T) {
	describe := func(namespace string, texts ...string) (found []string) {
		n := newRenamed(namespace)
		for _, text := range texts {
			found = append(found, n.rename(text))
		}
		return found
	}
	one := describe("a-1", "0a0a0a0a-0000-4000-8000-000000000001 in a-1", "0a0a0a0a-0000-4000-8000-000000000001", "2026-01-02T03:04:05Z")
	same := describe("b-2", "0b0b0b0b-0000-4000-8000-000000000009 in b-2", "0b0b0b0b-0000-4000-8000-000000000009", "2026-11-12T13:14:15Z")
	other := describe("b-2", "0b0b0b0b-0000-4000-8000-000000000009 in b-2", "0c0c0c0c-0000-4000-8000-000000000009", "2026-11-12T13:14:15Z")
	if !cmp.Equal(one, same) || cmp.Equal(one, other) {
		t.Errorf("%q\n%q\n%q", one, same, other)
	}
}

// A few runs have a bit of everything, and the same ones for the same seed.
func TestSelected_TakesFromEveryCellInTurn(t *testing.T) {
	ref := &reference{scenario: scenarios[0], calls: []call{
		{toAPI: true, verb: "patch", object: "seinodes full", nth: 1, changes: true},
		{toAPI: true, verb: "patch", object: "seinodes full", nth: 2, changes: true},
		{verb: "submit-mark-ready", object: "full", nth: 1, changes: true},
	}}
	few := choice{runs: len(disturbances), seed: 7}
	seen := map[string]int{}
	for _, p := range few.selected([]*reference{ref}) {
		seen[p.disturb.name]++
	}
	for _, d := range disturbances {
		if seen[d.name] != 1 {
			t.Errorf("%s: %d runs", d.name, seen[d.name])
		}
	}
	names := func(c choice) (all []string) {
		for _, p := range c.selected([]*reference{ref}) {
			all = append(all, p.name())
		}
		return all
	}
	if all := names(choice{seed: 7}); len(all) != 3*2+2*6+1*4 || !cmp.Equal(all, names(choice{seed: 7})) {
		t.Errorf("%q", all)
	}
}
