package loop

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writesExpire is how long a write is waited for in the cache. A watch that takes longer is
// broken, or the API server's storage was restored to an older state: then what the cache says
// is all there is.
const writesExpire = 10 * time.Second

// Writes remembers what a controller wrote last, until its cache shows it. Whoever decides on an
// older view would do the same thing twice.
type Writes struct {
	Clock clock.PassiveClock

	mu   sync.Mutex
	last map[writeKey]write
}

type writeKey struct {
	kind string
	name types.NamespacedName
}

type write struct {
	uid             types.UID
	resourceVersion string
	deleted         bool
	at              time.Time
}

func keyOf(obj client.Object) writeKey {
	return writeKey{fmt.Sprintf("%T", obj), client.ObjectKeyFromObject(obj)}
}

// Wrote remembers an object as the API server answered it.
func (w *Writes) Wrote(obj client.Object) { w.note(obj, false) }

// Deleted remembers that an object was deleted.
func (w *Writes) Deleted(obj client.Object) { w.note(obj, true) }

func (w *Writes) note(obj client.Object, deleted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[writeKey]write{}
	}
	w.last[keyOf(obj)] = write{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion(), deleted: deleted, at: w.Clock.Now()}
}

// Behind reports whether the cache does not show our last write to an object yet. seen is what
// the cache has of it; nil when it has none.
func (w *Writes) Behind(kind client.Object, name types.NamespacedName, seen client.Object) bool {
	key := writeKey{fmt.Sprintf("%T", kind), name}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[key]
	if !ok {
		return false
	}
	if w.Clock.Now().Sub(last.at) < writesExpire && last.hiddenFrom(seen) {
		return true
	}
	delete(w.last, key)
	return false
}

func (l write) hiddenFrom(seen client.Object) bool {
	switch {
	case seen == nil:
		return !l.deleted
	case l.deleted:
		return seen.GetUID() == l.uid && seen.GetDeletionTimestamp() == nil
	default:
		order, err := resourceversion.CompareResourceVersion(seen.GetResourceVersion(), l.resourceVersion)
		return err == nil && order < 0
	}
}

// Forget drops what is remembered of a name, whatever its kind.
func (w *Writes) Forget(match func(types.NamespacedName) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.last {
		if match(key.name) {
			delete(w.last, key)
		}
	}
}
