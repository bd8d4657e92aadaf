package loop

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// askAfter is how long a cache may be behind a remembered write before the API server is asked. It is
// short, because what was written may have been deleted since by somebody else.
const askAfter = 2 * time.Second

// Writes remembers what a controller wrote last, until its cache shows it. Whoever decides on an
// older view would do the same thing twice. A cache that stays behind is right if the API server
// says the same, as it is for CacheCheck. Objects whose writes are remembered are in the cache
// whatever their labels: one that left the cache would be waited for.
type Writes struct {
	// Live reads from the API server.
	Live  client.Reader
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
	// asked is when the API server reported it last: by its answer to the write, or since.
	asked time.Time
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
	w.last[keyOf(obj)] = write{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion(), deleted: deleted, asked: w.Clock.Now()}
}

// Behind reports whether the cache does not show our last write to an object yet. seen is what
// the cache has of it; nil when it has none. kind is any object of its kind.
func (w *Writes) Behind(ctx context.Context, kind client.Object, name types.NamespacedName, seen client.Object) (bool, error) {
	key := writeKey{fmt.Sprintf("%T", kind), name}
	last, ok := w.of(key)
	switch {
	case !ok:
		return false, nil
	case !last.hiddenFrom(seen):
		w.drop(key, last)
		return false, nil
	case w.Clock.Now().Sub(last.asked) < askAfter:
		return true, nil
	}
	lost, err := w.lost(ctx, kind, name, last)
	switch {
	case err != nil:
		return true, err
	case lost:
		w.drop(key, last)
	default:
		w.confirm(key, last)
	}
	return !lost, nil
}

// lost reports whether the API server does not have a write either: its storage was restored from
// a backup, or what was written is gone again.
func (w *Writes) lost(ctx context.Context, kind client.Object, name types.NamespacedName, last write) (bool, error) {
	stored := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(client.Object)
	stored.GetObjectKind().SetGroupVersionKind(kind.GetObjectKind().GroupVersionKind()) // metadata has no kind of its own
	switch err := w.Live.Get(ctx, name, stored); {
	case apierrors.IsNotFound(err):
		return last.hiddenFrom(nil), nil
	case err != nil:
		return false, fmt.Errorf("reading from the API server a write that the cache does not show: %w", err)
	default:
		return last.hiddenFrom(stored), nil
	}
}

func (w *Writes) of(key writeKey) (write, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[key]
	return last, ok
}

// drop ends the wait for a write, unless there was another one meanwhile.
func (w *Writes) drop(key writeKey, last write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last[key] == last {
		delete(w.last, key)
	}
}

// confirm remembers that the API server has a write, unless there was another one meanwhile.
func (w *Writes) confirm(key writeKey, last write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last[key] == last {
		last.asked = w.Clock.Now()
		w.last[key] = last
	}
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
