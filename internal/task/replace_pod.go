package task

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Reasons of waits while a pod is replaced.
const (
	ReasonRevisionPending = "RevisionPending"
	ReasonPodTerminating  = "PodTerminating"
	ReasonPodStarting     = "PodStarting"
)

// replacePod deletes a pod that was not made from the StatefulSet's newest template.
// It does so whether the pod is ready or not: a node that is halted at an upgrade
// height never will be. The pod's own revision decides; the StatefulSet's
// currentRevision lies under OnDelete and after rollbacks.
func replacePod(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	sts := env.Observed.StatefulSet
	if !revisionKnown(sts, env.Wanted.PodTemplateHash) {
		return plan.Wait(ReasonRevisionPending, "waiting for the StatefulSet controller to see the new template", 0)
	}
	pod, err := podToReplace(ctx, env)
	switch {
	case err != nil:
		return apiOutcome("reading the pod", err)
	case pod == nil || !metav1.IsControlledBy(pod, sts):
		return plan.Done("")
	case pod.Labels[appsv1.ControllerRevisionHashLabelKey] == sts.Status.UpdateRevision:
		return plan.Done("")
	case pod.DeletionTimestamp == nil:
		if err := deletePod(ctx, env, pod); err != nil {
			return apiOutcome("deleting pod "+pod.Name, err)
		}
		// What was seen is behind what was done: the report shall not call the
		// pod ready once more.
		pod.DeletionTimestamp = new(metav1.NewTime(env.Clock.Now()))
	}
	return plan.Wait(ReasonPodTerminating, fmt.Sprintf("waiting for the old pod %s on %s to stop", pod.Name, placeOf(pod)), 0)
}

// podToReplace is the node's pod. That there is none is asked of the API server: the
// cache may be late, and a pod of the old template that nobody saw would stay for ever.
func podToReplace(ctx context.Context, env *Env) (*corev1.Pod, error) {
	if env.Observed.Pod != nil {
		return env.Observed.Pod, nil
	}
	pod := &corev1.Pod{}
	err := env.Live.Get(ctx, client.ObjectKey{Namespace: env.Node.Namespace, Name: render.PodName(env.Node)}, pod)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return pod, err
}

// revisionKnown reports whether the StatefulSet carries the wanted template and its
// controller has worked out the revision of it. A cached object may be older.
func revisionKnown(sts *appsv1.StatefulSet, templateHash string) bool {
	return sts != nil && render.TemplateHash(sts.Spec.Template.Annotations) == templateHash &&
		sts.Status.ObservedGeneration >= sts.Generation && sts.Status.UpdateRevision != ""
}

func deletePod(ctx context.Context, env *Env, pod *corev1.Pod) error {
	err := env.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, and so is our reason
	}
	return err
}

func placeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return "no node"
	}
	return "node " + pod.Spec.NodeName
}
