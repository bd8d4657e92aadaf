package node

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/metrics"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/task"
)

// errCacheBehind ends a pass whose cache does not show our own last write yet.
var errCacheBehind = errors.New("the cache does not show the operator's last write yet")

// observe gathers all that the rest of the pass depends on. Objects come from the
// cache; the sidecar is asked beside the workers, so that a hung one delays its own
// node only.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	if err := r.observeObjects(ctx, s); err != nil {
		return err
	}
	if err := r.observeObstacle(ctx, s); err != nil {
		return err
	}
	s.observed.Peers, s.peerProblems = r.Peers.Resolve(ctx, s.node, s.node.Status.ResolvedPeers)
	r.observeSidecar(ctx, s)
	if err := r.observeOperation(ctx, s); err != nil {
		return err
	}
	if err := r.observeSnapshot(ctx, s); err != nil {
		return err
	}
	s.objects, s.seen = s.observed, true
	return nil
}

func (r *Reconciler) observeObjects(ctx context.Context, s *scope) (err error) {
	node, o := s.node, &s.observed
	if o.StatefulSet, err = fresh(ctx, r, node, node.Name, &appsv1.StatefulSet{}); err != nil {
		return err
	}
	if o.Service, err = fresh(ctx, r, node, node.Name, &corev1.Service{}); err != nil {
		return err
	}
	if o.NetworkPolicy, err = fresh(ctx, r, node, node.Name, &networkingv1.NetworkPolicy{}); err != nil {
		return err
	}
	if o.Certificate, err = freshFrom(ctx, r, r.Secrets, node, render.CertificateName(node), task.SecretMetadata(metav1.ObjectMeta{})); err != nil {
		return err
	}
	if o.Claim, err = fresh(ctx, r, node, render.ClaimName(node), &corev1.PersistentVolumeClaim{}); err != nil {
		return err
	}
	if o.Job, err = fresh(ctx, r, node, render.BootstrapJobName(node), &batchv1.Job{}); err != nil {
		return err
	}
	if o.Pod, err = fresh(ctx, r, node, render.PodName(node), &corev1.Pod{}); err != nil {
		return err
	}
	if o.Pod == nil && o.Job != nil {
		if o.Pod, err = r.bootstrapPod(ctx, node, o.Job); err != nil {
			return err
		}
	}
	return r.observePull(ctx, s)
}

// fresh reads an object from the cache and makes sure that the cache has seen what we wrote.
func fresh[T client.Object](ctx context.Context, r *Reconciler, node *v1alpha1.SeiNode, name string, into T) (T, error) {
	return freshFrom(ctx, r, r.Client, node, name, into)
}

func freshFrom[T client.Object](ctx context.Context, r *Reconciler, c client.Reader, node *v1alpha1.SeiNode, name string, into T) (T, error) {
	var none T
	found, err := cached(ctx, c, node, name, into)
	if err != nil {
		return none, err
	}
	var seen client.Object
	if !reflect.ValueOf(found).IsNil() {
		seen = found
	}
	behind, err := r.Writes.Behind(ctx, into, types.NamespacedName{Namespace: node.Namespace, Name: name}, seen)
	switch {
	case err != nil:
		return none, err
	case behind:
		return none, errCacheBehind
	default:
		return found, nil
	}
}

// podlessFor is how long a pod may be missing before somebody asks why: the StatefulSet
// controller makes a new one in much less, unless hundreds are replaced at once.
const podlessFor = 10 * time.Second

// observeObstacle finds out why the StatefulSet controller has tried to make the pod and
// could not. The pod that is in the way carries none of our labels, so no cache has it.
func (r *Reconciler) observeObstacle(ctx context.Context, s *scope) error {
	sts := s.observed.StatefulSet
	podless := s.observed.Pod == nil && sts != nil && sts.Status.ObservedGeneration >= sts.Generation &&
		ptr.Deref(sts.Spec.Replicas, 1) > 0 && sts.Status.Replicas == 0
	lasted := r.podless.Lasted(client.ObjectKeyFromObject(s.node), podless, s.now)
	if !podless {
		return nil
	}
	if lasted < podlessFor {
		s.comeBackIn(podlessFor - lasted)
		return nil
	}
	pod, err := cached(ctx, r.Live, s.node, render.PodName(s.node), &corev1.Pod{})
	if err != nil {
		return err
	}
	s.observed.PodObstacle = podObstacle(sts, pod)
	return nil
}

