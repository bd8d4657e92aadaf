package loop

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/platform"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// Base is what every reconciler is given, and what Init makes of it.
type Base struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Sidecars dials the sidecars of the nodes' pods.
	Sidecars sidecar.Dialer
	Platform *platform.Config
	Events   *events.Recorder
	Metrics  *metrics.Metrics
	// Tracer may be nil.
	Tracer *tracing.Tracer
	// Clock is the real one when nil.
	Clock clock.PassiveClock

	// Status writes the status of the reconciler's own kind, and Cache tells whether the cache
	// shows what it wrote. Init makes these and Writes.
	Status *statuspatch.Writer
	Cache  *CacheCheck
	// Writes are what was written to objects of other kinds. A budget counted on an older view
	// would be spent twice: a node that was just told to move still looks untouched there.
	Writes *Writes

	kind string
}

// Init makes the parts that a reconciler of a kind owns.
func (b *Base) Init(kind string) {
	if b.Clock == nil {
		b.Clock = clock.RealClock{}
	}
	b.kind = kind
	b.Status = statuspatch.NewWriter(b.Metrics.StatusPatches(kind))
	b.Cache = &CacheCheck{Status: b.Status, Live: b.Live, Clock: b.Clock}
	b.Writes = &Writes{Live: b.Live, Clock: b.Clock}
}

// Forget drops what is known of an object that is gone.
func (b *Base) Forget(key types.NamespacedName) {
	b.Metrics.Forget(b.kind, key.Namespace, key.Name)
	b.Cache.Forget(key)
}

// Actions are what a reconciler does with an object of its kind.
type Actions[T client.Object] struct {
	// Finalizer is on the object before Run is called. Empty: the reconciler sees to it itself.
	Finalizer string
	Run       func(context.Context, T) (ctrl.Result, error)
	// Finalize is called instead of Run once the object is being deleted.
	Finalize func(context.Context, T) (ctrl.Result, error)
	// Forget drops what is known of an object that is gone.
	Forget func(types.NamespacedName)
}

// Reconcile reads the object of a request into obj, which is empty, and does what is due. A cache
// that is behind our own last status write is not acted on.
func Reconcile[T client.Object](ctx context.Context, b *Base, req ctrl.Request, obj T, do Actions[T]) (ctrl.Result, error) {
	empty := obj.DeepCopyObject().(client.Object)
	if err := b.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		if apierrors.IsNotFound(err) {
			do.Forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading %s: %w", b.kind, err)
	}
	if stale, err := b.Cache.Stale(ctx, obj, empty); stale || err != nil {
		return ctrl.Result{RequeueAfter: StaleInterval}, err
	}
	if obj.GetDeletionTimestamp() != nil {
		return do.Finalize(ctx, obj)
	}
	if do.Finalizer != "" {
		if err := EnsureFinalizer(ctx, b.Client, obj, do.Finalizer); err != nil {
			return ConflictIsRetry(err)
		}
	}
	return do.Run(ctx, obj)
}

// Options are those of every controller: what is new goes before what is looked at again.
func Options(concurrency int) controller.Options {
	return controller.Options{MaxConcurrentReconciles: concurrency, UsePriorityQueue: new(true)}
}

// Find reads an object; nil when it is not there.
func Find[T client.Object](ctx context.Context, c client.Reader, namespace, name string, into T) (T, error) {
	var none T
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("reading %T %s: %w", into, name, err)
	default:
		return into, nil
	}
}
