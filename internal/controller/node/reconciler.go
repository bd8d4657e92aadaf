package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/metrics"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
	"github.com/sei-operator/sei-operator/internal/tracing"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodes/status,verbs=get;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodes/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	// steadyInterval is how often a running node is looked at when nothing happens.
	steadyInterval = 30 * time.Second
	// restInterval is the net under the watches: how often a node gets a pass although no look has
	// found anything new.
	restInterval = 5 * time.Minute
	// maxPasses bounds the passes of one reconcile: a plan is stored in one and
	// begun in the next, and its end may call for another.
	maxPasses = 6
)

// Reconciler brings SeiNodes to what their spec says.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Sidecars dials the sidecars of the node's pods.
	Sidecars sidecar.Dialer
	// SidecarSubjects are the token subjects the operator authenticates as.
	SidecarSubjects []string
	Peers           *peers.Resolver
	Platform        *platform.Config
	Events          *events.Recorder
	Metrics         *metrics.Metrics
	// Tracer may be nil.
	Tracer *tracing.Tracer
	// Namespace is the operator's own, where consensus keys are reserved.
	Namespace string
	Clock     clock.PassiveClock

	status   *statuspatch.Writer
	cache    *loop.CacheCheck
	executor *plan.Executor[*task.Env]
	latch    events.Latch
	looks    *looks
	rest     *rest
	writes   loop.Writes
	// unwritten are statuses that can wait.
	unwritten unwritten
	// webhookAdds is what webhooks add to StatefulSets, which nobody can take out again.
	webhookAdds task.WebhookAdds
	// inShape and targets spare a node at rest from being rendered and compared at every look.
	inShape task.InShape
	targets targets
	// podless is since when a node's pod is missing.
	podless loop.Sightings
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	r.looks, r.writes.Clock = newLooks(), r.Clock
	r.rest = &rest{looked: r.countLook, wake: r.looks.found}
	r.status = statuspatch.NewWriter(r.Metrics.StatusPatches(v1alpha1.KindSeiNode))
	r.cache = &loop.CacheCheck{Status: r.status, Live: r.Live, Clock: r.Clock}
	r.executor = &plan.Executor[*task.Env]{Tasks: task.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.rest.end(req.NamespacedName)
	node := &v1alpha1.SeiNode{}
	if err := r.Client.Get(ctx, req.NamespacedName, node); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading SeiNode: %w", err)
	}
	if stale, err := r.cache.Stale(ctx, node, &v1alpha1.SeiNode{}); stale || err != nil {
		return ctrl.Result{RequeueAfter: loop.StaleInterval}, err
	}
	if node.DeletionTimestamp != nil {
		return r.finalize(ctx, node)
	}
	if err := loop.EnsureFinalizer(ctx, r.Client, node, v1alpha1.FinalizerSeiNode); err != nil {
		return loop.ConflictIsRetry(err)
	}
	return r.run(ctx, node)
}

// run makes passes until the node has nothing more to do at once.
func (r *Reconciler) run(ctx context.Context, node *v1alpha1.SeiNode) (ctrl.Result, error) {
	for range maxPasses {
		s := r.newScope(node)
		if s.err = r.observe(ctx, s); s.err == nil {
			r.decide(s)
			s.err = r.act(ctx, s)
		}
		if errors.Is(s.err, errCacheBehind) {
			return loop.Stale()
		}
		if loop.NamespaceEnds(s.err) {
			return loop.AwaitDeletion(ctx, s.err)
		}
		if err := r.report(ctx, s); err != nil {
			return loop.ConflictIsRetry(errors.Join(s.err, err))
		}
		if s.err != nil {
			return ctrl.Result{}, s.err
		}
		if !s.again {
			r.settle(ctx, s)
			return s.result(), nil
		}
	}
	return ctrl.Result{RequeueAfter: time.Second}, nil
}

func (r *Reconciler) forget(req ctrl.Request) {
	r.Metrics.Forget(v1alpha1.KindSeiNode, req.Namespace, req.Name)
	r.cache.Forget(req.NamespacedName)
	r.latch.Forget(req.NamespacedName)
	r.unwritten.forget(req.NamespacedName)
	r.podless.Forget(req.NamespacedName)
	r.looks.forget(req.NamespacedName)
	r.rest.end(req.NamespacedName)
	r.inShape.Forget(req.NamespacedName)
	r.targets.forget(req.NamespacedName)
}
