package fleet

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// settingsOf are the settings of one node; empty when there are none.
func settingsOf(snd *v1alpha1.SeiNodeDeployment, ordinal int) v1alpha1.NodeSettings {
	for _, s := range snd.Spec.Nodes {
		if int(s.Ordinal) == ordinal {
			return s
		}
	}
	return v1alpha1.NodeSettings{}
}

// applySettings puts the settings of one node over what the template asks for. Overrides are
// merged key by key; everything else takes the place of the template's.
func applySettings(spec *v1alpha1.SeiNodeSpec, s v1alpha1.NodeSettings) {
	if s.Paused != nil {
		spec.Paused = *s.Paused
	}
	if len(s.Overrides) > 0 {
		merged := maps.Clone(spec.Overrides)
		if merged == nil {
			merged = map[string]string{}
		}
		maps.Copy(merged, s.Overrides)
		spec.Overrides = merged
	}
	if s.ExternalAddress != "" {
		spec.ExternalAddress = s.ExternalAddress
	}
	if s.Resources != nil {
		spec.Resources = &corev1.ResourceRequirements{Requests: amounts(s.Resources.Requests), Limits: amounts(s.Resources.Limits)}
	}
}

func amounts(a *v1alpha1.ResourceAmounts) corev1.ResourceList {
	if a == nil {
		return nil
	}
	list := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]v1alpha1.Amount{
		corev1.ResourceCPU: a.CPU, corev1.ResourceMemory: a.Memory, corev1.ResourceEphemeralStorage: a.EphemeralStorage,
	} {
		// Admission lets nothing through that is no quantity.
		if quantity, err := resource.ParseQuantity(string(amount)); err == nil {
			list[name] = quantity
		}
	}
	return list
}

// rolledSettings are the settings of nodes that the fleet has and that reach them by a rollout.
func rolledSettings(snd *v1alpha1.SeiNodeDeployment) []v1alpha1.NodeSettings {
	var list []v1alpha1.NodeSettings
	for _, ordinal := range Ordinals(snd) {
		s := settingsOf(snd, ordinal)
		s.Ordinal, s.Paused = int32(ordinal), nil
		if !equality.Semantic.DeepEqual(s, v1alpha1.NodeSettings{Ordinal: s.Ordinal}) {
			list = append(list, s)
		}
	}
	return list
}
