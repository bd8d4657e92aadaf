package fleet

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Outside is how the fleet's nodes are reached from outside the cluster, as the cluster has it.
type Outside struct {
	// Services that lead to the nodes, by name.
	Services map[string]*corev1.Service
	// Machines are the addresses of the machines that the nodes' pods run on, by node. They are
	// looked at only where nodes are reached through ports of their machines.
	Machines map[string]string
}

// address is what the host name of a node leads to; empty while it leads nowhere.
func (o Outside) address(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) string {
	live := o.Services[P2PServiceName(snd.Name, ordinal)]
	switch {
	case live == nil:
		return ""
	case cfg.P2P.Type == platform.P2PHostPort:
		if machine := o.Machines[ChildName(snd.Name, ordinal)]; machine != "" {
			return hostPort(machine, seid.PortP2P)
		}
	case cfg.P2P.Type == platform.P2PNodePort:
		if port := nodePort(live); port != 0 {
			return fmt.Sprintf("port %d of the machine", port)
		}
	default:
		for _, ingress := range live.Status.LoadBalancer.Ingress {
			if host := cmp.Or(ingress.IP, ingress.Hostname); host != "" {
				return hostPort(host, seid.PortP2P)
			}
		}
	}
	return ""
}

// applied says whether every node has an address outside the cluster, and the reason and message
// to report.
func (o Outside) applied(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) (applied bool, reason, message string) {
	var missing []string
	for _, ordinal := range Ordinals(snd) {
		if o.address(snd, cfg, ordinal) == "" {
			missing = append(missing, P2PServiceName(snd.Name, ordinal))
		}
	}
	if len(missing) == 0 {
		return true, v1alpha1.ReasonP2PEndpointsApplied, "every node has an address for peer-to-peer traffic from outside the cluster"
	}
	return false, v1alpha1.ReasonP2PEndpointsPending,
		fmt.Sprintf("Service %s: %s", strings.Join(missing, ", "), missingFrom(cfg))
}

// missingFrom is what nodes without an address wait for.
func missingFrom(cfg *platform.Config) string {
	switch cfg.P2P.Type {
	case platform.P2PHostPort:
		return "no machine runs the pod"
	case platform.P2PNodePort:
		return "there is no node port"
	}
	class := "of the cluster's default class"
	if cfg.P2P.LoadBalancerClass != "" {
		class = "of class " + cfg.P2P.LoadBalancerClass
	}
	return fmt.Sprintf("the load balancer has no address yet; if this persists, check the Service's events "+
		"and that a controller for load balancers %s is running", class)
}

// p2pEndpoints lists the addresses that the nodes announce, and what they lead to.
func (o Outside) p2pEndpoints(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) []v1alpha1.P2PEndpointStatus {
	if !publishesP2P(snd, cfg) {
		return nil
	}
	list := make([]v1alpha1.P2PEndpointStatus, 0, snd.Spec.Replicas)
	for _, ordinal := range Ordinals(snd) {
		port := seid.PortP2P
		if cfg.P2P.Type == platform.P2PNodePort {
			if port = nodePort(o.Services[P2PServiceName(snd.Name, ordinal)]); port == 0 {
				continue
			}
		}
		list = append(list, v1alpha1.P2PEndpointStatus{
			Ordinal: int32(ordinal), SeiNodeName: ChildName(snd.Name, ordinal),
			Hostname: cmp.Or(settingsOf(snd, ordinal).ExternalAddress, hostPort(p2pHost(snd, cfg, ordinal), port)),
			Address:  o.address(snd, cfg, ordinal),
		})
	}
	return list
}