// podObstacle says what is in the way of a StatefulSet's pod, and what to do about it. pod
// is the one that has its name; nil when there is none.
func podObstacle(sts *appsv1.StatefulSet, pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return fmt.Sprintf("the pod cannot be created: see the events of kubectl describe statefulset %s", sts.Name)
	case metav1.IsControlledBy(pod, sts):
		return "" // it was made in this moment
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return fmt.Sprintf("pod %s was not created by the operator: delete it, or rename the node", pod.Name)
	}
	return fmt.Sprintf("pod %s is controlled by %s %s: delete or rename one of the two", pod.Name, owner.Kind, owner.Name)
}

// bootstrapPod is the pod of the node's bootstrap Job; nil when there is none. Anybody can give a pod
// the labels.
func (r *Reconciler) bootstrapPod(ctx context.Context, node *v1alpha1.SeiNode, job *batchv1.Job) (*corev1.Pod, error) {
	list := &corev1.PodList{}
	err := r.Client.List(ctx, list, client.InNamespace(node.Namespace), client.MatchingLabels{
		v1alpha1.LabelNode: node.Name, v1alpha1.LabelComponent: v1alpha1.ComponentBootstrap,
	})
	if err != nil {
		return nil, fmt.Errorf("listing the bootstrap pods: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], job) {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// cached reads an object of the node's namespace, usually from the cache; nil when it is not there.
func cached[T client.Object](ctx context.Context, c client.Reader, node *v1alpha1.SeiNode, name string, into T) (T, error) {
	return loop.Find(ctx, c, node.Namespace, name, into)
}

// observeSidecar asks the pod's sidecar what there is to see of the node.
func (r *Reconciler) observeSidecar(ctx context.Context, s *scope) {
	if s.sidecar = s.observed.Dial(r.Sidecars, s.node); s.sidecar == nil {
		return
	}
	s.sidecarStarted = true
	document, err := r.looks.look(ctx, s.node, string(s.observed.Pod.UID), s.sidecar)
	r.countLook(s.node, document, err)
	if s.lookError = err; err != nil {
		// A container that has just started is about to listen: look again at once, so that
		// its gate is opened without delay.
		started, _ := task.SidecarStarted(s.observed.Pod)
		s.comeBackIn(task.UnreachableInterval(started, s.now))
		return
	}
	if document.APILevel < api.LevelNode {
		recall(document, s.node)
	}
	s.document = document
}

// observeOperation finds the SeiNodeTask that has closed the gate, where the sidecar may have forgotten who did: a
// gate that is held says so itself.
func (r *Reconciler) observeOperation(ctx context.Context, s *scope) error {
	if s.document == nil || s.document.Gate.State != api.GateClosed || !domain.Initialized(&s.node.Status) {
		return nil
	}
	list := &v1alpha1.SeiNodeTaskList{}
	err := r.Client.List(ctx, list, client.InNamespace(s.node.Namespace), client.MatchingFields{operation.TargetIndex: s.node.Name})
	if err != nil {
		return fmt.Errorf("listing the node's tasks: %w", err)
	}
	for i := range list.Items {
		if operation.KeepsClosed(&list.Items[i]) {
			s.operation = list.Items[i].Name
		}
	}
	return nil
}

func (r *Reconciler) countLook(node *v1alpha1.SeiNode, document *api.Node, err error) {
	outcome := metrics.ProbeNotReady
	switch {
	case err != nil:
		outcome = metrics.ProbeUnreachable
	case document.Gate.State == api.GateOpen:
		outcome = metrics.ProbeReady
	}
	r.Metrics.SidecarProbed(node.Namespace, outcome)
}

// recall completes the document of an older sidecar with what the operator remembers.
func recall(document *api.Node, node *v1alpha1.SeiNode) {
	document.Home.ConfigHash = node.Status.ConfigHash
	document.Home.Validation = &api.Validation{Valid: true}
	if domain.Initialized(&node.Status) {
		document.Home.Stage = api.HomeSynced
	}
}
