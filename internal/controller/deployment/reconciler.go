package deployment

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
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task/ceremony"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments/status,verbs=get;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments/finalizers,verbs=update
// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	// maxPasses bounds the passes of one reconcile: a plan is stored in one and
	// begun in the next, and its end calls for another.
	maxPasses = 4
)

// Reconciler brings SeiNodeDeployments to what their spec says.
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
	executor *plan.Executor[*ceremony.Env]
	latch    events.Latch
	// writes are what was written to the nodes. A budget counted on an older view would be
	// spent twice: a node that was just told to move still looks untouched there.
	writes loop.Writes
	routes *routeWatch
	// orphans are the fleets that leave everything behind.
	orphans orphans
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	r.writes.Clock = r.Clock
	r.status = statuspatch.NewWriter(r.Metrics.StatusPatches(v1alpha1.KindSeiNodeDeployment))
	r.cache = &loop.CacheCheck{Status: r.status, Live: r.Live, Clock: r.Clock}
	r.executor = &plan.Executor[*ceremony.Env]{Tasks: ceremony.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	snd := &v1alpha1.SeiNodeDeployment{}
	if err := r.Client.Get(ctx, req.NamespacedName, snd); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading SeiNodeDeployment: %w", err)
	}
	if stale, err := r.cache.Stale(ctx, snd, &v1alpha1.SeiNodeDeployment{}); stale || err != nil {
		return ctrl.Result{RequeueAfter: loop.StaleInterval}, err
	}
	if snd.DeletionTimestamp != nil {
		return r.finalize(ctx, snd)
	}
	if err := loop.EnsureFinalizer(ctx, r.Client, snd, v1alpha1.FinalizerSeiNodeDeployment); err != nil {
		return loop.ConflictIsRetry(err)
	}
	return r.run(ctx, snd)
}

// run makes passes until the fleet has nothing more to do at once.
func (r *Reconciler) run(ctx context.Context, snd *v1alpha1.SeiNodeDeployment) (ctrl.Result, error) {
	for range maxPasses {
		s := r.newScope(snd)
		failed := r.observe(ctx, s)
		if failed == nil && s.stale {
			return loop.Stale()
		}
		if failed == nil {
			failed = r.decide(s)
		}
		if failed == nil {
			failed = r.act(ctx, s)
		}
		if loop.NamespaceEnds(failed) {
			return loop.AwaitDeletion(ctx, failed)
		}
		s.Result.Err = failed
		if err := r.report(ctx, s); err != nil {
			return loop.ConflictIsRetry(errors.Join(failed, err))
		}
		if failed != nil {
			return loop.ConflictIsRetry(failed)
		}
		if !s.again {
			return ctrl.Result{RequeueAfter: s.requeueAfter}, nil
		}
	}
	return ctrl.Result{RequeueAfter: time.Second}, nil
}

func (r *Reconciler) forget(req ctrl.Request) {
	r.Metrics.Forget(v1alpha1.KindSeiNodeDeployment, req.Namespace, req.Name)
	r.cache.Forget(req.NamespacedName)
	r.latch.Forget(req.NamespacedName)
	r.writes.Forget(func(node types.NamespacedName) bool {
		owner, _, ok := fleet.ParseChildName(node.Name)
		return ok && node.Namespace == req.Namespace && owner == req.Name
	})
}
