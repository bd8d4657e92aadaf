package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// gracePeriodSeconds is how long seid may take to write its state down.
const gracePeriodSeconds = 120

// pod is what the node's own pod and its bootstrap Job's pod have in common,
// and where they differ.
type pod struct {
	Input
	// chainImage is the image with seid.
	chainImage string
	// withKeys mounts the key Secrets. The bootstrap Job goes without.
	withKeys bool
	// gateFlags and seidFlags are added to the command of seid's container.
	gateFlags, seidFlags []string
}

// spec is the pod without its probes on seid, which only the node's own pod has.
func (p pod) spec(seidContainer *corev1ac.ContainerApplyConfiguration) (*corev1ac.PodSpecApplyConfiguration, error) {
	if err := checkExtras(p.Node); err != nil {
		return nil, err
	}
	extra, err := extraVolumes(p.Node)
	if err != nil {
		return nil, err
	}
	spec := corev1ac.PodSpec().
		WithSecurityContext(podSecurity()).
		WithAutomountServiceAccountToken(false).
		// Variables of other Services could be taken for settings of seid.
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(gracePeriodSeconds).
		WithInitContainers(p.installContainer(), p.initContainer(), p.sidecarContainer()).
		WithContainers(seidContainer).
		WithVolumes(p.volumes()...).
		WithVolumes(extra...).
		WithImagePullSecrets(imagePullSecrets(p.Node)...)
	if err := p.schedule(spec); err != nil {
		return nil, err
	}
	return spec, nil
}

// imagePullSecrets are the credentials that the node names for its images.
func imagePullSecrets(node *v1alpha1.SeiNode) []*corev1ac.LocalObjectReferenceApplyConfiguration {
	list := make([]*corev1ac.LocalObjectReferenceApplyConfiguration, 0, len(node.Spec.ImagePullSecrets))
	for _, s := range node.Spec.ImagePullSecrets {
		list = append(list, corev1ac.LocalObjectReference().WithName(s.Name))
	}
	return list
}
