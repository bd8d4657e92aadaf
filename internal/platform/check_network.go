package platform

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

func (k *checker) networkPolicies(p NetworkPolicies) {
	const field = "networkPolicies"
	if len(p.OperatorPodLabels) == 0 {
		k.failf(field+".operatorPodLabels", "must not be empty: every pod of the operator's namespace would reach the sidecars")
	}
	for name, value := range p.OperatorPodLabels {
		at := field + ".operatorPodLabels." + name
		for _, msg := range append(validation.IsQualifiedName(name), validation.IsValidLabelValue(value)...) {
			k.failf(at, "%q is not a label: %s", name+"="+value, msg)
		}
	}
	for list, names := range map[string][]string{
		"sidecarNamespaces": p.SidecarNamespaces, "rpcNamespaces": p.RPCNamespaces, "metricsNamespaces": p.MetricsNamespaces,
	} {
		for i, name := range names {
			k.namespace(fmt.Sprintf("%s.%s[%d]", field, list, i), name)
		}
	}
}

func (k *checker) namespace(field, name string) {
	for _, msg := range validation.IsDNS1123Label(name) {
		k.failf(field, "%q is not a namespace: %s", name, msg)
	}
}
