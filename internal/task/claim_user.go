package task

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// claimUser is who else uses a claim: another SeiNode that lives on it, or a pod that mounts it.
// Empty means nobody.
func claimUser(ctx context.Context, env *Env, claim string) (string, error) {
	nodes := &v1alpha1.SeiNodeList{}
	if err := env.Client.List(ctx, nodes, client.InNamespace(env.Node.Namespace)); err != nil {
		return "", fmt.Errorf("listing SeiNodes: %w", err)
	}
	for i := range nodes.Items {
		other := &nodes.Items[i]
		// Of two nodes that import the same claim the older one has it.
		if other.UID != env.Node.UID && render.ClaimName(other) == claim && olderThan(other, env.Node) {
			return "SeiNode " + other.Name, nil
		}
	}
	pods := &corev1.PodList{}
	if err := env.Live.List(ctx, pods, client.InNamespace(env.Node.Namespace)); err != nil {
		return "", fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[v1alpha1.LabelNode] != env.Node.Name && mounts(pod, claim) {
			return "pod " + pod.Name, nil
		}
	}
	return "", nil
}

func olderThan(a, b *v1alpha1.SeiNode) bool {
	if a.Spec.ImportedClaim() == "" || !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Spec.ImportedClaim() == "" || a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

func mounts(pod *corev1.Pod, claim string) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil && c.ClaimName == claim {
			return true
		}
	}
	return false
}
