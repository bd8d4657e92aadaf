package node

import (
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

const (
	// writtenAfter is how long a plan's progress has to last before it is worth a write.
	writtenAfter = 10 * time.Second
	// endWrittenAfter is how long a node whose plan has completed may take to get in sync before that it
	// has completed is worth a write of its own.
	endWrittenAfter = 3 * time.Second
)

// unwritten keeps statuses that can wait: how far a plan got, most of which has ended before anybody
// could read it, and the end of a plan, which is written with what the next pass finds, or with the
// node being in sync. The next pass continues from there. What is kept dies with the process: the plan then
// continues from what is stored, and its steps find what they have done, as after a crash.
type unwritten struct {
	mu     sync.Mutex
	byNode map[types.NamespacedName]pending
}

// pending is a status that was derived and not written.
type pending struct {
	uid types.UID
	// stored is what the API server has instead.
	stored v1alpha1.SeiNodeStatus
	status v1alpha1.SeiNodeStatus
	// since is when the first of them was put off.
	since time.Time
}

// of is what waits for a node; false when nothing does, or when the node's status is not the one
// any more that it was derived from.
func (u *unwritten) of(node *v1alpha1.SeiNode) (pending, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p, ok := u.byNode[client.ObjectKeyFromObject(node)]
	return p, ok && p.uid == node.UID && apiequality.Semantic.DeepEqual(p.stored, node.Status)
}

func (u *unwritten) keep(node *v1alpha1.SeiNode, p pending) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byNode == nil {
		u.byNode = map[types.NamespacedName]pending{}
	}
	u.byNode[client.ObjectKeyFromObject(node)] = p
}

// forget drops what waits for a node: it was written, or the node is gone.
func (u *unwritten) forget(node types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.byNode, node)
}
