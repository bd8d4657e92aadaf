package platform

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

func (k *checker) p2p(p P2P) {
	if !slices.Contains([]string{P2PLoadBalancer, P2PNodePort, P2PHostPort}, p.Type) {
		k.failf("p2p.type", "%q is none of %s, %s and %s", p.Type, P2PLoadBalancer, P2PNodePort, P2PHostPort)
	}
	if p.Preset != PresetAWS && p.Preset != PresetNone {
		k.failf("p2p.preset", "%q is neither %s nor %s", p.Preset, PresetAWS, PresetNone)
	}
	if p.LoadBalancerClass != "" {
		if p.Type != P2PLoadBalancer {
			k.failf("p2p.loadBalancerClass", "needs type %s", P2PLoadBalancer)
		}
		for _, msg := range validation.IsQualifiedName(p.LoadBalancerClass) {
			k.failf("p2p.loadBalancerClass", "%q is not the name of a class: %s", p.LoadBalancerClass, msg)
		}
	}
	for key := range p.Annotations {
		for _, msg := range validation.IsQualifiedName(key) {
			k.failf("p2p.annotations."+key, "is not an annotation: %s", msg)
		}
	}
	k.hostname("p2p.hostname", p.Hostname, []string{VarName, VarOrdinal}, []string{VarNamespace, VarChain})
}
