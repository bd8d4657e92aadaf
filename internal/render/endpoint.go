package render

import (
	"fmt"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Endpoint lists the addresses the node serves inside the cluster. What its mode
// does not serve stays empty.
func Endpoint(node *v1alpha1.SeiNode, clusterDomain string) v1alpha1.NodeEndpoint {
	endpoint := v1alpha1.NodeEndpoint{P2P: fmt.Sprintf("%s:%d", P2PHost(node, clusterDomain), seid.PortP2P)}
	if !modeOf(node).ServesRPC() {
		return endpoint
	}
	at := func(scheme string, port int32) string {
		return fmt.Sprintf("%s://%s.%s.svc:%d", scheme, node.Name, node.Namespace, port)
	}
	endpoint.TendermintRPC = at("http", seid.PortRPC)
	endpoint.TendermintREST = at("http", seid.PortREST)
	endpoint.EVMJSONRPC = at("http", seid.PortEVMRPC)
	endpoint.EVMWS = at("ws", seid.PortEVMWS)
	return endpoint
}
