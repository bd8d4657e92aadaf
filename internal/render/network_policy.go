package render

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
)

type (
	ingressRule = networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration
	policyPeer  = networkingv1ac.NetworkPolicyPeerApplyConfiguration
)

// NetworkPolicy says who may connect to the node's pod, and to that of its bootstrap Job. What no
// rule names is closed. A rule without sources is for everybody, also from outside of the cluster:
// load balancers show the addresses of their clients. Probes of the kubelet need no rule, and what
// the pod itself connects to is not limited.
func NetworkPolicy(in Input) *networkingv1ac.NetworkPolicyApplyConfiguration {
	return networkingv1ac.NetworkPolicy(in.Node.Name, in.Node.Namespace).
		WithLabels(objectLabels(in.Node)).
		WithOwnerReferences(ownerReference(in.Node)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selectorLabels(in.Node))).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(in.ingress()...))
}

func (in Input) ingress() []*ingressRule {
	policies, mode := in.Platform.NetworkPolicies, modeOf(in.Node)
	rules := []*ingressRule{
		allow(in.p2pSources(), seid.PortP2P),
		allow(namespaces(policies.MetricsNamespaces), seid.PortMetrics),
		allow(append(namespaces(policies.SidecarNamespaces), in.operatorPods()), SidecarPort(in.Node)),
	}
	switch {
	case mode.ServesRPC():
		rules = append(rules, allow(in.clients(), rpcPorts(mode)...))
	case mode == seid.ModeValidator:
		// Nodes that begin with state sync ask validators for a block to trust when nobody else is in sync.
		rules = append(rules, allow([]*policyPeer{in.chainPods()}, seid.PortRPC))
	}
	return rules
}

func rpcPorts(mode seid.Mode) []int32 {
	var numbers []int32
	for _, port := range seid.Ports(mode) {
		if port.Number != seid.PortP2P && port.Number != seid.PortMetrics {
			numbers = append(numbers, port.Number)
		}
	}
	return numbers
}

// p2pSources is everybody, but for a validator that announces no address: peers that do not know one
// have no reason to call, and those that it calls itself need no rule.
func (in Input) p2pSources() []*policyPeer {
	spec := &in.Node.Spec
	if modeOf(in.Node) != seid.ModeValidator || spec.ExternalAddress != "" || spec.P2PHostPort != 0 {
		return nil
	}
	return []*policyPeer{in.chainPods()}
}

// clients may use what a node serves. Nodes of the chain always may: they verify blocks there.
func (in Input) clients() []*policyPeer {
	named := namespaces(in.Platform.NetworkPolicies.RPCNamespaces)
	if len(named) == 0 {
		return nil
	}
	return append(named, in.chainPods())
}

// chainPods are the nodes of the same chain, in all namespaces.
func (in Input) chainPods() *policyPeer {
	return networkingv1ac.NetworkPolicyPeer().
		WithNamespaceSelector(metav1ac.LabelSelector()).
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{v1alpha1.LabelChain: in.Node.Spec.ChainID}))
}

func (in Input) operatorPods() *policyPeer {
	return networkingv1ac.NetworkPolicyPeer().
		WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: in.OperatorNamespace})).
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(in.Platform.NetworkPolicies.OperatorPodLabels))
}

// namespaces are all pods of the named ones; nil when none is named.
func namespaces(names []string) []*policyPeer {
	if len(names) == 0 {
		return nil
	}
	named := metav1ac.LabelSelectorRequirement().WithKey(corev1.LabelMetadataName).WithOperator(metav1.LabelSelectorOpIn).WithValues(names...)
	return []*policyPeer{networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector().WithMatchExpressions(named))}
}

// allow opens ports to peers, and to everybody when there are none.
func allow(from []*policyPeer, ports ...int32) *ingressRule {
	rule := networkingv1ac.NetworkPolicyIngressRule().WithFrom(from...)
	for _, number := range ports {
		rule.WithPorts(networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(number)))
	}
	return rule
}
