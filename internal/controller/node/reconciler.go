package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	"github.com/sei-operator/sei-operator/internal/peers"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/task"
)

// +kubebuilder:rbac:groups=sei.io,resources=seinodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodes/status,verbs=patch
// +kubebuilder:rbac:groups=sei.io,resources=seinodes/finalizers,verbs=update
// +kubebuilder:rbac:groups=sei.io,resources=seinodedeployments,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch
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
	loop.Base

	// SidecarSubjects are the token subjects the operator authenticates as.
	SidecarSubjects []string
	Peers           *peers.Resolver
	// Namespace is the operator's own, where consensus keys are reserved.
	Namespace string
	// Secrets reads the metadata of Secrets from the cache; their content is in none.
	Secrets client.Reader
	// Certificates issues the certificates of sidecars.
	Certificates task.CertificateAuthority

	executor *plan.Executor[*task.Env]
	latch    events.Latch
	looks    *looks
	rest     *rest
	// unwritten are statuses that can wait.
	unwritten unwritten
	// webhookAdds is what webhooks add to StatefulSets, which nobody can take out again.
	webhookAdds task.WebhookAdds
	// inShape and targets spare a node at rest from being rendered and compared at every look.
	inShape task.InShape
	targets targets
	// refusedSnapshots are the backups that the API server did not take, by node.
	refusedSnapshots sync.Map
	// podless is since when a node's pod is missing.
	podless loop.Sightings
}

// init makes the parts that the reconciler owns.
func (r *Reconciler) init() {
	r.Init(v1alpha1.KindSeiNode)
	r.looks = newLooks()
	r.rest = &rest{looked: r.countLook, wake: r.looks.found}
	r.executor = &plan.Executor[*task.Env]{Tasks: task.Registry(), Clock: r.Clock, Observer: r.Tracer.Observer()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.rest.end(req.NamespacedName)
	return loop.Reconcile(ctx, &r.Base, req, &v1alpha1.SeiNode{}, loop.Actions[*v1alpha1.SeiNode]{
		Finalizer: v1alpha1.FinalizerSeiNode, Run: r.run, Finalize: r.finalize, Forget: r.forget,
	})
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

func (r *Reconciler) forget(node types.NamespacedName) {
	r.Forget(node)
	r.latch.Forget(node)
	r.unwritten.forget(node)
	r.podless.Forget(node)
	r.looks.forget(node)
	r.refusedSnapshots.Delete(node)
	r.rest.end(node)
	r.inShape.Forget(node)
	r.targets.forget(node)
}
