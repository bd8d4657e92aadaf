package statuspatch

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CountFunc is told the result of every Patch. It must not block.
type CountFunc func(namespace, name string, result Result)

// Writer makes snapshots of one kind and remembers what it wrote last. It is
// safe for concurrent use; a controller has one.
type Writer struct {
	count CountFunc

	mu   sync.Mutex
	last map[types.NamespacedName]written
}

// written is the version an object had after our own last write.
type written struct {
	uid             types.UID
	resourceVersion string
}

// NewWriter returns a Writer that reports each result to count; nil reports
// nothing.
func NewWriter(count CountFunc) *Writer {
	if count == nil {
		count = func(string, string, Result) {}
	}
	return &Writer{count: count, last: map[types.NamespacedName]written{}}
}

// Stale reports whether obj, as read from a cache, is older than what this
// Writer stored last: acting on it would repeat a decision already taken. A
// namesake made later is never stale, and neither is an object whose version
// cannot be compared: the lock of the write still protects it.
func (w *Writer) Stale(obj client.Object) bool {
	w.mu.Lock()
	last, ok := w.last[client.ObjectKeyFromObject(obj)]
	w.mu.Unlock()
	if !ok || last.uid != obj.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), last.resourceVersion)
	return err == nil && order < 0
}

// Lost drops what is remembered of an object whose stored version is older than our last write:
// the API server's storage was restored from a backup, and its versions count from there again.
// live is the object as the API server itself has it.
func (w *Writer) Lost(live client.Object) bool {
	if !w.Stale(live) {
		return false
	}
	w.Forget(client.ObjectKeyFromObject(live))
	return true
}

// Forget drops what is remembered of a deleted object.
func (w *Writer) Forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, key)
}

func (w *Writer) wrote(obj client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[client.ObjectKeyFromObject(obj)] = written{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion()}
}
