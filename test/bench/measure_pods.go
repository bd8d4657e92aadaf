package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest/podsim"
	"github.com/sei-operator/sei-operator/test/envtest/sidecarsim"
)

// replaceInterval is between two pods that are deleted: this is about one pod's way,
// not about a crowd's.
const replaceInterval = 100 * time.Millisecond

// replace deletes pods whose successors start slowly, and sees how long each of
// these waits for the operator: first of nodes that are well, then of as many whose
// newest spec cannot be acted on.
func (b *bench) replace(ctx context.Context) error {
	count := min(b.s.slowPods, len(b.names)/3)
	last := b.names[len(b.names)-count:]
	wrong := b.names[len(b.names)-2*count : len(b.names)-count]
	r := &b.run.Replace
	r.SlowStart = b.s.slowStart.Seconds()
	var err error
	if r.MarkReady, err = b.losePods(ctx, last); err != nil {
		return err
	}
	refused := b.nodes.expect(wrong, isSpecInvalid)
	if err := each(wrong, func(name string) error { return b.setOverrides(ctx, name, invalidOverrides) }); err != nil {
		return err
	}
	if _, err := b.await(ctx, refused); err != nil {
		return err
	}
	if r.InvalidSpec, err = b.losePods(ctx, wrong); err != nil {
		return err
	}
	if err := each(wrong, func(name string) error { return b.setOverrides(ctx, name, nil) }); err != nil {
		return err
	}
	return b.awaitSettled(ctx, imageUpdate)
}

// invalidOverrides are such as admission lets through and no node can be configured with.
var invalidOverrides = map[string]string{"no.such.key": "1"}

// losePods deletes the pods of nodes, one after the other, and returns how long the sidecars
// of their successors wait for the operator.
func (b *bench) losePods(ctx context.Context, names []string) (Times, error) {
	restore := b.sim.Rule(podsim.Match{Namespace: nodesNamespace}, podsim.Behaviour{StartDelay: b.s.slowStart})
	defer restore()
	before := b.starts.all()
	for _, name := range names {
		if err := b.deletePod(ctx, name); err != nil {
			return Times{}, err
		}
		if err := pause(ctx, replaceInterval); err != nil {
			return Times{}, err
		}
	}
	if err := pause(ctx, b.s.slowStart); err != nil {
		return Times{}, err
	}
	var waited []time.Duration
	err := slowPoll(ctx, b.s.patience, fmt.Sprintf("mark-ready of %d replaced pods", len(names)), func() (bool, error) {
		waited = markReadyDelays(b.newStarts(before), b.sidecars.Requests(""))
		return len(waited) == len(names), nil
	})
	return timesOf(waited), err
}

// newStarts are the sidecars that started after a look at all of them.
func (b *bench) newStarts(before map[types.UID]time.Time) map[types.UID]time.Time {
	starts := b.starts.all()
	maps.DeleteFunc(starts, func(pod types.UID, _ time.Time) bool {
		_, old := before[pod]
		return old
	})
	return starts
}

// markReadyDelays are the times between the start of a sidecar and the first request
// to open its gate. Sidecars that still wait have none.
func markReadyDelays(starts map[types.UID]time.Time, asked []sidecarsim.Request) []time.Duration {
	var waited []time.Duration
	seen := map[types.UID]bool{}
	for _, r := range asked {
		started, replaced := starts[r.Pod]
		if r.Type != api.MarkReady || !replaced || seen[r.Pod] {
			continue
		}
		seen[r.Pod] = true
		waited = append(waited, r.Time.Sub(started))
	}
	return waited
}

// awaitSettled waits until all nodes are settled on an image, also those that never
// were anything else.
func (b *bench) awaitSettled(ctx context.Context, image string) error {
	settled := settledOn(image)
	return slowPoll(ctx, b.s.patience, "all nodes to settle", func() (bool, error) {
		list := &v1alpha1.SeiNodeList{}
		if err := b.Client.List(ctx, list, client.InNamespace(nodesNamespace)); err != nil {
			return false, fmt.Errorf("listing SeiNodes: %w", err)
		}
		for i := range list.Items {
			if !settled(&list.Items[i]) {
				return false, nil
			}
		}
		return true, nil
	})
}

// slowPoll is poll for questions that are dear.
func slowPoll(ctx context.Context, patience time.Duration, what string, done func() (bool, error)) error {
	next := time.Now()
	return poll(ctx, patience, what, func() (bool, error) {
		if time.Now().Before(next) {
			return false, nil
		}
		next = time.Now().Add(500 * time.Millisecond)
		return done()
	})
}

// hang changes the images of single nodes, first while all are well, and then while
// one node's sidecar takes requests and never answers. That node is given a plan, so
// that the operator has reason to call it again and again.
func (b *bench) hang(ctx context.Context) error {
	const each = 5
	var err error
	if b.run.Hang.Without, err = b.changeEach(ctx, b.names[1:1+each]); err != nil {
		return err
	}
	stuck := b.names[0]
	repair := b.sidecars.Break(key(stuck), sidecarsim.Fault{Hang: true})
	defer repair()
	if err := b.setImage(ctx, stuck, imageHang); err != nil {
		return err
	}
	if b.run.Hang.With, err = b.changeEach(ctx, b.names[1+each:1+2*each]); err != nil {
		return err
	}
	repair()
	return slowPoll(ctx, b.s.patience, "the repaired node to settle", func() (bool, error) {
		node := &v1alpha1.SeiNode{}
		err := b.Client.Get(ctx, client.ObjectKey{Namespace: nodesNamespace, Name: stuck}, node)
		return err == nil && settledOn(imageHang)(node), err
	})
}

// changeEach changes the image of one node after the other.
func (b *bench) changeEach(ctx context.Context, names []string) (Times, error) {
	took := make([]time.Duration, 0, len(names))
	for _, name := range names {
		done := b.nodes.expect([]string{name}, settledOn(imageHang))
		changed := time.Now()
		if err := b.setImage(ctx, name, imageHang); err != nil {
			return Times{}, err
		}
		met, err := b.await(ctx, done)
		if err != nil {
			return Times{}, err
		}
		took = append(took, met[name].Sub(changed))
	}
	return timesOf(took), nil
}
