package fault

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
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
}

// newRun makes the world of a scenario, arranges it, and counts from then on.
func newRun(t *testing.T, s *scenario, d *disturbance, at string) *run {
	t.Helper()
	r := &run{World: world.New(t), scenario: s, wire: newWire(d, at)}
	r.wire.watches = r.Watches
	r.Stop = r.stopOperator
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
	revived := make(chan struct{})
	defer close(revived)
	r.mu.Lock()
	r.revived = revived
	r.operator.Abandon()
	r.mu.Unlock()
	if err := r.launch(); err != nil {
		r.T.Errorf("starting an operator after a crash: %v", err)
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

// act does what the scenario is about, and waits until it is over.
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

// becomes wants the end of the reference, sooner or later.
func (r *run) becomes(want *picture) {
	r.T.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		is := r.picture()
		is.excuse(want)
		if cmp.Equal(want, is) {
			return
		}
		if time.Since(began) > envtest.WaitTimeout {
			r.T.Errorf("the end is another one than without a disturbance (- undisturbed, + this):\n%s", want.difference(is))
			return
		}
	}
}

// silent wants an operator that looks at everything some more times to write nothing.
func (r *run) silent(reconciles int) {
	r.T.Helper()
	mark := r.Recorder.Mark()
	r.reconcile(reconciles)
	took := func(q envtest.Request) bool { return q.Code < http.StatusBadRequest }
	r.Recorder.Since(mark).Writes().In(r.NS).Without("events").Where(took).RequireNone(r.T, "writes after the end")
	for _, violation := range r.Sidecars.Violations() {
		r.T.Error(violation)
	}
}

// object is one that the operator reconciles.
type object struct{ kind, name string }

func node(name string) object  { return object{v1alpha1.KindSeiNode, name} }
func fleet(name string) object { return object{v1alpha1.KindSeiNodeDeployment, name} }
func task(name string) object  { return object{v1alpha1.KindSeiNodeTask, name} }

// reconciled names the metric that counts an object's reconciles, and makes an empty one.
func (o object) reconciled() (metric string, empty client.Object) {
	switch o.kind {
	case v1alpha1.KindSeiNodeDeployment:
		return metrics.NameDeploymentStatusPatches, &v1alpha1.SeiNodeDeployment{}
	case v1alpha1.KindSeiNodeTask:
		return metrics.NameNodeTaskStatusPatches, &v1alpha1.SeiNodeTask{}
	default:
		return metrics.NameNodeStatusPatches, &v1alpha1.SeiNode{}
	}
}

// annotationForced makes the operator look at an object.
const annotationForced = "fault/forced"

// reconcile makes the operator look at every object so many times.
func (r *run) reconcile(times int) {
	r.T.Helper()
	for _, o := range r.scenario.objects {
		metric, empty := o.reconciled()
		count := func() float64 {
			return r.Patches(metric, o.name, statuspatch.Noop) + r.Patches(metric, o.name, statuspatch.Changed)
		}
		for range times {
			seen := count()
			world.Edit(r.World, o.name, empty, func(obj client.Object) {
				annotations := obj.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[annotationForced] = fmt.Sprint(seen, time.Now().UnixNano())
				obj.SetAnnotations(annotations)
			})
			r.Eventually("another reconcile of "+o.name, func() bool { return count() > seen })
		}
	}
}
