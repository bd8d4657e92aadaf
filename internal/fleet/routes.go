package fleet

import (
	"fmt"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1ac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// protocol is one thing a fleet publishes, under a host name of its own.
type protocol struct {
	name string
	port int32
}

var protocols = []protocol{
	{"evm", seid.PortEVMRPC}, {"rpc", seid.PortRPC}, {"rest", seid.PortREST}, {"grpc", seid.PortGRPC},
}

// NoRoutes says why a fleet that asks for routes gets none; empty when it does.
func NoRoutes(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) string {
	switch {
	case !serves(snd):
		return fmt.Sprintf("a %s serves nothing to route to", snd.Spec.Template.Spec.Role())
	case cfg.Gateway.Name == "" || cfg.Gateway.Domain == "" && cfg.Gateway.PublicDomain == "":
		return "the operator's configuration names no Gateway: set gateway.name, gateway.namespace and gateway.domain there"
	}
	for _, p := range protocols {
		for _, host := range hostnames(snd, cfg, p) {
			if problem := badHost(host, "gateway.hostname"); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// Routes are all HTTPRoutes the fleet should have, in a fixed order.
func Routes(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) []*gatewayv1ac.HTTPRouteApplyConfiguration {
	if !snd.Spec.Networking.HTTPEnabled() || NoRoutes(snd, cfg) != "" {
		return nil
	}
	list := make([]*gatewayv1ac.HTTPRouteApplyConfiguration, 0, len(protocols))
	for _, p := range protocols {
		list = append(list, route(snd, cfg, p))
	}
	return list
}

func routeName(fleet string, p protocol) string { return fleet + "-" + p.name }

func route(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, p protocol) *gatewayv1ac.HTTPRouteApplyConfiguration {
	parent := gatewayv1ac.ParentReference().WithName(gatewayv1.ObjectName(cfg.Gateway.Name))
	if cfg.Gateway.Namespace != "" {
		parent.WithNamespace(gatewayv1.Namespace(cfg.Gateway.Namespace))
	}
	spec := gatewayv1ac.HTTPRouteSpec().WithParentRefs(parent)
	for _, host := range hostnames(snd, cfg, p) {
		spec.WithHostnames(gatewayv1.Hostname(host))
	}
	if p.port == seid.PortEVMRPC {
		spec.WithRules(webSocketRule(snd))
	}
	spec.WithRules(gatewayv1ac.HTTPRouteRule().WithBackendRefs(backend(snd, p.port)))
	return gatewayv1ac.HTTPRoute(routeName(snd.Name, p), snd.Namespace).
		WithLabels(objectLabels(snd)).
		WithAnnotations(ownerAnnotations(snd)).
		WithOwnerReferences(ownerReferences(snd)...).
		WithSpec(spec)
}

// webSocketRule sends EVM subscriptions, which share the host name with plain calls,
// to the port that serves them.
func webSocketRule(snd *v1alpha1.SeiNodeDeployment) *gatewayv1ac.HTTPRouteRuleApplyConfiguration {
	upgrade := gatewayv1ac.HTTPHeaderMatch().WithType(gatewayv1.HeaderMatchExact).WithName("Upgrade").WithValue("websocket")
	return gatewayv1ac.HTTPRouteRule().
		WithMatches(gatewayv1ac.HTTPRouteMatch().WithHeaders(upgrade)).
		WithBackendRefs(backend(snd, seid.PortEVMWS))
}

func backend(snd *v1alpha1.SeiNodeDeployment, port int32) *gatewayv1ac.HTTPBackendRefApplyConfiguration {
	return gatewayv1ac.HTTPBackendRef().WithName(gatewayv1.ObjectName(snd.Name + suffixExternal)).WithPort(port)
}
