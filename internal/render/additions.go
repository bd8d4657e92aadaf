package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// Additions lists what a live pod template holds that want does not ask for: labels, containers,
// volumes, environment and mounts. Server-side apply leaves to their owner what others add to
// such lists, so they have to be looked for. Defaults of the API server are in none of them.
func Additions(want *corev1ac.PodTemplateSpecApplyConfiguration, live *corev1.PodTemplateSpec) []string {
	var found []string
	for key := range live.Labels {
		if _, ok := want.Labels[key]; !ok {
			found = append(found, "label "+key)
		}
	}
	for i := range live.Spec.Volumes {
		name := live.Spec.Volumes[i].Name
		if !slices.ContainsFunc(want.Spec.Volumes, func(v corev1ac.VolumeApplyConfiguration) bool { return ptr.Deref(v.Name, "") == name }) {
			found = append(found, "volume "+name)
		}
	}
	found = append(found, containerAdditions(want.Spec.InitContainers, live.Spec.InitContainers)...)
	found = append(found, containerAdditions(want.Spec.Containers, live.Spec.Containers)...)
	slices.Sort(found)
	return found
}

func containerAdditions(want []corev1ac.ContainerApplyConfiguration, live []corev1.Container) []string {
	var found []string
	for i := range live {
		c := &live[i]
		at := slices.IndexFunc(want, func(w corev1ac.ContainerApplyConfiguration) bool { return ptr.Deref(w.Name, "") == c.Name })
		if at < 0 {
			found = append(found, "container "+c.Name)
			continue
		}
		for _, e := range c.Env {
			if !slices.ContainsFunc(want[at].Env, func(w corev1ac.EnvVarApplyConfiguration) bool { return ptr.Deref(w.Name, "") == e.Name }) {
				found = append(found, "environment variable "+e.Name+" of container "+c.Name)
			}
		}
		for _, m := range c.VolumeMounts {
			if !slices.ContainsFunc(want[at].VolumeMounts, func(w corev1ac.VolumeMountApplyConfiguration) bool {
				return ptr.Deref(w.MountPath, "") == m.MountPath
			}) {
				found = append(found, "mount "+m.MountPath+" of container "+c.Name)
			}
		}
	}
	return found
}
