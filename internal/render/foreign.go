package render

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// IsForeign reports whether a pod was rendered by another operator of kinds with the same names: seid
// runs in it, and nothing of ours does.
func IsForeign(annotations map[string]string, spec corev1.PodSpec) bool {
	return SeidImage(spec) != "" && SpecHash(annotations) == "" && TemplateHash(annotations) == "" && SidecarImage(spec) == ""
}

// IsCurrent reports whether a pod was made from the template that its StatefulSet has now.
func IsCurrent(pod *corev1.Pod, sts *appsv1.StatefulSet) bool {
	revision := sts.Status.UpdateRevision
	return revision != "" && sts.Status.ObservedGeneration >= sts.Generation && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision
}

// MountsSecrets reports whether a pod mounts any Secret.
func MountsSecrets(spec corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil || v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(p corev1.VolumeProjection) bool {
			return p.Secret != nil
		})
	})
}
