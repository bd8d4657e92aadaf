package fleet

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// portNameEVMHTTP is the EVM port of the Service inside the cluster. Only protocols
// without a session are there: a balanced EVM WebSocket would change nodes under the client.
const portNameEVMHTTP = "evm-http"

func serves(snd *v1alpha1.SeiNodeDeployment) bool {
	mode, err := node.ModeOf(&snd.Spec.Template.Spec)
	return err == nil && mode.ServesRPC()
}

// InternalServiceName is the name of the fleet's Service inside the cluster.
func InternalServiceName(fleet string) string { return fleet + suffixInternal }

// Services are all Services the fleet should have, in a fixed order; nodes are the ordinals that
// have one of their own.
func Services(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, nodes []int) []*corev1ac.ServiceApplyConfiguration {
	list := []*corev1ac.ServiceApplyConfiguration{internalService(snd)}
	if snd.Spec.Networking.HTTPEnabled() && serves(snd) {
		list = append(list, externalService(snd))
	}
	for _, ordinal := range nodes {
		if publishesP2P(snd, cfg) {
			list = append(list, p2pService(snd, cfg, ordinal))
		}
	}
	return list
}

func internalService(snd *v1alpha1.SeiNodeDeployment) *corev1ac.ServiceApplyConfiguration {
	return service(snd, InternalServiceName(snd.Name)).WithSpec(corev1ac.ServiceSpec().
		WithType(corev1.ServiceTypeClusterIP).
		WithSelector(selectorLabels(snd.Name)).
		WithPorts(
			servicePort(seid.PortNameRPC, seid.PortRPC),
			servicePort(portNameEVMHTTP, seid.PortEVMRPC),
			servicePort(seid.PortNameREST, seid.PortREST),
		))
}

// externalService is what the routes lead to.
func externalService(snd *v1alpha1.SeiNodeDeployment) *corev1ac.ServiceApplyConfiguration {
	spec := corev1ac.ServiceSpec().WithType(corev1.ServiceTypeClusterIP).WithSelector(selectorLabels(snd.Name))
	for _, port := range seid.AllPorts() {
		if port.Name == seid.PortNameMetrics || port.Name == seid.PortNameP2P {
			continue
		}
		ac := servicePort(port.Name, port.Number)
		if port.AppProtocol != "" {
			ac.WithAppProtocol(port.AppProtocol)
		}
		spec.WithPorts(ac)
	}
	return service(snd, snd.Name+suffixExternal).WithSpec(spec)
}

func service(snd *v1alpha1.SeiNodeDeployment, name string) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(name, snd.Namespace).
		WithLabels(objectLabels(snd)).
		WithAnnotations(ownerAnnotations(snd)).
		WithOwnerReferences(ownerReferences(snd)...)
}

func objectLabels(snd *v1alpha1.SeiNodeDeployment) map[string]string {
	labels := maps.Clone(selectorLabels(snd.Name))
	labels[v1alpha1.LabelChain] = snd.Spec.Template.Spec.ChainID
	labels[v1alpha1.LabelRole] = snd.Spec.Template.Spec.Role()
	return labels
}

func servicePort(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithPort(number).WithProtocol(corev1.ProtocolTCP)
}
