package render

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// fleetSpread spreads the nodes of a fleet over machines and zones when nobody says otherwise. It is
// a wish: a pod is rather placed beside another of its fleet than not at all.
func fleetSpread(node *v1alpha1.SeiNode) []corev1.TopologySpreadConstraint {
	fleet := node.Labels[v1alpha1.LabelDeployment]
	if fleet == "" {
		return nil
	}
	var list []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		list = append(list, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelDeployment: fleet}},
		})
	}
	return list
}

// scheduling is the node's wishes over the platform's for its role.
func (p pod) scheduling() platform.Scheduling {
	s := p.Platform.SchedulingFor(p.role())
	if own := p.Node.Spec.Scheduling; own != nil {
		s = s.Over(platform.Scheduling{
			NodeSelector:              own.NodeSelector,
			Tolerations:               own.Tolerations,
			Affinity:                  own.Affinity,
			TopologySpreadConstraints: own.TopologySpreadConstraints,
			PriorityClassName:         own.PriorityClassName,
		})
	}
	return s
}

// serviceAccount is named even if it is the default: a pod with a token of its own must say whose.
func serviceAccount(s platform.Scheduling) string { return cmp.Or(s.ServiceAccountName, "default") }

// schedule places the pod.
func (p pod) schedule(spec *corev1ac.PodSpecApplyConfiguration) error {
	s := p.scheduling()
	tolerations, err := applyConfigs[corev1ac.TolerationApplyConfiguration](s.Tolerations)
	if err != nil {
		return fmt.Errorf("rendering tolerations: %w", err)
	}
	if len(s.TopologySpreadConstraints) == 0 {
		s.TopologySpreadConstraints = fleetSpread(p.Node)
	}
	spread, err := applyConfigs[corev1ac.TopologySpreadConstraintApplyConfiguration](s.TopologySpreadConstraints)
	if err != nil {
		return fmt.Errorf("rendering topology spread constraints: %w", err)
	}
	if s.Affinity != nil {
		affinity, err := Convert[corev1ac.AffinityApplyConfiguration](s.Affinity)
		if err != nil {
			return fmt.Errorf("rendering affinity: %w", err)
		}
		spec.WithAffinity(affinity)
	}
	spec.WithTolerations(tolerations...).WithTopologySpreadConstraints(spread...)
	if len(s.NodeSelector) > 0 {
		spec.WithNodeSelector(s.NodeSelector)
	}
	if s.PriorityClassName != "" {
		spec.WithPriorityClassName(s.PriorityClassName)
	}
	spec.WithServiceAccountName(serviceAccount(s))
	return nil
}
