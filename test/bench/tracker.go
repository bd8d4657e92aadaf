package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// tracker watches all SeiNodes and notes when each came to be as expected.
type tracker struct {
	mu       sync.Mutex
	expected map[*expectation]bool
}

// expectation is a condition that a number of nodes should meet.
type expectation struct {
	condition func(*v1alpha1.SeiNode) bool
	missing   map[string]bool
	met       map[string]time.Time
	done      chan struct{}
}

func newTracker(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) (*tracker, error) {
	nodes, err := cache.New(config, cache.Options{
		Scheme: scheme, DefaultTransform: cache.TransformStripManagedFields(),
		DefaultNamespaces: map[string]cache.Config{nodesNamespace: {}},
	})
	if err != nil {
		return nil, fmt.Errorf("watching SeiNodes: %w", err)
	}
	informer, err := nodes.GetInformer(ctx, &v1alpha1.SeiNode{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching SeiNodes: %w", err)
	}
	t := &tracker{expected: map[*expectation]bool{}}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: t.seen, UpdateFunc: func(_, obj any) { t.seen(obj) },
	})
	if err != nil {
		return nil, fmt.Errorf("watching SeiNodes: %w", err)
	}
	go func() {
		if err := nodes.Start(ctx); err != nil {
			complainf("watching SeiNodes: %v", err)
		}
	}()
	if !nodes.WaitForCacheSync(ctx) {
		return nil, errors.New("watching SeiNodes: the cache did not fill")
	}
	return t, nil
}

func (t *tracker) seen(obj any) {
	node, ok := obj.(*v1alpha1.SeiNode)
	if !ok {
		return
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := range t.expected {
		if !e.missing[node.Name] || !e.condition(node) {
			continue
		}
		delete(e.missing, node.Name)
		e.met[node.Name] = now
		if len(e.missing) == 0 {
			delete(t.expected, e)
			close(e.done)
		}
	}
}

// expect notes from now on when the nodes meet the condition. It has to be asked for
// before what brings the nodes there.
func (t *tracker) expect(names []string, condition func(*v1alpha1.SeiNode) bool) *expectation {
	e := &expectation{condition: condition, missing: map[string]bool{}, met: map[string]time.Time{}, done: make(chan struct{})}
	for _, name := range names {
		e.missing[name] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected[e] = true
	return e
}

// reached is how many nodes have met a condition.
func (t *tracker) reached(e *expectation) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(e.met)
}

// wait returns when each node met the condition, unless there is no operator any more
// that could bring the nodes there.
func (t *tracker) wait(ctx context.Context, e *expectation, patience time.Duration, operatorEnded <-chan struct{}) (map[string]time.Time, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-e.done:
		return e.met, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for nodes: %w", ctx.Err())
	case <-operatorEnded:
		return nil, fmt.Errorf("waiting for nodes: the operator ended: %w", errEnded)
	case <-late.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.expected, e)
	for name := range e.missing {
		return nil, fmt.Errorf("waiting for nodes: after %s %d of %d are not as expected, among them %s", patience, len(e.missing), len(e.missing)+len(e.met), name)
	}
	return e.met, nil
}

// isRunning is a node whose first plan is done.
func isRunning(n *v1alpha1.SeiNode) bool { return n.Status.Phase == v1alpha1.NodeRunning }

// isSpecInvalid is a node whose newest spec was looked at and cannot be acted on.
func isSpecInvalid(n *v1alpha1.SeiNode) bool {
	return n.Status.ObservedGeneration == n.Generation &&
		conditions.Is(n.Status.Conditions, v1alpha1.ConditionSpecValid, metav1.ConditionFalse, v1alpha1.ReasonSpecInvalid)
}

// settledOn is a node that runs an image, is in sync, and has nothing left to do.
func settledOn(image string) func(*v1alpha1.SeiNode) bool {
	return func(n *v1alpha1.SeiNode) bool {
		return isRunning(n) && n.Status.Plan == nil && n.Status.ObservedGeneration == n.Generation && n.Spec.Image == image &&
			n.Status.CurrentImage == image && is(n, v1alpha1.ConditionReady, v1alpha1.ReasonInSync) &&
			is(n, v1alpha1.ConditionSidecarReady, v1alpha1.ReasonSidecarReady)
	}
}

func is(n *v1alpha1.SeiNode, conditionType, reason string) bool {
	return conditions.Is(n.Status.Conditions, conditionType, metav1.ConditionTrue, reason)
}
