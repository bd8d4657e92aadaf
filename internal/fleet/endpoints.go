package fleet

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// InternalService describes the fleet's Service inside the cluster.
func InternalService(snd *v1alpha1.SeiNodeDeployment) *v1alpha1.InternalServiceStatus {
	return &v1alpha1.InternalServiceStatus{
		Name: InternalServiceName(snd.Name), Namespace: snd.Namespace,
		Ports: v1alpha1.InternalServicePorts{RPC: seid.PortRPC, EVMHTTP: seid.PortEVMRPC, REST: seid.PortREST},
	}
}

// PerPodServices describes the nodes' own Services. Nodes that serve nothing have none
// worth reporting.
func PerPodServices(snd *v1alpha1.SeiNodeDeployment, nodes []string) []v1alpha1.PerPodServiceStatus {
	if !serves(snd) {
		return nil
	}
	list := make([]v1alpha1.PerPodServiceStatus, 0, len(nodes))
	for _, name := range nodes {
		list = append(list, v1alpha1.PerPodServiceStatus{
			Name: name, Namespace: snd.Namespace,
			Ports: v1alpha1.PerPodServicePorts{EVMHTTP: seid.PortEVMRPC, EVMWS: seid.PortEVMWS},
		})
	}
	return list
}

// Endpoints are the fleet's addresses inside the cluster.
func Endpoints(snd *v1alpha1.SeiNodeDeployment, nodes []string) *v1alpha1.FleetEndpoints {
	if !serves(snd) {
		return nil
	}
	at := func(scheme, service string, port int32) string {
		return fmt.Sprintf("%s://%s.%s.svc:%d", scheme, service, snd.Namespace, port)
	}
	endpoints := &v1alpha1.FleetEndpoints{
		TendermintRPC:  at("http", InternalServiceName(snd.Name), seid.PortRPC),
		TendermintREST: at("http", InternalServiceName(snd.Name), seid.PortREST),
	}
	for _, name := range nodes {
		endpoints.Nodes = append(endpoints.Nodes, v1alpha1.FleetNodeEndpoints{
			Name: name, EVMJSONRPC: at("http", name, seid.PortEVMRPC), EVMWS: at("ws", name, seid.PortEVMWS),
		})
	}
	return endpoints
}

// Published is what the outside sees of the fleet; nil when that is nothing.
func (n Networking) Published(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) *v1alpha1.NetworkingStatus {
	status := &v1alpha1.NetworkingStatus{P2PEndpoints: n.Outside.p2pEndpoints(snd, cfg)}
	if n.RoutesServed && len(Routes(snd, cfg)) > 0 {
		for _, p := range protocols {
			for _, host := range hostnames(snd, cfg, p) {
				status.Routes = append(status.Routes, v1alpha1.RouteStatus{Hostname: host, Protocol: p.name})
			}
		}
	}
	if status.Routes == nil && status.P2PEndpoints == nil {
		return nil
	}
	return status
}
