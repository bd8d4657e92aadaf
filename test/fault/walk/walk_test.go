package walk

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// walk is a plan that is being made, in a world of its own.
type walk struct {
	*world.World

	subject *subject
	// wanted is what the user has written down, whether it was created or not.
	wanted client.Object
	// standard is the operator's configuration at the beginning and at the end.
	standard platform.Config

	// away: no operator runs. second is one that runs beside it.
	away   bool
	second *world.Operator
	// blind counts what keeps the operator from seeing nodes: silent sidecars and lost machines.
	blind map[string]func()
	// repairs undo what else was done to the world, by what it was.
	repairs map[string]func()
	// foreign are objects of somebody else, and kept the claims that have to stay, by name.
	foreign map[client.Object]bool
	kept    map[string]types.UID
	// keyEdited: the Secret does not hold the validator's key.
	keyEdited bool
	budget    *budget

	mu      sync.Mutex
	verdict verdict
	log     []string
	names   map[types.UID]string
}

// verdict is what a walk came to.
type verdict struct {
	// check is the name of the check that failed, without what differs from one walk to the next.
	check, detail string
	checked       map[string]int
}

func (v verdict) failed() bool { return v.check != "" }

// notMade is the verdict on a walk that could not be made to its end.
const notMade = "the walk was not made to its end"

// attempt makes a walk in a test of its own. That one fails only if the walk cannot be made: what is
// found on a walk is for rapid to judge.
func attempt(t *testing.T, p plan, tally *tally) verdict {
	t.Helper()
	v := verdict{check: notMade}
	t.Run("walk", func(t *testing.T) {
		w := newWalk(t, subjectNamed(p.subject))
		w.run(p)
		v = w.verdict
		if v.failed() {
			t.Logf("%s\n%s: %s\n%q", p, v.check, v.detail, w.log)
		}
	})
	tally.add(p, v)
	return v
}

func newWalk(t *testing.T, s *subject) *walk {
	t.Helper()
	w := &walk{
		World: world.New(t), subject: s, wanted: s.make(), blind: map[string]func(){}, repairs: map[string]func(){},
		foreign: map[client.Object]bool{}, kept: map[string]types.UID{}, names: map[types.UID]string{}, verdict: verdict{checked: map[string]int{}},
	}
	w.standard = *w.Platform
	w.Config.Wrap(w.guardDeletes)
	w.prepare()
	t.Cleanup(w.forget)
	w.StartOperator()
	if s.arrange != nil {
		s.arrange(w.World)
	}
	w.budget = w.watchBudget()
	w.create()
	return w
}

// prepare sets what holds in all worlds.
func (w *walk) prepare() {
	prepare(w.World)
	w.Sidecars.SetLeases(w.leases())
}

// forget takes the world's series out of the metrics, which all worlds share.
func (w *walk) forget() {
	metrics.Default().Forget(v1alpha1.KindSeiNodeDeployment, w.NS, w.wanted.GetName())
	for _, name := range append(nodesOf(newFleet()), w.subject.name, holder, "peer", "rival") {
		metrics.Default().Forget(v1alpha1.KindSeiNode, w.NS, name)
	}
}

// run makes the walk.
func (w *walk) run(p plan) {
	w.T.Helper()
	w.come(rest)
	rested := true
	for _, e := range p.events {
		a := actionNamed(e.what)
		after := w.watchFor(a, rested)
		w.log = append(w.log, e.String())
		a.do(w, e.arg)
		w.come(e.then)
		rested = e.then == rest
		if after != nil {
			after()
		}
		if rested {
			w.checkAtRest()
		}
		if w.checkAlways(); w.failed() {
			return
		}
	}
	w.end()
}

// notef notes the result of an event.
func (w *walk) notef(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// failf notes the first check that failed.
func (w *walk) failf(check, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.verdict.check == "" {
		w.verdict.check, w.verdict.detail = check, fmt.Sprintf(format, args...)
	}
}

func (w *walk) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.verdict.failed()
}

// counted notes that a check was made.
func (w *walk) counted(check string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.verdict.checked[check]++
}

func (w *walk) list(list client.ObjectList, opts ...client.ListOption) {
	w.T.Helper()
	if err := w.Client.List(w.T.Context(), list, append(opts, client.InNamespace(w.NS))...); err != nil {
		w.T.Fatal(err)
	}
}

// read reads an object, if it is there.
func (w *walk) read(name string, into client.Object) bool {
	w.T.Helper()
	err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.NS, Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		w.T.Fatal(err)
	}
	return err == nil
}

// undo undoes everything of a kind, in the same order each time.
func undo(of map[string]func()) {
	for _, what := range slices.Sorted(maps.Keys(of)) {
		of[what]()
	}
	clear(of)
}
