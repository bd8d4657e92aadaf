package node

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// rest looks at nodes that have nothing to do. Their objects are watched; what only the sidecar can
// tell is asked for, and a node whose sidecar tells nothing new needs no pass.
type rest struct {
	// looked is notified of every look that needs no pass.
	looked func(node *v1alpha1.SeiNode, document *api.Node, err error)
	// wake asks for a pass on what a look has found.
	wake func(ctx context.Context, n *resting, document *api.Node, err error)

	mu     sync.Mutex
	byNode map[types.NamespacedName]*resting
}

// resting is a node at rest.
type resting struct {
	// node has its name and uid only: there may be thousands at rest.
	node    *v1alpha1.SeiNode
	pod     string
	sidecar sidecar.Sidecar
	// document is what the node's last pass was made on.
	document *api.Node
	timer    *time.Timer
}

// begin looks at a node from now on until it gets a pass, or ctx ends with the operator.
func (r *rest) begin(ctx context.Context, n *resting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byNode == nil {
		r.byNode = map[types.NamespacedName]*resting{}
	}
	r.byNode[n.key()] = n
	r.schedule(ctx, n)
}

// end is for a node that gets a pass, or is gone.
func (r *rest) end(node types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.byNode[node]; ok {
		n.timer.Stop()
		delete(r.byNode, node)
	}
}

func (r *rest) schedule(ctx context.Context, n *resting) {
	n.timer = time.AfterFunc(jittered(steadyInterval, n.node), func() { r.look(ctx, n) })
}

// look asks the sidecar, and wakes the node up unless all is as it was.
func (r *rest) look(ctx context.Context, n *resting) {
	bounded, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	document, err := lookAt(bounded, n.sidecar)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil || r.byNode[n.key()] != n {
		return // the operator ends, or a pass looks for itself
	}
	if err == nil && domain.SameFacts(n.document, document) {
		r.looked(n.node, document, nil)
		r.schedule(ctx, n)
		return
	}
	delete(r.byNode, n.key())
	go r.wake(ctx, n, document, err)
}

func (n *resting) key() types.NamespacedName { return client.ObjectKeyFromObject(n.node) }
