package fault

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// run is a scenario in a world of its own.
type run struct {
	*world.World

	scenario *scenario
	wire     *wire
	census   *census

	mu       sync.Mutex
	operator *world.Operator
	// revived is closed when a killed operator has a successor; nil when none was killed.
	revived chan struct{}
	// rewound: the next operator begins in the past.
	rewound bool
}

// newRun makes the world of a scenario, arranges it, and counts from then on.
func newRun(t *testing.T, s *scenario, d *disturbance, at ...string) *run {
	t.Helper()
	r := &run{World: world.New(t), scenario: s, wire: newWire(d, at...)}
	r.wire.watches, r.wire.loseStore, r.wire.rewind = r.Watches, r.Sidecars.LoseStore, r.rewind
	r.Stop = r.stopOperator
	r.Sidecars.DeriveKeys()
	t.Cleanup(r.forget)
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	if s.arrange != nil {
		s.arrange(r)
	}
	r.census = r.takeCensus()
	r.wire.setOpen(true)
	return r
}

// launch starts an operator whose calls go through the wire.
func (r *run) launch() error {
	l := newLife(r.wire, r.revive)
	config := rest.CopyConfig(r.Config)
	config.Wrap(l.toAPI)
	operator, err := r.Launch(config, l.toSidecars)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operator = operator
	return nil
}

// revive starts another operator in the place of one that was killed.
func (r *run) revive() {
	r.awaitRevival() // one that is killed while it starts is replaced when it has
	revived := make(chan struct{})
	defer close(revived)
	r.mu.Lock()
	r.revived = revived
	rewound := r.rewound
	r.rewound = false
	r.operator.Abandon()
	r.mu.Unlock()
	before := r.passes()
	if err := r.launch(); err != nil {
		r.T.Errorf("starting an operator after a crash: %v", err)
	}
	if rewound {
		r.forward(before)
	}
}

// awaitRevival waits until an operator runs, if one was killed.
func (r *run) awaitRevival() {
	r.mu.Lock()
	revived := r.revived
	r.mu.Unlock()
	if revived != nil {
		<-revived
	}
}

func (r *run) stopOperator() {
	r.awaitRevival()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.operator == nil {
		return
	}
	if err := r.operator.Stop(); err != nil {
		r.T.Errorf("the operator ended with: %v", err)
	}
	r.operator = nil
}

// forget takes the world's series out of the metrics, which all worlds share.
func (r *run) forget() {
	for _, o := range r.scenario.objects {
		metrics.Default().Forget(o.kind, r.NS, o.name)
	}
}

// act does what the scenario is about, and waits until it has ended.
func (r *run) act() {
	r.T.Helper()
	r.scenario.act(r)
	r.scenario.settle(r)
	r.awaitRevival()
	// Whoever settled before a crash has to be found settled by the next operator too.
	r.reconcile(1)
	r.scenario.settle(r)
	r.wire.setOpen(false)
}

// steady is a picture that does not change any more.
func (r *run) steady() *picture {
	r.T.Helper()
	last := r.picture()
	r.Eventually("a state that lasts", func() bool {
		before := last
		r.reconcile(1)
		orphans := r.hasOrphans() // asked before the picture, which may then have none
		last = r.picture()
		return !orphans && cmp.Equal(before, last)
	})
	return last
}

// becomes wants the end of the reference, sooner or later, and wants it to last: a call that failed just before the end
// is followed by writes that say so, and that it was repeated.
func (r *run) becomes(want *picture) {
	r.T.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began, lasts := time.Now(), false; ; <-tick.C {
		is := r.picture()
		is.excuse(want, r.wire.disturb)
		switch same := cmp.Equal(want, is); {
		case same && lasts:
			return
		case same:
			lasts = true
			r.reconcile(1)
		case time.Since(began) > envtest.WaitTimeout:
			r.T.Errorf("the end is another one than without a disturbance (- undisturbed, + this):\n%s", want.difference(is))
			return
		default:
			lasts = false
		}
	}
}

// silent wants an operator that looks at everything some more times to write nothing. An operator whose
// call was not answered in time reports that: on a machine that is so busy nothing is learned, and it
// is tried again once the end has come about again.
func (r *run) silent(reconciles int, again func()) {
	r.T.Helper()
	const tries = 5
	for try := 1; ; try++ {
		unanswered, mark := r.wire.countUnanswered(), r.Recorder.Mark()
		r.reconcile(1)
		r.wake(reconciles - 1)
		if r.wire.countUnanswered() != unanswered && try < tries {
			again()
			continue
		}
		took := func(q envtest.Request) bool { return q.Code < http.StatusBadRequest }
		r.Recorder.Since(mark).Writes().In(r.NS).Without("events").Where(took).RequireNone(r.T, "writes after the end")
		break
	}
	for _, violation := range r.Sidecars.Violations() {
		r.T.Error(violation)
	}
}
