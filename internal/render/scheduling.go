package render

import (
	"cmp"
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/internal/platform"
)

// schedule places the pod: the node's wishes over the platform's for its role.
func (p pod) schedule(spec *corev1ac.PodSpecApplyConfiguration) error {
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
	tolerations, err := applyConfigs[corev1ac.TolerationApplyConfiguration](s.Tolerations)
	if err != nil {
		return fmt.Errorf("rendering tolerations: %w", err)
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
	// Named even if it is the default: a pod with a token of its own must say whose.
	spec.WithServiceAccountName(cmp.Or(s.ServiceAccountName, "default"))
	return nil
}
