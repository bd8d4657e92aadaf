package deployment

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task/ceremony"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments/status,verbs=patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments/finalizers,verbs=update
// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;list;watch;create;patch;delete
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
	loop.Base

	executor *plan.Executor[*ceremony.Env]
	latch    events.Latch
	routes   *routeWatch
	// orphans are the fleets that leave everything behind.
	orphans orphans
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	r.Init(v1alpha1.KindSeiNodeDeployment)
	r.executor = &plan.Executor[*ceremony.Env]{Tasks: ceremony.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return loop.Reconcile(ctx, &r.Base, req, &v1alpha1.SeiNodeDeployment{}, loop.Actions[*v1alpha1.SeiNodeDeployment]{
		Finalizer: v1alpha1.FinalizerSeiNodeDeployment, Run: r.run, Finalize: r.finalize, Forget: r.forget,
	})
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

func (r *Reconciler) forget(snd types.NamespacedName) {
	r.Forget(snd)
	r.latch.Forget(snd)
	r.Writes.Forget(func(written types.NamespacedName) bool {
		if written == snd { // its PodDisruptionBudget
			return true
		}
		owner, _, ok := fleet.ParseChildName(written.Name)
		if !ok {
			owner, ok = fleet.ParseRevisionName(written.Name)
		}
		return ok && written.Namespace == snd.Namespace && owner == snd.Name
	})
}
