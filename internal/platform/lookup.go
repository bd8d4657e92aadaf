package platform

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// forRole is the entry of the mode with the given role, nil if there is none.
func (p *PerMode[T]) forRole(role string) *T {
	switch role {
	case v1alpha1.RoleArchive:
		return p.Archive
	case v1alpha1.RoleReplayer:
		return p.Replayer
	case v1alpha1.RoleValidator:
		return p.Validator
	case v1alpha1.RoleSeed:
		return p.Seed
	case v1alpha1.RoleNode:
		return p.FullNode
	default:
		return nil
	}
}

// SchedulingFor is the scheduling of nodes of a role: the mode's entry over the
// default.
func (c *Config) SchedulingFor(role string) Scheduling {
	mode := c.Scheduling.forRole(role)
	if mode == nil {
		return c.Scheduling.Default
	}
	return c.Scheduling.Default.Over(*mode)
}

// Over is s with more laid over it. Node selectors are joined key by key and
// tolerations added; every other field that more sets replaces that of s.
// Affinity is replaced kind by kind (node, pod, pod anti-affinity).
func (s Scheduling) Over(more Scheduling) Scheduling {
	out := s
	if len(more.NodeSelector) > 0 {
		out.NodeSelector = maps.Clone(s.NodeSelector)
		if out.NodeSelector == nil {
			out.NodeSelector = map[string]string{}
		}
		maps.Copy(out.NodeSelector, more.NodeSelector)
	}
	out.Tolerations = joinTolerations(s.Tolerations, more.Tolerations)
	out.Affinity = overAffinity(s.Affinity, more.Affinity)
	if len(more.TopologySpreadConstraints) > 0 {
		out.TopologySpreadConstraints = more.TopologySpreadConstraints
	}
	if more.PriorityClassName != "" {
		out.PriorityClassName = more.PriorityClassName
	}
	if more.ServiceAccountName != "" {
		out.ServiceAccountName = more.ServiceAccountName
	}
	return out
}

func joinTolerations(first, second []corev1.Toleration) []corev1.Toleration {
	joined := slices.Clone(first)
	for _, t := range second {
		same := func(have corev1.Toleration) bool { return equality.Semantic.DeepEqual(have, t) }
		if !slices.ContainsFunc(joined, same) {
			joined = append(joined, t)
		}
	}
	return joined
}

func overAffinity(base, more *corev1.Affinity) *corev1.Affinity {
	if base == nil || more == nil {
		if more != nil {
			return more
		}
		return base
	}
	out := *base
	if more.NodeAffinity != nil {
		out.NodeAffinity = more.NodeAffinity
	}
	if more.PodAffinity != nil {
		out.PodAffinity = more.PodAffinity
	}
	if more.PodAntiAffinity != nil {
		out.PodAntiAffinity = more.PodAntiAffinity
	}
	return &out
}

// StorageSizeFor is the size of data volumes of a role.
func (c *Config) StorageSizeFor(role string) resource.Quantity {
	if mode := c.Storage.forRole(role); mode != nil && mode.Size != nil {
		return *mode.Size
	}
	return *c.Storage.Default.Size
}

// StorageClassFor is the storage class of data volumes of a role; nil means the
// cluster's default class.
func (c *Config) StorageClassFor(role string) *string {
	if mode := c.Storage.forRole(role); mode != nil && mode.ClassName != nil {
		return mode.ClassName
	}
	return c.Storage.Default.ClassName
}

// ResourcesFor are the resources of the seid container of a role. An entry is
// taken whole: a limit of one mode never meets a request of the default.
func (c *Config) ResourcesFor(role string) corev1.ResourceRequirements {
	if mode := c.Resources.forRole(role); mode != nil && !mode.unset() {
		return mode.requirements()
	}
	return c.Resources.Default.requirements()
}

// SidecarResources are the resources of the sidecar container.
func (c *Config) SidecarResources() corev1.ResourceRequirements {
	return c.Resources.Sidecar.requirements()
}

func (r ContainerResources) requirements() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
}
