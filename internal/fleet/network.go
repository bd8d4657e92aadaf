package fleet

import (
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Networking is what a pass found out about what the fleet publishes.
type Networking struct {
	// Synced: the pass got as far as looking.
	Synced bool
	// Failed is why an object could not be written or read.
	Failed error
	// Problems are objects that cannot be as they should be until somebody acts.
	Problems []string
	// Taken are host names that belong to other fleets.
	Taken []string
	// RoutesServed: the cluster has the Gateway API.
	RoutesServed bool
	// Routes are the fleet's own, as the pass left them.
	Routes []*gatewayv1.HTTPRoute
	// Outside is how the nodes are reached from outside.
	Outside Outside
}

// Ready says whether what the fleet asks for is published, and the reason and message to report.
func (n Networking) Ready(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) (ready bool, reason, message string) {
	net := snd.Spec.Networking
	switch {
	case n.Failed != nil:
		return false, v1alpha1.ReasonNetworkingFailed, n.Failed.Error()
	case len(n.Problems) > 0:
		return false, v1alpha1.ReasonNetworkingFailed, strings.Join(n.Problems, "; ")
	case net == nil:
		return false, v1alpha1.ReasonNetworkingDisabled, "spec.networking is not set: the fleet is reachable only inside the cluster"
	case len(n.Taken) > 0:
		return false, v1alpha1.ReasonHostTaken, strings.Join(n.Taken, "; ")
	}
	if net.TCPEnabled() {
		if problem := NoP2P(snd, cfg); problem != "" {
			return false, v1alpha1.ReasonNoEffectiveRoutes, problem
		}
	}
	noRoutes := NoRoutes(snd, cfg)
	switch {
	case !net.HTTPEnabled(), noRoutes != "" && net.TCPEnabled():
		return n.Outside.applied(snd, cfg)
	case noRoutes != "":
		return false, v1alpha1.ReasonNoEffectiveRoutes, noRoutes
	case !n.RoutesServed:
		return false, v1alpha1.ReasonCRDNotInstalled,
			"the cluster does not serve HTTPRoutes of gateway.networking.k8s.io/v1: install the Gateway API CRDs"
	}
	ready, reason, message = Attached(snd, cfg, n.Routes)
	if ready && net.TCPEnabled() {
		if applied, why, pending := n.Outside.applied(snd, cfg); !applied {
			return false, why, pending
		}
	}
	return ready, reason, message
}
