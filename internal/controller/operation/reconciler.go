package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task/nodetask"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks/status,verbs=get;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks/finalizers,verbs=update
// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// maxPasses bounds the passes of one reconcile: a finalizer is set in one, a plan is stored in the
// next and begun in the one after.
const maxPasses = 5

// Reconciler does SeiNodeTasks.
type Reconciler struct {
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
	Clock  clock.PassiveClock

	status   *statuspatch.Writer
	cache    *loop.CacheCheck
	executor *plan.Executor[*nodetask.Env]
	// writes are what was written to nodes, so that no step judges a node as it was before.
	writes loop.Writes
	turns  turns
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	r.writes.Clock = r.Clock
	r.status = statuspatch.NewWriter(r.Metrics.StatusPatches(v1alpha1.KindSeiNodeTask))
	r.cache = &loop.CacheCheck{Status: r.status, Live: r.Live, Clock: r.Clock}
	r.executor = &plan.Executor[*nodetask.Env]{Tasks: nodetask.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	task := &v1alpha1.SeiNodeTask{}
	if err := r.Client.Get(ctx, req.NamespacedName, task); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading SeiNodeTask: %w", err)
	}
	if stale, err := r.cache.Stale(ctx, task, &v1alpha1.SeiNodeTask{}); stale || err != nil {
		return ctrl.Result{RequeueAfter: loop.StaleInterval}, err
	}
	if task.DeletionTimestamp != nil {
		return r.finalize(ctx, task)
	}
	return r.run(ctx, task)
}

// run makes passes until the task has nothing more to do at once.
func (r *Reconciler) run(ctx context.Context, task *v1alpha1.SeiNodeTask) (ctrl.Result, error) {
	for range maxPasses {
		s := r.newScope(task)
		err := r.observe(ctx, s)
		if err == nil {
			r.decide(s)
			err = r.act(ctx, s)
		}
		if err == nil {
			err = r.report(ctx, s)
		}
		if err == nil {
			err = r.afterEnd(ctx, s)
		}
		switch {
		case errors.Is(err, errCacheBehind):
			return loop.Stale()
		case loop.NamespaceEnds(err):
			return loop.AwaitDeletion(ctx, err)
		case err != nil:
			return loop.ConflictIsRetry(err)
		}
		if !s.again {
			return ctrl.Result{RequeueAfter: s.requeueAfter}, nil
		}
	}
	return ctrl.Result{RequeueAfter: time.Second}, nil
}

func (r *Reconciler) forget(task types.NamespacedName) {
	r.Metrics.Forget(v1alpha1.KindSeiNodeTask, task.Namespace, task.Name)
	r.cache.Forget(task)
	r.turns.end(task)
}
