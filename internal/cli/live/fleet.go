package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// atOnce is how many nodes are asked at the same time.
const atOnce = 16

// AskAll asks many nodes at the same time and returns their facts by namespace and name.
func AskAll(ctx context.Context, proxy Proxy, nodes []*v1alpha1.SeiNode) map[types.NamespacedName]*Facts {
	found := make(map[types.NamespacedName]*Facts, len(nodes))
	var mu sync.Mutex
	each(nodes, func(node *v1alpha1.SeiNode) {
		facts := Ask(ctx, proxy, node)
		mu.Lock()
		defer mu.Unlock()
		found[client.ObjectKeyFromObject(node)] = facts
	})
	return found
}

func each[T any](items []T, do func(T)) {
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, item := range items {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			do(item)
		})
	}
	wg.Wait()
}

// Verdict is how the state of a node's application compares with the chain.
type Verdict string

// The verdicts on an application hash.
const (
	// Agrees: the application has come to what the chain has agreed on, as another node tells.
	Agrees Verdict = "ok"
	// Differs: it has come to something else.
	Differs Verdict = "DIFFERS"
	// Unchecked: nobody could be asked.
	Unchecked Verdict = ""
)

// Agreement compares the state of every node with what its chain has agreed on. The header of the block
// after the node's own has that hash, so another node is asked for it: a node whose state is wrong
// refuses that block and stays where it is. While there is no such block yet, the state of a node at
// the same height is compared.
func Agreement(ctx context.Context, proxy Proxy, nodes []*v1alpha1.SeiNode, facts map[types.NamespacedName]*Facts) map[types.NamespacedName]Verdict {
	verdicts := make(map[types.NamespacedName]Verdict, len(nodes))
	var mu sync.Mutex
	each(nodes, func(node *v1alpha1.SeiNode) {
		name := client.ObjectKeyFromObject(node)
		verdict := Unchecked
		if own := facts[name]; own != nil && own.App != nil {
			verdict = compare(ctx, proxy, *own.App, witnesses(node, nodes, facts))
		}
		mu.Lock()
		defer mu.Unlock()
		verdicts[name] = verdict
	})
	return verdicts
}

// asked is how many other nodes are asked for a hash before it is given up: one may have deleted the
// block, or not have it yet.
const asked = 3

// witness is another node of the same chain.
type witness struct {
	pod types.NamespacedName
	app App
}

// A node at the head of its chain is a moment ahead of the others: they are asked a few times.
const (
	rounds     = 3
	roundPause = 500 * time.Millisecond
)

func compare(ctx context.Context, proxy Proxy, own App, witnesses []witness) Verdict {
	for round := range rounds {
		if verdict := compareOnce(ctx, proxy, own, witnesses); verdict != Unchecked || len(witnesses) == 0 || round == rounds-1 {
			return verdict
		}
		select {
		case <-ctx.Done():
			return Unchecked
		case <-time.After(roundPause):
		}
	}
	return Unchecked
}

func compareOnce(ctx context.Context, proxy Proxy, own App, witnesses []witness) Verdict {
	for _, w := range witnesses[:min(asked, len(witnesses))] {
		hash, err := ChainHash(ctx, proxy, w.pod, own.Height)
		if err != nil && w.app.Height == own.Height {
			hash, err = w.app.Hash, nil
		}
		switch {
		case err != nil || hash == "":
			continue
		case hash == own.Hash:
			return Agrees
		default:
			return Differs
		}
	}
	return Unchecked
}

// witnesses are the other nodes of the node's chain whose RPC has answered, highest first.
func witnesses(node *v1alpha1.SeiNode, nodes []*v1alpha1.SeiNode, facts map[types.NamespacedName]*Facts) []witness {
	var found []witness
	for _, other := range nodes {
		f := facts[client.ObjectKeyFromObject(other)]
		if other == node || other.Spec.ChainID != node.Spec.ChainID || f == nil || f.App == nil {
			continue
		}
		found = append(found, witness{types.NamespacedName{Namespace: other.Namespace, Name: render.PodName(other)}, *f.App})
	}
	slices.SortStableFunc(found, func(a, b witness) int { return cmp.Compare(b.app.Height, a.app.Height) })
	return found
}
