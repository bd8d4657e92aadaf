package fleet

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// DisruptionBudget keeps those who evict pods, for example to drain a machine, to the budget that
// a rollout has: the two share it. It counts the nodes that should be there and not those that are,
// so that a pod which is missing altogether counts as down. A pod that is not ready may always be
// evicted: it serves nobody, and a machine must be drained of it too.
func DisruptionBudget(snd *v1alpha1.SeiNodeDeployment) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	available := max(0, int(snd.Spec.Replicas)-MaxUnavailable(snd))
	return policyv1ac.PodDisruptionBudget(snd.Name, snd.Namespace).
		WithLabels(objectLabels(snd)).
		WithAnnotations(ownerAnnotations(snd)).
		WithOwnerReferences(ownerReferences(snd)...).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(snd.Name))).
			WithMinAvailable(intstr.FromInt32(int32(available))).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow))
}
