package operation

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task/nodetask"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks,verbs=get;list;watch;create;patch;delete;sign
// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks/status,verbs=patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodetasks/finalizers,verbs=update
// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// maxPasses bounds the passes of one reconcile: a finalizer is set in one, a plan is stored in the
// next and begun in the one after.
const maxPasses = 5

// Reconciler does SeiNodeTasks.
type Reconciler struct {
	loop.Base

	executor *plan.Executor[*nodetask.Env]
	turns    turns
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	r.Init(v1alpha1.KindSeiNodeTask)
	r.executor = &plan.Executor[*nodetask.Env]{Tasks: nodetask.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return loop.Reconcile(ctx, &r.Base, req, &v1alpha1.SeiNodeTask{}, loop.Actions[*v1alpha1.SeiNodeTask]{
		Run: r.run, Finalize: r.finalize, Forget: r.forget,
	})
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
	r.Forget(task)
	r.turns.end(task)
}
