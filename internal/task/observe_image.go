package task

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

// observeImage waits until the pod runs what the plan wants. Its sidecar runs last
// among the init containers and in the chain's image, so once it runs both images
// were pulled. Readiness is not asked for: it depends on what comes after.
func observeImage(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	pod := env.Observed.Pod
	if pod == nil || env.Observed.PodObstacle != "" {
		return WaitForSidecar(env.Observed)
	}
	if pod.DeletionTimestamp != nil {
		return plan.Wait(ReasonPodTerminating, fmt.Sprintf("waiting for pod %s on %s to stop", pod.Name, placeOf(pod)), 0)
	}
	if render.TemplateHash(pod.Annotations) != env.templateHash() {
		return plan.Wait(ReasonPodStarting, "waiting for a pod of the new template", 0)
	}
	if _, running := SidecarStarted(pod); !running {
		return WaitForSidecar(env.Observed)
	}
	return plan.Done("")
}

func placeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return "no node"
	}
	return "node " + pod.Spec.NodeName
}
