package api

import "fmt"

// PodHost is the name of a node's pod in the cluster's DNS, without the cluster's domain. Pods
// resolve it as it is: the domain is in their search path. It is the pod's name and not the
// Service's: an address names one peer.
func PodHost(namespace, node string) string {
	return fmt.Sprintf("%s-0.%s.%s.svc", node, node, namespace)
}
