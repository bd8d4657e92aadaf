package deployment

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/fleet"
)

// written remembers the version each node had after our own last write. A budget
// counted on an older view would be spent twice: a node that was just told to move
// still looks untouched there.
type written struct {
	mu   sync.Mutex
	last map[types.NamespacedName]version
}

type version struct {
	uid             types.UID
	resourceVersion string
}

func (w *written) note(obj client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[types.NamespacedName]version{}
	}
	w.last[client.ObjectKeyFromObject(obj)] = version{obj.GetUID(), obj.GetResourceVersion()}
}

// stale reports whether obj, as read from the cache, is older than what we wrote.
func (w *written) stale(obj client.Object) bool {
	w.mu.Lock()
	last, ok := w.last[client.ObjectKeyFromObject(obj)]
	w.mu.Unlock()
	if !ok || last.uid != obj.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), last.resourceVersion)
	return err == nil && order < 0
}

func (w *written) forgetFleet(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.last {
		if owner, _, ok := fleet.ParseChildName(key.Name); ok && key.Namespace == namespace && owner == name {
			delete(w.last, key)
		}
	}
}
