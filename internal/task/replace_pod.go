package task

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	domain "github.com/sei-operator/sei-operator/internal/node"
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
//
// It ends with a pod that was seen, the new one or the old one on its way out, and
// never with the absence of one: the cache may be late, and a pod of the old template
// that nobody saw would stay forever.
func replacePod(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	sts := env.Observed.StatefulSet
	if !revisionKnown(sts, env.templateHash()) {
		return plan.Wait(ReasonRevisionPending, "waiting for the StatefulSet controller to see the new template", 0)
	}
	pod, err := outdatedPod(ctx, env)
	switch {
	case err != nil:
		return APIOutcome("reading pod "+render.PodName(env.Node), err)
	case pod == nil:
		return WaitForSidecar(env.Observed)
	case !metav1.IsControlledBy(pod, sts), pod.DeletionTimestamp != nil,
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] == sts.Status.UpdateRevision:
		return plan.Done("")
	}
	err = env.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return plan.Wait(ReasonPodStarting, "waiting for the replacement pod to start", 0)
	case err != nil:
		return APIOutcome("deleting pod "+pod.Name, err)
	}
	// What was seen is behind what was done: nobody should call the pod ready once more.
	going := pod.DeepCopy()
	going.DeletionTimestamp = new(metav1.NewTime(env.Clock.Now()))
	env.Observed.Pod = going
	env.Deleted(pod)
	return plan.Done("")
}

// outdatedPod is the pod that was seen. The cache has pods with our labels only, and an adopted StatefulSet may
// have made one without: when its controller counts a pod of an older template that nobody has seen, the API
// server is asked.
func outdatedPod(ctx context.Context, env *Env) (*corev1.Pod, error) {
	sts, pod := env.Observed.StatefulSet, env.Observed.Pod
	if pod != nil || sts.Status.UpdatedReplicas >= sts.Status.Replicas {
		return pod, nil
	}
	unseen := &corev1.Pod{}
	err := env.Live.Get(ctx, client.ObjectKey{Namespace: env.Node.Namespace, Name: render.PodName(env.Node)}, unseen)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return unseen, nil
}

// templateHash identifies the template that the plan's pod is made from: the one the plan has
// applied, or else the one that is there. What an operator would render by now is nobody's
// wish before the next plan.
func (env *Env) templateHash() string {
	if hash := env.Facts.AppliedTemplate; hash != "" {
		return hash
	}
	if applied := plan.Find(env.Node.Status.Plan, domain.StepApplyStatefulSet); applied != nil && applied.Status == v1alpha1.TaskComplete {
		return env.Target.PodTemplateHash
	}
	if sts := env.Observed.StatefulSet; sts != nil {
		return render.TemplateHash(sts.Spec.Template.Annotations)
	}
	return ""
}

// revisionKnown reports whether the StatefulSet carries the wanted template and its
// controller has worked out the revision of it. A cached object may be older.
func revisionKnown(sts *appsv1.StatefulSet, templateHash string) bool {
	return sts != nil && render.TemplateHash(sts.Spec.Template.Annotations) == templateHash &&
		sts.Status.ObservedGeneration >= sts.Generation && sts.Status.UpdateRevision != ""
}
