package opening_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/opening"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// permit opens as mark-ready does and leaves a permission of a day.
func (f *fixture) permit(p wire.MarkReady) {
	f.t.Helper()
	o, err := f.Check(f.t.Context(), p)
	if err := errors.Join(err, f.Permit(p, o)); err != nil {
		f.t.Fatal(err)
	}
}

func forADay(p wire.MarkReady) wire.MarkReady {
	p.Permission = "24h"
	return p
}

// stand lets a new sidecar hear nothing for its 15 seconds and reports what it opened for.
func (f *fixture) stand(before func(*opening.Stand)) *api.Opening {
	f.t.Helper()
	// A clock that nobody waits for yet.
	f.clock = clocktesting.NewFakeClock(f.clock.Now())
	f.Clock = f.clock
	var opened *api.Opening
	synctest.Test(f.t, func(t *testing.T) {
		s := &opening.Stand{Conditions: f.Conditions, Open: func(o api.Opening) bool {
			opened = &o
			return true
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Run(t.Context())
		}()
		awaitWaiter(t, f.clock)
		f.clock.Step(opening.Silence - time.Millisecond)
		synctest.Wait()
		if opened != nil {
			t.Errorf("opened for %+v before its time, want nothing before %s", opened, opening.Silence)
		}
		if before != nil {
			before(s)
		}
		f.clock.Step(time.Millisecond)
		<-done
	})
	return opened
}

func TestStand_PermissionForWhatIsThere_OpensWhenNoOperatorIsHeardOf(t *testing.T) {
	f := newFixture(t, "full")
	f.permit(forADay(expect("A", "")))
	if got := f.stand(nil); got == nil || *got != (api.Opening{ConfigHash: "A"}) {
		t.Errorf("opened for %+v, want configuration A", got)
	}
	if got := f.stand(func(s *opening.Stand) { s.Heard() }); got != nil {
		t.Errorf("an operator is there, and yet opened for %+v, want nothing", got)
	}
}

func TestStand_AnythingElse_StaysClosed(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"no permission":        func(f *fixture) { f.must(f.Revoke()) },
		"revoked twice":        func(f *fixture) { f.must(errors.Join(f.Revoke(), f.Revoke())) },
		"opened without one":   func(f *fixture) { f.permit(expect("A", "")) },
		"opened for anything":  func(f *fixture) { f.permit(wire.MarkReady{}) },
		"other configuration":  func(f *fixture) { f.hash = "B" },
		"failed validation":    func(f *fixture) { f.invalid = errors.New("not valid") },
		"other template":       func(f *fixture) { f.TemplateHash = "U" },
		"unknown template":     func(f *fixture) { f.TemplateHash = "" },
		"expired":              func(f *fixture) { f.clock.Step(25 * time.Hour) },
		"of the future":        func(f *fixture) { f.clock.SetTime(f.clock.Now().Add(-time.Hour)) },
		"signs now":            func(f *fixture) { f.mode("validator") },
		"given without a name": func(f *fixture) { f.TemplateHash = ""; f.permit(forADay(expect("A", ""))); f.TemplateHash = "T" },
		"given to a validator": func(f *fixture) {
			f.mode("validator")
			f.gate(supervision.Key{Address: keyA})
			f.permit(forADay(expect("A", keyA)))
		},
		"damaged": func(f *fixture) { f.must(supervision.Save(f.Home, "permission.json", "no object")) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "full")
			f.permit(forADay(expect("A", "")))
			if _, err := f.Standing(t.Context()); err != nil {
				t.Fatalf("the permission does not hold from the start: %v", err)
			}
			change(f)
			if got := f.stand(nil); got != nil {
				t.Errorf("opened for %+v, want nothing", got)
			}
			if _, err := f.Standing(t.Context()); err == nil || strings.Contains(err.Error(), "failed to") {
				t.Errorf("reason: %v, want one, in our words", err)
			}
		})
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// An operator that is heard of renews its permission: a node that has been up for long comes back too.
func TestHeard_RenewsThePermissionForWhatIsOnDisk(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fixture)
		heard  bool
		want   *api.Opening
	}{
		"heard of, nothing changed":             {heard: true, want: &api.Opening{ConfigHash: "A"}},
		"heard of after a reconfiguration":      {func(f *fixture) { f.hash = "B" }, true, &api.Opening{ConfigHash: "B"}},
		"not heard of":                          {},
		"heard of, but revoked":                 {func(f *fixture) { f.must(f.Revoke()) }, true, nil},
		"heard of, but files are not valid":     {func(f *fixture) { f.invalid = errors.New("not valid") }, true, nil},
		"heard of, but files have no name":      {func(f *fixture) { f.hash = "" }, true, nil},
		"heard of in a pod of another template": {func(f *fixture) { f.TemplateHash = "U" }, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "full")
			f.permit(forADay(expect("A", "")))
			f.clock.Step(23 * time.Hour)
			if c.change != nil {
				c.change(f)
			}
			if c.heard {
				(&opening.Stand{Conditions: f.Conditions}).Heard()
			}
			f.clock.Step(23 * time.Hour)
			if got := f.stand(nil); (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("opened for %+v, want %+v", got, c.want)
			}
		})
	}
}
