package operation

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// turns are the tasks that this process has let begin and that have not ended, by the node they
// change. The cache shows a beginning a moment later; without this a second task could begin on
// the same node meanwhile. What an earlier process let begin is in the tasks' status.
type turns struct {
	mu     sync.Mutex
	byNode map[types.NamespacedName]turn
}

type turn struct {
	task types.NamespacedName
	uid  types.UID
}

// of is the task whose turn it is on a node, unless it is the one that asks; empty when there is
// none.
func (t *turns) of(node types.NamespacedName, asking types.UID) types.UID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if has := t.byNode[node]; has.uid != asking {
		return has.uid
	}
	return ""
}

// take takes the turn on a node, and reports whether it was free.
func (t *turns) take(node types.NamespacedName, by turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if has, taken := t.byNode[node]; taken {
		return has == by
	}
	if t.byNode == nil {
		t.byNode = map[types.NamespacedName]turn{}
	}
	t.byNode[node] = by
	return true
}

// end gives back the turn of a task, if it has one.
func (t *turns) end(task types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for node, has := range t.byNode {
		if has.task == task {
			delete(t.byNode, node)
		}
	}
}
