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
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
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
	// history is all versions of the nodes and of the fleet, for the oracle.
	history history
	// stop ends it; so does the end of the test.
	stop func()
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
	nodes, fleets := &v1alpha1.SeiNodeList{}, &v1alpha1.SeiNodeDeploymentList{}
	nodeEvents, fleetEvents := w.events(ctx, nodes), w.events(ctx, fleets)
	for i := range nodes.Items {
		o.see(watch.Added, &nodes.Items[i])
	}
	for i := range fleets.Items {
		o.seeFleet(&fleets.Items[i])
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for event := range nodeEvents.ResultChan() {
			if node, ok := event.Object.(*v1alpha1.SeiNode); ok {
				o.see(event.Type, node)
			}
		}
	})
	wg.Go(func() {
		for event := range fleetEvents.ResultChan() {
			if snd, ok := event.Object.(*v1alpha1.SeiNodeDeployment); ok {
				o.seeFleet(snd)
			}
		}
	})
	o.stop = func() { cancel(); wg.Wait() }
	w.T.Cleanup(o.stop)
	return o
}

// events fills a list with what there is, and gives what happens from then on. The API server ends
// watches that are slow to read, so that one has to be taken up again where it ended.
func (w fleets) events(ctx context.Context, list client.ObjectList) watch.Interface {
	w.T.Helper()
	if err := w.Client.List(ctx, list, client.InNamespace(w.NS)); err != nil {
		w.T.Fatal(err)
	}
	events, err := watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return w.Client.Watch(ctx, list.DeepCopyObject().(client.ObjectList), &client.ListOptions{Namespace: w.NS, Raw: &options})
		},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return events
}

func (o *watcher) seeFleet(snd *v1alpha1.SeiNodeDeployment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.fleets = append(o.history.fleets, snd)
}

func (o *watcher) see(kind watch.EventType, node *v1alpha1.SeiNode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.nodes[node.Name]
	o.history.nodes = append(o.history.nodes, node)
	if kind == watch.Deleted {
		delete(o.nodes, node.Name)
		delete(o.hurt, node.Name)
		return
	}
	o.nodes[node.Name] = node
	if moved(was, node) {
		o.hurt[node.Name] = true
	}
	if up(node) || node.DeletionTimestamp != nil { // what is being removed is no part of the fleet
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
	for _, violation := range o.history.violations(allowed) {
		t.Error(violation)
	}
	if o.most > allowed {
		t.Errorf("%d nodes that were in sync were taken down at once, allowed %d: %v", o.most, allowed, o.worst)
	}
}

func (o *watcher) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = len(o.hurt)
	o.history = history{nodes: slices.Collect(maps.Values(o.nodes))}
}

// fleets are all versions of the fleet.
func (o *watcher) fleets() []*v1alpha1.SeiNodeDeployment {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.history.fleets)
}

// hasSeen reports whether the fleet was seen at a version, or a later one.
func (o *watcher) hasSeen(at uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.history.fleets, func(f *v1alpha1.SeiNodeDeployment) bool { return version(f) >= at })
}

// learn records what the operator's caches held.
func (o *watcher) learn(k knowledge) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.known = append(o.history.known, k)
}

// progress waits until some more events were seen, or a moment has passed: steps of a
// test come at moments that have nothing to do with one another.
func (o *watcher) progress(events int, atMost time.Duration) {
	count := func() int { o.mu.Lock(); defer o.mu.Unlock(); return o.seen }
	goal := count() + events
	within(atMost, func() bool { return count() >= goal })
}

// await waits until a node is as described, or a moment has passed.
func (o *watcher) await(condition func(*v1alpha1.SeiNode) bool, atMost time.Duration) {
	within(atMost, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return slices.ContainsFunc(slices.Collect(maps.Values(o.nodes)), condition)
	})
}

func within(atMost time.Duration, condition func() bool) {
	timeout, tick := time.NewTimer(atMost), time.NewTicker(2*time.Millisecond)
	defer timeout.Stop()
	defer tick.Stop()
	for !condition() {
		select {
		case <-timeout.C:
			return
		case <-tick.C:
		}
	}
}

// untold is what condition Ready of a node that crashes said instead of that.
func (o *watcher) untold(name string) (said []metav1.Condition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.history.nodes {
		ready := conditions.Get(n.Status.Conditions, v1alpha1.ConditionReady)
		if n.Name == name && ready.Reason != v1alpha1.ReasonPodCrashLooping {
			said = append(said, *ready)
		}
	}
	return said
}
