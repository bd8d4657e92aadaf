package fleet

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/platform"
	"github.com/sei-operator/sei-operator/internal/seid"
)

// Annotations that external-dns reads.
const (
	annotationDNSHostname  = "external-dns.alpha.kubernetes.io/hostname"
	annotationDNSEndpoints = "external-dns.alpha.kubernetes.io/endpoints-type"
)

// Annotations that the AWS Load Balancer Controller reads.
const (
	annotationLBType        = "service.beta.kubernetes.io/aws-load-balancer-type"
	annotationLBScheme      = "service.beta.kubernetes.io/aws-load-balancer-scheme"
	annotationLBTargetType  = "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"
	annotationLBAcrossZones = "service.beta.kubernetes.io/aws-load-balancer-attributes"
)

// P2PServiceName is the name of the Service that leads to a node from outside.
func P2PServiceName(fleet string, ordinal int) string { return ChildName(fleet, ordinal) + suffixP2P }

// publishesP2P reports whether the nodes get addresses outside the cluster.
func publishesP2P(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) bool {
	return snd.Spec.Networking.TCPEnabled() && NoP2P(snd, cfg) == ""
}

// NoP2P says why a fleet that asks for peer-to-peer addresses gets none; empty when it does.
func NoP2P(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) string {
	if cfg.Gateway.P2PDomain == "" {
		return "the operator's configuration names no domain for peer-to-peer addresses: set gateway.p2pDomain there"
	}
	return badHost(p2pHost(snd, cfg, slices.Max(append(Ordinals(snd), 0))), "p2p.hostname")
}

// p2pService gives one node an address of its own outside the cluster. It belongs to the fleet
// and not to the node, so that the address outlives a node that is made again. Nodes that are not
// in sync are behind it too: they need their peers to get there.
func p2pService(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) *corev1ac.ServiceApplyConfiguration {
	return service(snd, P2PServiceName(snd.Name, ordinal)).
		WithLabels(map[string]string{
			v1alpha1.LabelComponent:         v1alpha1.ComponentP2PEndpoint,
			v1alpha1.LabelDeploymentOrdinal: strconv.Itoa(ordinal),
		}).
		WithAnnotations(p2pAnnotations(snd, cfg, ordinal)).
		WithSpec(p2pServiceSpec(cfg).
			WithPublishNotReadyAddresses(true).
			WithSelector(map[string]string{v1alpha1.LabelNode: ChildName(snd.Name, ordinal)}).
			WithPorts(p2pPort(snd, cfg, ordinal)))
}

// p2pPort has a node port where the fleet says which. What a node announces is the port that its
// Service has, see WithNodePort: one that is taken is refused by the API server and never announced.
func p2pPort(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) *corev1ac.ServicePortApplyConfiguration {
	port := servicePort(seid.PortNameP2P, seid.PortP2P)
	if first := snd.Spec.Networking.FirstNodePort(); first != 0 && cfg.P2P.Type == platform.P2PNodePort {
		port.WithNodePort(first + int32(ordinal))
	}
	return port
}

func p2pServiceSpec(cfg *platform.Config) *corev1ac.ServiceSpecApplyConfiguration {
	spec := corev1ac.ServiceSpec()
	switch cfg.P2P.Type {
	case platform.P2PHostPort:
		return spec.WithType(corev1.ServiceTypeClusterIP).WithClusterIP(corev1.ClusterIPNone)
	case platform.P2PNodePort:
		return spec.WithType(corev1.ServiceTypeNodePort).WithExternalTrafficPolicy(corev1.ServiceExternalTrafficPolicyLocal)
	}
	spec.WithType(corev1.ServiceTypeLoadBalancer).WithExternalTrafficPolicy(corev1.ServiceExternalTrafficPolicyLocal)
	if cfg.P2P.LoadBalancerClass != "" {
		spec.WithLoadBalancerClass(cfg.P2P.LoadBalancerClass)
	}
	if cfg.P2P.Preset == platform.PresetAWS {
		spec.WithAllocateLoadBalancerNodePorts(cfg.Gateway.NLBTargetType != platform.TargetTypeIP)
	}
	return spec
}

func p2pAnnotations(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, ordinal int) map[string]string {
	annotations := map[string]string{annotationDNSHostname: p2pHost(snd, cfg, ordinal)}
	switch {
	case cfg.P2P.Type == platform.P2PHostPort:
		annotations[annotationDNSEndpoints] = "NodeExternalIP"
	case cfg.P2P.Type == platform.P2PLoadBalancer && cfg.P2P.Preset == platform.PresetAWS:
		maps.Copy(annotations, map[string]string{
			annotationLBType:        "external",
			annotationLBScheme:      "internet-facing",
			annotationLBTargetType:  cfg.Gateway.NLBTargetType,
			annotationLBAcrossZones: "load_balancing.cross_zone.enabled=true",
		})
	}
	maps.Copy(annotations, cfg.P2P.Annotations)
	return annotations
}

// publishP2P tells a node the address under which the outside reaches it. A node port is not known
// before the Service is there: it is 0 here, and WithNodePort puts it in.
func publishP2P(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, c *Child) {
	if !publishesP2P(snd, cfg) {
		return
	}
	port := seid.PortP2P
	switch cfg.P2P.Type {
	case platform.P2PNodePort:
		port = 0
	case platform.P2PHostPort:
		c.Spec.P2PHostPort = seid.PortP2P
	}
	c.Spec.ExternalAddress = hostPort(p2pHost(snd, cfg, c.Ordinal), port)
}

func hostPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// NeedsNodePorts reports whether the addresses of the fleet's nodes hold the ports of their Services.
func NeedsNodePorts(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config) bool {
	return cfg.P2P.Type == platform.P2PNodePort && publishesP2P(snd, cfg)
}

// WithNodePort is the node with the port under which its Service, nil when there is none, is
// reached on the cluster's machines. Without one the node has no address yet.
func (c Child) WithNodePort(live *corev1.Service) Child {
	host, port, err := net.SplitHostPort(c.Spec.ExternalAddress)
	if err != nil || port != "0" {
		return c // an address that the user has given this node
	}
	c.Spec = c.Spec.DeepCopy()
	c.Spec.ExternalAddress = ""
	if number := nodePort(live); number != 0 {
		c.Spec.ExternalAddress = hostPort(host, number)
	} else {
		c.Awaits = fmt.Sprintf("the node port of Service %s%s", c.Name, suffixP2P)
	}
	return c
}

func nodePort(live *corev1.Service) int32 {
	if live == nil || len(live.Spec.Ports) == 0 {
		return 0
	}
	return live.Spec.Ports[0].NodePort
}
