package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// setPullPolicies writes down the default of Kubernetes. The API server fills it in when a container
// is new, and keeps it when the image changes: an image without a tag would not be pulled after one
// with a tag, and the other way around. The policy follows from the image, so hashes need not have it.
func setPullPolicies(template *corev1ac.PodTemplateSpecApplyConfiguration) {
	for _, list := range [][]corev1ac.ContainerApplyConfiguration{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range list {
			list[i].WithImagePullPolicy(pullPolicy(ptr.Deref(list[i].Image, "")))
		}
	}
}

// pullPolicy is Always for an image that names neither a tag nor a digest, or the tag latest.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, hasDigest := strings.Cut(image, "@")
	_, tag, hasTag := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if tag == "latest" || !hasTag && !hasDigest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
