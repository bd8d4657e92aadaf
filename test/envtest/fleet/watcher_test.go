package fleet

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// watcher follows the nodes of a namespace and counts, event by event, how many the
// fleet keeps from serving: those that were in sync when their spec was changed and are
// not back yet. Nodes that were down when they were told to move are nobody's loss.
type watcher struct {
	mu    sync.Mutex
	nodes map[string]*v1alpha1.SeiNode
	// hurt are the nodes that were taken down by a change of their spec.
	hurt map[string]bool
	// most is the highest number of them ever seen at once, and worst who they were.
	most  int
	worst []string
	seen  int
	// moves are the nodes that were given another spec while they were in sync, and halts what
	// the fleet said about failures, both in the order of their versions.
	moves []move
	halts []halt
}

type move struct {
	node    string
	version uint64
}

// halt is whether a status of the fleet says that its rollout was halted.
type halt struct {
	target  string
	failed  bool
	version uint64
}

// version orders the writes of a namespace; one that is no number comes before all others.
func version(obj client.Object) uint64 {
	n, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return n
}

func (w fleets) watchNodes() *watcher {
	w.T.Helper()
	o := &watcher{nodes: map[string]*v1alpha1.SeiNode{}, hurt: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := w.Client.Watch(ctx, &v1alpha1.SeiNodeList{}, client.InNamespace(w.NS))
	if err != nil {
		cancel()
		w.T.Fatal(err)
	}
	statuses, err := w.Client.Watch(ctx, &v1alpha1.SeiNodeDeploymentList{}, client.InNamespace(w.NS))
	if err != nil {
		cancel()
		w.T.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for event := range stream.ResultChan() {
			if node, ok := event.Object.(*v1alpha1.SeiNode); ok {
				o.see(event.Type, node)
			}
		}
	})
	wg.Go(func() {
		for event := range statuses.ResultChan() {
			if snd, ok := event.Object.(*v1alpha1.SeiNodeDeployment); ok {
				o.hear(snd)
			}
		}
	})
	w.T.Cleanup(func() { cancel(); stream.Stop(); statuses.Stop(); wg.Wait() })
	return o
}

func (o *watcher) hear(snd *v1alpha1.SeiNodeDeployment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := halt{version: version(snd), failed: is(snd, v1alpha1.ConditionRolloutFailed, metav1.ConditionTrue, "")}
	if snd.Status.Rollout != nil {
		h.target = snd.Status.Rollout.TargetHash
	}
	o.halts = append(o.halts, h)
}

// pastFailure names a node that was moved although the fleet had said that its rollout is halted
// and still says so after the pass that moved it.
func (o *watcher) pastFailure() string {
	for _, m := range o.moves {
		after := slices.IndexFunc(o.halts, func(h halt) bool { return h.version > m.version })
		if after < 1 {
			continue
		}
		was, is := o.halts[after-1], o.halts[after]
		if was.failed && is.failed && was.target == is.target {
			return m.node
		}
	}
	return ""
}

func (o *watcher) see(kind watch.EventType, node *v1alpha1.SeiNode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.nodes[node.Name]
	if kind == watch.Deleted {
		delete(o.nodes, node.Name)
		delete(o.hurt, node.Name)
		return
	}
	o.nodes[node.Name] = node
	if was != nil && was.UID == node.UID && fleet.IsReady(was) && (was.Spec.Image != node.Spec.Image || !maps.Equal(was.Spec.Overrides, node.Spec.Overrides)) {
		o.hurt[node.Name] = true
		o.moves = append(o.moves, move{node.Name, version(node)})
	}
	if up(node) {
		delete(o.hurt, node.Name)
	}
	if len(o.hurt) > o.most {
		o.most, o.worst = len(o.hurt), slices.Sorted(maps.Keys(o.hurt))
	}
	o.seen++
}

// up is a node that serves and has nothing ahead of it.
func up(n *v1alpha1.SeiNode) bool {
	return conditions.Is(n.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, "") && n.Status.ObservedGeneration == n.Generation && n.Status.Plan == nil && n.Status.CurrentImage == n.Spec.Image
}

// require fails the test if more nodes than allowed were taken down at once.
func (o *watcher) require(t *testing.T, allowed int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if node := o.pastFailure(); node != "" {
		t.Errorf("%s was moved past a node that had failed", node)
	}
	if o.most > allowed {
		t.Errorf("%d nodes that were in sync were taken down at once, allowed %d: %v", o.most, allowed, o.worst)
	}
}

func (o *watcher) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most, o.moves = len(o.hurt), nil
	o.halts = o.halts[max(0, len(o.halts)-1):]
}

// progress waits until some more events were seen, or a moment has passed: steps of a
// test come at moments that have nothing to do with one another.
func (o *watcher) progress(events int, atMost time.Duration) {
	count := func() int { o.mu.Lock(); defer o.mu.Unlock(); return o.seen }
	goal := count() + events
	timeout, tick := time.NewTimer(atMost), time.NewTicker(2*time.Millisecond)
	defer timeout.Stop()
	defer tick.Stop()
	for count() < goal {
		select {
		case <-timeout.C:
			return
		case <-tick.C:
		}
	}
}
