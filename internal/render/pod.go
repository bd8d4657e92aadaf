package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
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
	spec := corev1ac.PodSpec().
		WithSecurityContext(podSecurity()).
		WithAutomountServiceAccountToken(false).
		// Variables of other Services could be taken for settings of seid.
		WithEnableServiceLinks(false).
		// The sidecar signals seid.
		WithShareProcessNamespace(true).
		WithTerminationGracePeriodSeconds(gracePeriodSeconds).
		WithInitContainers(p.installContainer(), p.initContainer(), p.sidecarContainer()).
		WithContainers(seidContainer).
		WithVolumes(p.volumes()...)
	if err := p.schedule(spec); err != nil {
		return nil, err
	}
	return spec, nil
}
