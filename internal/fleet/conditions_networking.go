package fleet

import (
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
)

// Networking is what a pass found out about what the fleet publishes.
type Networking struct {
	// Synced: the pass got as far as looking.
	Synced       bool
	Failed       error
	Problems     []string
	RoutesServed bool
	// Routes are the fleet's own, as this pass left them.
	Routes []*gatewayv1.HTTPRoute
}

// deriveNetworking writes the fleet's addresses.
func (s *report) deriveNetworking() {
	status := &s.snd.Status
	status.InternalService = InternalService(s.snd)
	status.PerPodServices = PerPodServices(s.snd, status.IncumbentNodes)
	status.Endpoints = Endpoints(s.snd, status.IncumbentNodes)
	routes := s.networking.RoutesServed && len(Routes(s.snd, s.cfg)) > 0
	status.NetworkingStatus = Published(s.snd, s.cfg, routes)
}

// networkingReady says whether what was asked for is published. A pass that did not
// get as far as looking leaves it as it was.
func (s *report) networkingReady(set conditions.Setter) {
	const conditionType = v1alpha1.ConditionNetworkingReady
	if !s.networking.Synced {
		if conditions.Get(s.snd.Status.Conditions, conditionType) == nil && s.err != nil {
			set.Unknown(conditionType, v1alpha1.ReasonNetworkingFailed, s.err.Error())
		}
		return
	}
	net := s.snd.Spec.Networking
	noRoutes := NoRoutes(s.snd, s.cfg)
	switch {
	case s.networking.Failed != nil:
		set.False(conditionType, v1alpha1.ReasonNetworkingFailed, s.networking.Failed.Error())
	case len(s.networking.Problems) > 0:
		set.False(conditionType, v1alpha1.ReasonNetworkingFailed, strings.Join(s.networking.Problems, "; "))
	case net == nil:
		set.False(conditionType, v1alpha1.ReasonNetworkingDisabled, "spec.networking is not set: the fleet is reached inside the cluster only")
	case net.TCPEnabled() && s.cfg.Gateway.P2PDomain == "":
		set.False(conditionType, v1alpha1.ReasonNoEffectiveRoutes,
			"the operator's configuration names no domain for peer-to-peer addresses: set gateway.p2pDomain there")
	case net.HTTPEnabled() && noRoutes != "" && !net.TCPEnabled():
		set.False(conditionType, v1alpha1.ReasonNoEffectiveRoutes, noRoutes)
	case net.HTTPEnabled() && noRoutes == "" && !s.networking.RoutesServed:
		set.False(conditionType, v1alpha1.ReasonCRDNotInstalled,
			"the cluster does not serve HTTPRoutes of gateway.networking.k8s.io/v1: install the Gateway API, and the routes follow")
	case net.HTTPEnabled() && noRoutes == "":
		attached, reason, message := Attached(s.snd, s.cfg, s.networking.Routes)
		set.Status(conditionType, attached, reason, message)
	default:
		set.True(conditionType, v1alpha1.ReasonP2PEndpointsApplied, "every node has a Service of type LoadBalancer for peer-to-peer traffic")
	}
}
