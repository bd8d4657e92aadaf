package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// Service gives the node's pod its DNS name, and that of the bootstrap Job the
// same one. It is headless and publishes pods that are not ready: the operator
// and peers talk to nodes that are still catching up.
func Service(in Input) *corev1ac.ServiceApplyConfiguration {
	spec := corev1ac.ServiceSpec().
		WithClusterIP(corev1.ClusterIPNone).
		WithPublishNotReadyAddresses(true).
		WithSelector(selectorLabels(in.Node))
	for _, port := range seid.Ports(modeOf(in.Node)) {
		ac := servicePort(port.Name, port.Number)
		if port.AppProtocol != "" {
			ac.WithAppProtocol(port.AppProtocol)
		}
		spec.WithPorts(ac)
	}
	spec.WithPorts(servicePort(portNameSidecar, SidecarPort(in.Node)))
	return corev1ac.Service(in.Node.Name, in.Node.Namespace).
		WithLabels(objectLabels(in.Node)).
		WithOwnerReferences(ownerReference(in.Node)).
		WithSpec(spec)
}

func servicePort(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithPort(number).WithProtocol(corev1.ProtocolTCP)
}
