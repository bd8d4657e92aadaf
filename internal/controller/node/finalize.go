package node

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/events"
	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/statuspatch"
	"github.com/sei-operator/sei-operator/internal/task"
)

// finalize takes a node down in the order that keeps keys and data safe: first the pod
// must be gone, then the consensus key is given back, then the volume goes or stays.
func (r *Reconciler) finalize(ctx context.Context, node *v1alpha1.SeiNode) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(node, v1alpha1.FinalizerSeiNode) {
		return ctrl.Result{}, nil
	}
	if err := r.reportTerminating(ctx, node); err != nil {
		return loop.ConflictIsRetry(err)
	}
	switch orphaned, err := r.orphaned(ctx, node); {
	case err != nil:
		return loop.ConflictIsRetry(err)
	case orphaned:
		// The pod runs on, and with it the claim is in use and the consensus key reserved.
		return r.release(ctx, node)
	}
	gone, err := r.stopPods(ctx, node)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !gone {
		// Pod events come first; this is the net under them.
		return ctrl.Result{RequeueAfter: steadyInterval}, nil
	}
	if err := task.ReleaseConsensusKey(ctx, r.Client, r.Live, r.Namespace, node); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.releaseVolume(ctx, node); err != nil {
		return ctrl.Result{}, err
	}
	return r.release(ctx, node)
}

// orphaned reports whether the node was deleted with --cascade=orphan: its finalizer says so, or the
// garbage collector has taken the node off its StatefulSet already. Where it has not, that is done
// here.
func (r *Reconciler) orphaned(ctx context.Context, node *v1alpha1.SeiNode) (bool, error) {
	asked := controllerutil.ContainsFinalizer(node, metav1.FinalizerOrphanDependents)
	if node.Status.StatefulSet == nil {
		return asked, nil
	}
	sts, err := cached(ctx, r.Live, node, node.Name, &appsv1.StatefulSet{})
	if err != nil || sts == nil {
		return asked, err
	}
	if !asked {
		return sts.UID == node.Status.StatefulSet.UID && metav1.GetControllerOf(sts) == nil, nil
	}
	if !metav1.IsControlledBy(sts, node) {
		return true, nil
	}
	before := sts.DeepCopy()
	sts.OwnerReferences = slices.DeleteFunc(sts.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == node.UID })
	if err := r.Client.Patch(ctx, sts, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return false, fmt.Errorf("releasing StatefulSet %s: %w", sts.Name, err)
	}
	return true, nil
}

func (r *Reconciler) release(ctx context.Context, node *v1alpha1.SeiNode) (ctrl.Result, error) {
	before := node.DeepCopy()
	controllerutil.RemoveFinalizer(node, v1alpha1.FinalizerSeiNode)
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return loop.ConflictIsRetry(fmt.Errorf("removing the finalizer: %w", err))
	}
	r.forget(client.ObjectKeyFromObject(node))
	return ctrl.Result{}, nil
}

func (r *Reconciler) reportTerminating(ctx context.Context, node *v1alpha1.SeiNode) error {
	pods, err := r.podsOf(ctx, r.Client, node)
	if err != nil {
		return err
	}
	before, snapshot := node.DeepCopy(), r.Status.New(node)
	if unwritten, ok := r.unwritten.of(node); ok {
		node.Status = *unwritten.status.DeepCopy() // what is taken down is what was made
	}
	node.Status = *domain.ReportTerminating(node, strayPod(pods), r.Clock.Now())
	result, err := snapshot.Patch(ctx, r.Client, node)
	if err != nil {
		return err
	}
	r.Metrics.NodeObserved(before, node)
	if result == statuspatch.Changed {
		r.Events.Emit(ctx, node, events.ForNode(before, node)...)
	}
	return nil
}

// strayPod is the name of a pod that nothing controls any more, because its StatefulSet was deleted with
// --cascade=orphan; empty if there is none. It is left to its user: whether the node was deleted in
// the same way before, to keep pod and volume, cannot be told any more.
func strayPod(pods []corev1.Pod) string {
	for i := range pods {
		if p := &pods[i]; p.DeletionTimestamp == nil && metav1.GetControllerOf(p) == nil {
			return p.Name
		}
	}
	return ""
}

func (r *Reconciler) podsOf(ctx context.Context, from client.Reader, node *v1alpha1.SeiNode) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := from.List(ctx, pods, client.InNamespace(node.Namespace), client.MatchingLabels{v1alpha1.LabelNode: node.Name}); err != nil {
		return nil, fmt.Errorf("listing the node's pods: %w", err)
	}
	return pods.Items, nil
}

// stopPods removes what makes pods and reports whether the last pod is gone. The API
// server is asked, because the consensus key is given back on this answer.
func (r *Reconciler) stopPods(ctx context.Context, node *v1alpha1.SeiNode) (gone bool, err error) {
	sts, err := cached(ctx, r.Client, node, node.Name, &appsv1.StatefulSet{})
	if err != nil {
		return false, err
	}
	if sts != nil && metav1.IsControlledBy(sts, node) {
		if err := r.deleteOwned(ctx, sts); err != nil {
			return false, err
		}
	}
	job, err := cached(ctx, r.Client, node, render.BootstrapJobName(node), &batchv1.Job{})
	if err != nil {
		return false, err
	}
	if job != nil && metav1.IsControlledBy(job, node) {
		if err := r.deleteOwned(ctx, job); err != nil {
			return false, err
		}
	}
	pods, err := r.podsOf(ctx, r.Client, node)
	if err != nil {
		return false, err
	}
	if sts != nil && metav1.IsControlledBy(sts, node) {
		return false, r.stopOrphans(ctx, sts, pods)
	}
	if len(pods) > 0 {
		return false, nil
	}
	pods, err = r.podsOf(ctx, r.Live, node)
	return err == nil && len(pods) == 0, err
}

// stopOrphans deletes the pods of a StatefulSet that somebody is deleting with --cascade=orphan while its
// node is deleted with all it has: nobody else would.
func (r *Reconciler) stopOrphans(ctx context.Context, sts *appsv1.StatefulSet, pods []corev1.Pod) error {
	if !controllerutil.ContainsFinalizer(sts, metav1.FinalizerOrphanDependents) {
		return nil
	}
	for i := range pods {
		if !metav1.IsControlledBy(&pods[i], sts) {
			continue
		}
		if err := r.deleteOwned(ctx, &pods[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) deleteOwned(ctx context.Context, obj client.Object) error {
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := obj.GetUID()
	err := r.Client.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// releaseVolume deletes the claim that was made for the node, unless it should stay. Then it must
// have no owner any more, or the garbage collector takes it. Imported claims always stay.
func (r *Reconciler) releaseVolume(ctx context.Context, node *v1alpha1.SeiNode) error {
	if node.Spec.ImportedClaim() != "" {
		return nil
	}
	claim, err := cached(ctx, r.Live, node, render.ClaimName(node), &corev1.PersistentVolumeClaim{})
	if err != nil || claim == nil || !task.ClaimIsOurs(node, claim) {
		return err
	}
	if render.DeletionPolicy(node) == v1alpha1.VolumeDelete {
		return r.deleteOwned(ctx, claim)
	}
	before := claim.DeepCopy()
	claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == node.UID })
	if len(claim.OwnerReferences) == len(before.OwnerReferences) {
		return nil
	}
	if err := r.Client.Patch(ctx, claim, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("releasing PersistentVolumeClaim %s: %w", claim.Name, err)
	}
	return nil
}
