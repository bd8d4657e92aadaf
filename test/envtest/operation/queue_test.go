package operation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/test/elapse"
	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

func queuedBehind(name string) func(*v1alpha1.SeiNodeTask) bool {
	return func(t *v1alpha1.SeiNodeTask) bool {
		return is(t, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTaskQueued) && says(t, v1alpha1.ConditionReady, "SeiNodeTask "+name+",")
	}
}

// Tasks that change a node run one at a time in the order they were made; plain waits pass them.
func TestQueue_TasksThatChangeANode_RunOneAfterTheOther(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	on := &chain{}
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Do: on.include})
	release := w.Sidecars.Program(w.Key("v"), api.AwaitCondition, sidecarsim.Outcome{Hang: true})
	w.Create(awaitHeight("first", "v", "SIGTERM_SEID"))
	w.await("first", handedOver)
	w.Create(restart("second", "v"))
	w.await("second", queuedBehind("first"))
	w.Create(vote("third", "v"))
	w.await("third", func(t *v1alpha1.SeiNodeTask) bool { return queuedBehind("first")(t) || queuedBehind("second")(t) })
	w.Create(awaitHeight("beside", "v", ""))
	w.await("beside", handedOver)
	if ids, _ := w.submitted("v", api.RestartSeid); ids != 0 || on.transactions() != 0 {
		t.Fatalf("%d restarts and %d transactions while another task runs", ids, on.transactions())
	}

	// The first goes, and with it what its node was asked to do.
	release()
	first := w.task("first")
	w.Delete(first)
	envtest.WaitGone[v1alpha1.SeiNodeTask](t, w.Env, w.NS, "first")
	second, third := w.await("second", complete), w.await("third", complete)
	if third.Status.StartedAt.Before(second.Status.CompletedAt) {
		t.Errorf("the third began at %s, before the second ended at %s", third.Status.StartedAt, second.Status.CompletedAt)
	}
	cancelled := slices.ContainsFunc(w.Sidecars.Requests(w.Key("v")), func(r sidecarsim.Request) bool {
		return r.Method == http.MethodDelete && r.Path == "/v0/tasks/"+first.Status.Plan.Tasks[0].ID && r.Status == http.StatusNoContent
	})
	if !cancelled {
		t.Error("the task that was deleted was not cancelled")
	}
	if got := on.transactions(); got != 1 {
		t.Errorf("%d transactions", got)
	}
}

// Ten tasks that are made at once are each done, once and under one id.
func TestQueue_ManyAtOnce_EachIsDoneOnce(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	on := &chain{}
	w.Sidecars.Program(w.Key("v"), api.GovVote, sidecarsim.Outcome{Do: on.include})
	names := []string{"e", "c", "a", "d", "b", "j", "h", "f", "i", "g"}
	for _, name := range names {
		w.Create(vote(name, "v"))
	}
	done := make([]*v1alpha1.SeiNodeTask, 0, len(names))
	for _, name := range names {
		done = append(done, w.await(name, complete))
	}
	if got := on.transactions(); got != len(names) {
		t.Errorf("%d transactions of %d tasks", got, len(names))
	}

	ids := map[string]string{}
	for _, task := range done {
		ids[task.Status.Plan.Tasks[0].ID] = task.Name
	}
	if len(ids) != len(names) {
		t.Errorf("%d ids of %d tasks", len(ids), len(names))
	}
}

// witness notes from when until when a sidecar has worked for a task: from its submission to its end.
type witness struct {
	mu    sync.Mutex
	ended map[string]time.Time
}

func (o *witness) watch(ctx context.Context, call sidecarsim.Call) (any, error) {
	if !elapse.For(ctx, 20*time.Millisecond) { // long enough for another one to come
		return nil, errors.New("the task was cut off")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended[call.ID] = time.Now()
	if call.Type == api.GovVote {
		return wire.GovTxResult{TxHash: "HASH", Height: 1000, InclusionStatus: wire.InclusionCommitted}, nil
	}
	return nil, nil
}

// No sidecar is given a task that changes its node while it works on another, and they come in the
// order they were made, whatever happens to the operator and its caches.
func TestQueue_OperatorsAndCachesComeAndGo_NoTwoTasksOverlap(t *testing.T) {
	w := newOperatedWorld(t)
	w.bringUp(validator("v"))
	seen := &witness{ended: map[string]time.Time{}}
	for _, taskType := range []api.TaskType{api.GovVote, api.RestartSeid, api.AwaitCondition} {
		w.Sidecars.Program(w.Key("v"), taskType, sidecarsim.Outcome{Do: seen.watch})
	}
	before := len(w.Sidecars.Requests(w.Key("v")))
	names := make([]string, 0, 12)
	disturb := []func(){ // no operator starts while watches are held: its caches begin with one
		w.RestartOperator,
		func() { w.Watches.Hold("seinodetasks") },
		func() { w.Watches.Expire("seinodetasks") },
		func() { w.Watches.Hold("seinodetasks") },
		func() { w.Watches.Release("seinodetasks") },
	}
	for i := range cap(names) {
		name := fmt.Sprintf("t%02d", i)
		names = append(names, name)
		w.Create([]*v1alpha1.SeiNodeTask{vote(name, "v"), restart(name, "v"), awaitHeight(name, "v", "SIGTERM_SEID")}[i%3])
		if i%2 == 1 {
			disturb[i/2%len(disturb)]()
		}
	}
	w.Watches.Release("seinodetasks")
	order := make([]string, 0, len(names))
	for _, name := range names {
		order = append(order, w.await(name, complete).Status.Plan.Tasks[0].ID)
	}
	w.requireOneByOne(before, order, seen)
}

// requireOneByOne compares when a node's sidecar was first given each task with when it ended the one before.
func (w tasks) requireOneByOne(after int, order []string, seen *witness) {
	w.T.Helper()
	first := map[string]time.Time{}
	for _, r := range w.Sidecars.Requests(w.Key("v"))[after:] {
		if _, known := first[r.Task]; r.Task != "" && !known {
			first[r.Task] = r.Time
		}
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for i := 1; i < len(order); i++ {
		was, is := order[i-1], order[i]
		if began, ended := first[is], seen.ended[was]; ended.IsZero() || began.Before(ended) {
			w.T.Errorf("task %d was handed over at %s, and the one before it ended at %s", i, began, ended)
		}
	}
}
