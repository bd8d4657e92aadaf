package node

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Priorities of the work queue. What the first look at a cluster brings comes after
// both, at handler.LowPriority.
const (
	priorityNormal = 0
	// priorityUnderWay is for nodes whose pod moves: a pod waits behind its start
	// gate, and a node that is nearly done is worth more than one that has not
	// begun. Without it a fleet of new nodes would come up all at once, late, and
	// a replaced pod would stand in line behind all of them.
	priorityUnderWay = 10
)

// underWay gives the nodes of an object's events precedence.
type underWay struct{ handler.EventHandler }

var _ handler.EventHandler = underWay{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create implements handler.EventHandler.
func (h underWay) Create(ctx context.Context, e event.CreateEvent, q queue) {
	h.EventHandler.Create(ctx, e, promoted(q))
}

// Update implements handler.EventHandler.
func (h underWay) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	h.EventHandler.Update(ctx, e, promoted(q))
}

// Delete implements handler.EventHandler.
func (h underWay) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	h.EventHandler.Delete(ctx, e, promoted(q))
}

// Generic implements handler.EventHandler.
func (h underWay) Generic(ctx context.Context, e event.GenericEvent, q queue) {
	h.EventHandler.Generic(ctx, e, promoted(q))
}

func promoted(q queue) queue {
	if pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return promotedQueue{pq}
	}
	return q
}

// promotedQueue puts in front what is added without a priority of its own.
type promotedQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// Add implements workqueue.TypedInterface.
func (q promotedQueue) Add(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, item)
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q promotedQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if o.Priority == nil {
		o.Priority = new(priorityUnderWay)
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}
