package deployment

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// orphans remembers the fleets that are deleted with --cascade=orphan. Their finalizer says so, but
// the garbage collector removes that, maybe before the fleet is looked at; the watch shows it.
type orphans struct {
	mu   sync.Mutex
	uids map[types.UID]bool
}

// watched notes what the watch shows and lets nothing through by itself.
func (o *orphans) watched() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { o.note(e.Object); return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { o.note(e.ObjectNew); return false },
		DeleteFunc:  func(e event.DeleteEvent) bool { o.forget(e.Object); return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isOrphaning(obj client.Object) bool {
	return obj.GetDeletionTimestamp() != nil && controllerutil.ContainsFinalizer(obj, metav1.FinalizerOrphanDependents)
}

func (o *orphans) note(obj client.Object) {
	if !isOrphaning(obj) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.uids == nil {
		o.uids = map[types.UID]bool{}
	}
	o.uids[obj.GetUID()] = true
}

// noted reports whether what an object has made is to stay.
func (o *orphans) noted(obj client.Object) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return isOrphaning(obj) || o.uids[obj.GetUID()]
}

func (o *orphans) forget(obj client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.uids, obj.GetUID())
}
