package deployment

import (
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// networking is what a pass found out about what the fleet publishes.
type networking struct {
	// synced: the pass got as far as looking.
	synced       bool
	failed       error
	problems     []string
	routesServed bool
	// routes are the fleet's own, as this pass left them.
	routes []*gatewayv1.HTTPRoute
}

// deriveNetworking writes the fleet's addresses.
func (s *scope) deriveNetworking(cfg *platform.Config) {
	status := &s.snd.Status
	status.InternalService = fleet.InternalService(s.snd)
	status.PerPodServices = fleet.PerPodServices(s.snd, status.IncumbentNodes)
	status.Endpoints = fleet.Endpoints(s.snd, status.IncumbentNodes)
	routes := s.networking.routesServed && len(fleet.Routes(s.snd, cfg)) > 0
	status.NetworkingStatus = fleet.Published(s.snd, cfg, routes)
}

// networkingReady says whether what was asked for is published. A pass that did not
// get as far as looking leaves it as it was.
func (s *scope) networkingReady(set conditions.Setter, cfg *platform.Config) {
	const conditionType = v1alpha1.ConditionNetworkingReady
	if !s.networking.synced {
		if conditions.Get(s.snd.Status.Conditions, conditionType) == nil && s.err != nil {
			set.Unknown(conditionType, v1alpha1.ReasonNetworkingFailed, s.err.Error())
		}
		return
	}
	net := s.snd.Spec.Networking
	noRoutes := fleet.NoRoutes(s.snd, cfg)
	switch {
	case s.networking.failed != nil:
		set.False(conditionType, v1alpha1.ReasonNetworkingFailed, s.networking.failed.Error())
	case len(s.networking.problems) > 0:
		set.False(conditionType, v1alpha1.ReasonNetworkingFailed, strings.Join(s.networking.problems, "; "))
	case net == nil:
		set.False(conditionType, v1alpha1.ReasonNetworkingDisabled, "spec.networking is not set: the fleet is reached inside the cluster only")
	case net.TCPEnabled() && cfg.Gateway.P2PDomain == "":
		set.False(conditionType, v1alpha1.ReasonNoEffectiveRoutes,
			"the operator's configuration names no domain for peer-to-peer addresses: set gateway.p2pDomain there")
	case net.HTTPEnabled() && noRoutes != "" && !net.TCPEnabled():
		set.False(conditionType, v1alpha1.ReasonNoEffectiveRoutes, noRoutes)
	case net.HTTPEnabled() && noRoutes == "" && !s.networking.routesServed:
		set.False(conditionType, v1alpha1.ReasonCRDNotInstalled,
			"the cluster does not serve HTTPRoutes of gateway.networking.k8s.io/v1: install the Gateway API, and the routes follow")
	case net.HTTPEnabled() && noRoutes == "":
		attached, reason, message := fleet.Attached(s.snd, cfg, s.networking.routes)
		set.Status(conditionType, attached, reason, message)
	default:
		set.True(conditionType, v1alpha1.ReasonP2PEndpointsApplied, "every node has a Service of type LoadBalancer for peer-to-peer traffic")
	}
}
