package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// extraPrefix keeps the names of a user's volumes apart from ours, also from those of later versions.
const extraPrefix = "extra-"

// extraEnv are the variables that the node adds to seid's environment.
func extraEnv(node *v1alpha1.SeiNode) []*corev1ac.EnvVarApplyConfiguration {
	vars := make([]*corev1ac.EnvVarApplyConfiguration, 0, len(node.Spec.ExtraEnv))
	for _, e := range node.Spec.ExtraEnv {
		if e.ValueFrom == nil {
			vars = append(vars, env(e.Name, e.Value))
			continue
		}
		vars = append(vars, corev1ac.EnvVar().WithName(e.Name).WithValueFrom(extraEnvSource(e.ValueFrom)))
	}
	return vars
}

func extraEnvSource(from *v1alpha1.ExtraEnvSource) *corev1ac.EnvVarSourceApplyConfiguration {
	source := corev1ac.EnvVarSource()
	if ref := from.SecretKeyRef; ref != nil {
		source.WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(string(ref.Name)).WithKey(string(ref.Key)))
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		source.WithConfigMapKeyRef(corev1ac.ConfigMapKeySelector().WithName(string(ref.Name)).WithKey(string(ref.Key)))
	}
	return source
}

// extraVolumes are the volumes that the node adds for seid. Files of Secrets and ConfigMaps cannot be
// executed: what runs in the pod is what its images hold.
func extraVolumes(node *v1alpha1.SeiNode) ([]*corev1ac.VolumeApplyConfiguration, error) {
	volumes := make([]*corev1ac.VolumeApplyConfiguration, 0, len(node.Spec.ExtraVolumes))
	for i := range node.Spec.ExtraVolumes {
		v := &node.Spec.ExtraVolumes[i]
		volume := corev1ac.Volume().WithName(extraPrefix + v.Name)
		switch {
		case v.ConfigMap != nil:
			volume.WithConfigMap(corev1ac.ConfigMapVolumeSource().WithDefaultMode(modeReadable).
				WithName(string(v.ConfigMap.Name)).WithItems(extraItems(v.ConfigMap.Items)...))
		case v.Secret != nil:
			volume.WithSecret(corev1ac.SecretVolumeSource().WithDefaultMode(modeKey).
				WithSecretName(string(v.Secret.SecretName)).WithItems(extraItems(v.Secret.Items)...))
		case v.Projected != nil:
			volume.WithProjected(corev1ac.ProjectedVolumeSource().WithDefaultMode(modeKey).WithSources(extraProjections(v.Projected)...))
		case v.CSI != nil:
			volume.WithCSI(extraCSI(v.CSI))
		case v.EmptyDir != nil:
			dir, err := extraEmptyDir(v.EmptyDir)
			if err != nil {
				return nil, fmt.Errorf("spec.extraVolumes: emptyDir.sizeLimit of %s: %w", v.Name, err)
			}
			volume.WithEmptyDir(dir)
		}
		volumes = append(volumes, volume)
	}
	return volumes, nil
}

func extraItems(items []v1alpha1.ExtraItem) []*corev1ac.KeyToPathApplyConfiguration {
	list := make([]*corev1ac.KeyToPathApplyConfiguration, 0, len(items))
	for _, item := range items {
		list = append(list, corev1ac.KeyToPath().WithKey(string(item.Key)).WithPath(string(item.Path)))
	}
	return list
}

func extraProjections(projected *v1alpha1.ExtraProjected) []*corev1ac.VolumeProjectionApplyConfiguration {
	list := make([]*corev1ac.VolumeProjectionApplyConfiguration, 0, len(projected.Sources))
	for _, s := range projected.Sources {
		projection := corev1ac.VolumeProjection()
		if c := s.ConfigMap; c != nil {
			projection.WithConfigMap(corev1ac.ConfigMapProjection().WithName(string(c.Name)).WithItems(extraItems(c.Items)...))
		}
		if c := s.Secret; c != nil {
			projection.WithSecret(corev1ac.SecretProjection().WithName(string(c.Name)).WithItems(extraItems(c.Items)...))
		}
		list = append(list, projection)
	}
	return list
}

func extraCSI(csi *v1alpha1.ExtraCSI) *corev1ac.CSIVolumeSourceApplyConfiguration {
	source := corev1ac.CSIVolumeSource().WithDriver(csi.Driver).WithReadOnly(true)
	if len(csi.VolumeAttributes) > 0 {
		source.WithVolumeAttributes(csi.VolumeAttributes)
	}
	return source
}

func extraEmptyDir(dir *v1alpha1.ExtraEmptyDir) (*corev1ac.EmptyDirVolumeSourceApplyConfiguration, error) {
	source := corev1ac.EmptyDirVolumeSource()
	if dir.Medium != "" {
		source.WithMedium(corev1.StorageMedium(dir.Medium))
	}
	if dir.SizeLimit == "" {
		return source, nil
	}
	limit, err := resource.ParseQuantity(string(dir.SizeLimit))
	if err != nil {
		return nil, err
	}
	return source.WithSizeLimit(limit), nil
}

// extraMounts are where seid's container has the extra volumes. Only an emptyDir can be written to.
func extraMounts(node *v1alpha1.SeiNode) []*corev1ac.VolumeMountApplyConfiguration {
	writable := map[string]bool{}
	for i := range node.Spec.ExtraVolumes {
		writable[node.Spec.ExtraVolumes[i].Name] = node.Spec.ExtraVolumes[i].EmptyDir != nil
	}
	mounts := make([]*corev1ac.VolumeMountApplyConfiguration, 0, len(node.Spec.ExtraVolumeMounts))
	for _, m := range node.Spec.ExtraVolumeMounts {
		at := mount(extraPrefix+m.Name, m.MountPath)
		if m.SubPath != "" {
			at.WithSubPath(string(m.SubPath))
		}
		if !writable[m.Name] {
			at.WithReadOnly(true)
		}
		mounts = append(mounts, at)
	}
	return mounts
}
